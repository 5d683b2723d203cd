import { counted } from '../../base/words.js';
import { checkMapping } from '../files/check-mapping.js';
import { type ColumnMapping, guessMapping } from '../files/column-mapping.js';
import { namesAField } from '../files/field-words.js';
import { type MappingWishes, parseMapping, wishesFor } from '../files/mapping-wishes.js';
import { openInThread } from '../files/open-in-thread.js';
import { type FileOptions, type RegistrantFile, RegistrantFileError } from '../files/registrant-file.js';
import type { CheckedRow } from '../files/checked-row.js';
import { RowCheck } from '../files/row-check.js';
import { createHash } from 'node:crypto';
import type { Ledger } from '../../ledger/ledger.js';
import { ImportRefusal } from './import-request.js';

export interface ReadingTerms {
  readonly file: FileOptions;
  readonly wishes: ColumnWishes;
  readonly knownFields: readonly string[];
  /** If present, codes are generated for rows without one. */
  readonly codeKey?: Uint8Array | undefined;
}

export interface OpenedRegistrants {
  /** The file, which a thread reads. The caller must close it, even if its rows were not read. */
  readonly file: RegistrantFile;
  readonly mapping: ColumnMapping;
  /** The first row that can be sent among the rows read so far, by profile field; null: none. */
  readonly sample: () => Readonly<Record<string, string>> | null;
  /** Read once, in order. */
  readonly rows: AsyncIterable<readonly CheckedRow[]>;
  /** Evidence about the codes from the rows read so far. */
  readonly codes: Pick<RowCheck, 'codeEvidence' | 'shortCodes'>;
}

/** Opens a file and maps its columns. The caller closes the file. @throws {RegistrantFileError} */
export async function openRegistrants(
  bytes: AsyncIterable<Uint8Array>,
  terms: ReadingTerms,
): Promise<OpenedRegistrants> {
  const wished = Object.keys({ ...terms.wishes.saved, ...terms.wishes.own }).flatMap((name) => [
    name,
    ...name.split('+'),
  ]);
  const file = await openInThread(bytes, { ...terms.file, names: [...terms.knownFields, ...wished] });
  try {
    return withMapping(file, terms);
  } catch (error) {
    await file.close();
    throw error;
  }
}

function withMapping(file: RegistrantFile, { wishes, knownFields, codeKey }: ReadingTerms): OpenedRegistrants {
  const saved = wishesFor(file.columns, wishes.saved, wishes.own);
  const mapping = guessMapping(file.columns, knownFields, { ...saved, ...wishes.own });
  try {
    checkMapping(mapping, codeKey === undefined ? 'required' : 'generated');
  } catch (error) {
    if (!(error instanceof RegistrantFileError) || file.headerRow === null) throw error;
    throw new RegistrantFileError(error.kind, `${error.message} ${seenInWords(file)}`);
  }
  const check = new RowCheck({ mapping, ...(codeKey === undefined ? {} : { codeKey }) });
  let sample: Readonly<Record<string, string>> | null = null;
  return {
    file,
    mapping,
    sample: () => sample,
    codes: check,
    rows: (async function* () {
      for await (const raw of file.rows) {
        const rows = check.check(raw);
        sample ??= rows.find((row) => 'profile' in row)?.profile ?? null;
        yield rows;
      }
    })(),
  };
}

/** Maximum number of columns named in a message. */
const maxNamed = 12;

/**
 * Returns how the file was read, for a person who wonders why no column was recognized. Names of columns are quoted only
 * if one of them is usual: otherwise the row may be a registrant.
 */
function seenInWords({ headerRow, columns, delimiter, sheet, sheets }: RegistrantFile): string {
  const where = sheet === null ? '' : ` of sheet ${JSON.stringify(sheet)}`;
  const others = (sheets ?? []).filter(({ name }) => name !== sheet).map(({ name }) => JSON.stringify(name));
  const by = delimiter === null ? '' : `, separated by ${delimiter === '\t' ? 'tabs' : JSON.stringify(delimiter)}`;
  const named = columns.some(namesAField)
    ? `: ${columns.slice(0, maxNamed).join(', ')}${columns.length > maxNamed ? ', …' : ''}`
    : ', none with a usual name';
  const more = others.length === 0 ? '' : ` The workbook also has the sheets ${others.join(', ')}.`;
  return `Row ${headerRow}${where} was read as the header, with ${counted(columns.length, 'column')}${by}${named}.${more}`;
}

