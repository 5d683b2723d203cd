import { ImportRefusal } from './import-refusal.js';
import type { Ledger } from '../../ledger/ledger.js';
import { allMappings, findMapping } from '../queries/saved-mappings.js';
import { checkMapping } from '../files/check-mapping.js';
import type { CheckedRow } from '../files/checked-row.js';
import type { ColumnMapping, MappingWishes } from '../files/column-mapping.js';
import { guessMapping } from '../files/guess-mapping.js';
import { openInThread } from '../files/open-in-thread.js';
import { parseMapping } from '../files/parse-mapping.js';
import type { FileOptions, RegistrantFile } from '../files/registrant-file.js';
import { RowCheck } from '../files/row-check.js';

/** What somebody wants of a file's columns. */
export interface ColumnWishes {
  /** Columns that the file has to have. */
  readonly own: MappingWishes;
  /** Of a saved mapping: columns that this file lacks do not matter. */
  readonly saved: MappingWishes;
}

/**
 * @param workspace whose saved mappings can be named
 * @param map each `COLUMN=FIELD`, `COLUMN=`, or the name of a saved mapping
 * @throws {RegistrantFileError} kind `mapping`
 * @throws {ImportRefusal} when no mapping is saved under the name
 */
export async function columnWishes(ledger: Ledger, workspace: string, map: readonly string[]): Promise<ColumnWishes> {
  const own = parseMapping(map.filter((each) => each.includes('=')));
  const saved: Record<string, string | null> = {};
  for (const name of map.filter((each) => !each.includes('='))) {
    // oxlint-disable-next-line no-await-in-loop -- one, or two
    Object.assign(saved, await savedColumns(ledger, workspace, name));
  }
  return { own, saved };
}

/** @throws {ImportRefusal} when no mapping is saved under the name */
export async function savedColumns(ledger: Ledger, workspace: string, name: string): Promise<MappingWishes> {
  const mapping = await findMapping(ledger, workspace, name);
  if (mapping !== undefined) return mapping.columns;
  const names = (await allMappings(ledger, workspace)).map((each) => each.name);
  const there = names.length === 0 ? 'none is saved yet' : `there is ${names.join(', ')}`;
  throw new ImportRefusal('wrong', `no mapping is saved under the name ${name}: ${there}; or write "COLUMN=FIELD"`);
}

export interface ReadingTerms {
  readonly file: FileOptions;
  readonly wishes: ColumnWishes;
  readonly knownFields: readonly string[];
  /** Given: rows without a code are given one. */
  readonly codeKey?: Uint8Array | undefined;
}

export interface OpenedRegistrants {
  readonly file: RegistrantFile;
  readonly mapping: ColumnMapping;
  /** The first row that can be sent, by column; as far as rows were read. */
  readonly sample: () => Readonly<Record<string, string>> | null;
  /** Read once, in order. */
  readonly rows: AsyncIterable<readonly CheckedRow[]>;
}

/** Opens a file and finds out what its columns are. @throws {RegistrantFileError} */
export async function openRegistrants(
  bytes: AsyncIterable<Uint8Array>,
  { file: options, wishes, knownFields, codeKey }: ReadingTerms,
): Promise<OpenedRegistrants> {
  const file = await openInThread(bytes, options);
  const saved = Object.entries(wishes.saved).filter(
    ([column]) => file.columns.includes(column) && !Object.hasOwn(wishes.own, column),
  );
  const mapping = guessMapping(file.columns, knownFields, { ...Object.fromEntries(saved), ...wishes.own });
  checkMapping(mapping, codeKey === undefined ? 'required' : 'generated');
  const check = new RowCheck({ mapping, ...(codeKey === undefined ? {} : { codeKey }) });
  let sample: Readonly<Record<string, string>> | null = null;
  return {
    file,
    mapping,
    sample: () => sample,
    rows: (async function* () {
      for await (const raw of file.rows) {
        const rows = check.check(raw);
        sample ??= rows.find((row) => 'profile' in row)?.profile ?? null;
        yield rows;
      }
    })(),
  };
}
