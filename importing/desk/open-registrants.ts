import type { ColumnWishes } from './saved-mappings.js';
import { checkMapping, type ColumnMapping, guessMapping } from '../files/column-mapping.js';
import type { CheckedRow } from '../files/checked-row.js';
import { openInThread } from '../files/open-in-thread.js';
import type { FileOptions, RegistrantFile } from '../files/registrant-file.js';
import { RowCheck } from '../files/row-check.js';
import { createHash } from 'node:crypto';

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
}

/** Opens a file and maps its columns. The caller closes the file. @throws {RegistrantFileError} */
export async function openRegistrants(
  bytes: AsyncIterable<Uint8Array>,
  terms: ReadingTerms,
): Promise<OpenedRegistrants> {
  const file = await openInThread(bytes, terms.file);
  try {
    return withMapping(file, terms);
  } catch (error) {
    await file.close();
    throw error;
  }
}

function withMapping(file: RegistrantFile, { wishes, knownFields, codeKey }: ReadingTerms): OpenedRegistrants {
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