/** Opens a file, hashes its bytes, and closes it after the work. @throws {RegistrantFileError} */
export async function withRegistrants<Result>(
  source: AsyncIterable<Uint8Array>,
  terms: ReadingTerms,
  work: (opened: OpenedRegistrants, hashed: HashedBytes) => Promise<Result>,
): Promise<Result> {
  const hashed = hashedBytes(source);
  const opened = await openRegistrants(hashed.bytes, terms);
  try {
    return await work(opened, hashed);
  } finally {
    await opened.file.close();
  }
}

/** A stream of bytes that hashes what passes through it. */
export interface HashedBytes {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Returns the SHA-256 of all bytes in hex. Reads the rest of the source, because a table may end before its file. */
  digest(): Promise<string>;
}

export function hashedBytes(source: AsyncIterable<Uint8Array>): HashedBytes {
  const hash = createHash('sha256');
  const iterator = source[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const piece = await iterator.next();
    if (piece.done !== true) hash.update(piece.value);
    return piece;
  };
  return {
    // The iterator has no `return`, so a reader that stops early does not close the source, and `digest` can hash the
    // rest.
    bytes: { [Symbol.asyncIterator]: () => ({ next }) },
    async digest() {
      while ((await next()).done !== true);
      return hash.digest('hex');
    },
  };
}

/** A named mapping of columns to fields, for the next event. */
interface StoredMapping {
  /** Empty: saved before mappings had a workspace. */
  readonly workspace: string;
  readonly name: string;
  /** Null: the column is not sent. */
  readonly columns: Readonly<Record<string, string | null>>;
  readonly savedAt: Date;
}

/** Saves a mapping under a name and replaces an earlier one of the same workspace. */
export async function saveMapping(
  ledger: Ledger,
  {
    workspace,
    name,
    columns,
    by,
  }: Pick<StoredMapping, 'workspace' | 'name' | 'columns'> & {
    readonly by: string | null;
  },
): Promise<void> {
  await ledger.db.query(
    `insert into import_mappings (workspace, name, columns, saved_by) values ($1, $2, $3, $4)
     on conflict (workspace, name) do update set columns = excluded.columns, saved_at = now(), saved_by = excluded.saved_by`,
    [workspace, name, JSON.stringify(columns), by],
  );
}

/** Returns the workspace's mapping of that name. */
export async function findMapping(ledger: Ledger, workspace: string, name: string): Promise<StoredMapping | undefined> {
  const [row] = await ledger.db.query<Row>(
    `select workspace, name, columns, saved_at as "savedAt" from import_mappings where workspace = $1 and name = $2`,
    [workspace, name],
  );
  return row && stored(row);
}

/** Lists mappings by name. @param workspace null: those of all workspaces */
export async function allMappings(ledger: Ledger, workspace: string | null): Promise<StoredMapping[]> {
  const rows = await ledger.db.query<Row>(
    `select workspace, name, columns, saved_at as "savedAt" from import_mappings
     where $1::text is null or workspace = $1 order by name, workspace`,
    [workspace],
  );
  return rows.map(stored);
}

type Row = Omit<StoredMapping, 'columns'> & { readonly columns: string };

function stored({ columns, ...row }: Row): StoredMapping {
  return { ...row, columns: JSON.parse(columns) as StoredMapping['columns'] };
}

/** The requested mapping of a file's columns. */
export interface ColumnWishes {
  /** Columns that the file must have. */
  readonly own: MappingWishes;
  /** Columns of a saved mapping; the file may lack them. */
  readonly saved: MappingWishes;
}

/**
 * @param workspace workspace whose saved mappings can be used
 * @param map each `COLUMN=FIELD`, `COLUMN=`, or the name of a saved mapping
 * @throws {RegistrantFileError} kind `mapping`
 * @throws {ImportRefusal} if no mapping has the name
 */
export async function columnWishes(ledger: Ledger, workspace: string, map: readonly string[]): Promise<ColumnWishes> {
  const own = parseMapping(map.filter((each) => each.includes('=')));
  const saved: Record<string, string | null> = {};
  for (const name of map.filter((each) => !each.includes('='))) {
    Object.assign(saved, await savedColumns(ledger, workspace, name));
  }
  return { own, saved };
}

/** @throws {ImportRefusal} if no mapping has the name */
export async function savedColumns(ledger: Ledger, workspace: string, name: string): Promise<MappingWishes> {
  const mapping = await findMapping(ledger, workspace, name);
  if (mapping !== undefined) return mapping.columns;
  const names = (await allMappings(ledger, workspace)).map((each) => each.name);
  const there = names.length === 0 ? 'none is saved yet' : `saved mappings: ${names.join(', ')}`;
  throw new ImportRefusal('wrong', `no mapping is saved under the name ${name}; ${there}; or write "COLUMN=FIELD"`);
}
