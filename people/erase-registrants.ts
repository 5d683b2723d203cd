import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ErasureNames } from './erasures.js';
import { type ErasedRows, eraseRows, lockImport } from '../ledger/imports/erase-rows.js';
import { eraseSignIns } from '../ledger/sign-ins.js';
import { unusableRowsOf } from './find-person.js';

interface ErasedRegistrants {
  /** Number of import rows that no longer hold data of the person. */
  readonly rows: number;
  /** The imports that contained the person. pigeonpost cannot change the files that were imported. */
  readonly imports: readonly ErasedImport[];
  /** Number of rows that an import has sent or is sending, without a result yet; a later cycle erases them. */
  readonly beingSent: number;
}

interface ErasedImport {
  readonly number: number;
  /** Whether the file is in a drop folder, where it stays. */
  readonly dropped: boolean;
}

/**
 * Erases the people of an erasure from all imports: the values that were sent, the answers of the service, and rows
 * that could not be used. Codes stay as hashes, so that a row still counts in its import. Rows that were not sent yet
 * are never sent. Safe to run twice.
 */
export async function eraseRegistrants(
  ledger: Ledger,
  erasure: number,
  { asked, places }: ErasureNames,
): Promise<ErasedRegistrants> {
  await eraseSignIns(ledger, erasure);
  const imports: ErasedImport[] = [];
  let rows = 0;
  let beingSent = 0;
  for (const each of await importsOf(ledger, erasure, places)) {
    const names = {
      asked,
      codes: places.flatMap((place) => (place.pigeonholeNumber === each.pigeonholeNumber ? place.codes : [])),
    };
    // One after another, because each is a transaction that locks the import.
    const done = await ledger.db.transaction((tx) => eraseFromImport(tx, erasure, each, names));
    rows += done.rows;
    beingSent += done.beingSent;
    if (done.rows + done.beingSent > 0) imports.push({ number: each.number, dropped: each.dropped });
  }
  return { rows, imports, beingSent };
}

/** The person's codes in the pigeonhole of the import, and the text of the request. */
type RowNames = Parameters<typeof unusableRowsOf>[2];

interface ImportRow extends ErasedImport {
  readonly pigeonholeNumber: number;
}

async function importsOf(ledger: Ledger, erasure: number, places: ErasureNames['places']): Promise<ImportRow[]> {
  return await ledger.db.query<ImportRow>(
    `select number, pigeonhole_number as "pigeonholeNumber", exists (select 1 from dropped_files d
       where d.import = i.id) as dropped from imports i
     where pigeonhole_number = any($2::int4[]) or pigeonhole_number in (select pigeonhole_number from forgotten_codes
       where erasure = $1) order by number`,
    [erasure, places.map(({ pigeonholeNumber }) => pigeonholeNumber)],
  );
}

async function eraseFromImport(
  tx: Queryable,
  erasure: number,
  { number }: ImportRow,
  names: RowNames,
): Promise<ErasedRows> {
  const isRunning = await lockImport(tx, number);
  if (isRunning === undefined) return { rows: 0, beingSent: 0 };
  const unusable = await unusableRowsOf(tx, { import: number }, names);
  return await eraseRows(
    tx,
    { number, isRunning, erasure },
    unusable.map(({ row }) => row),
  );
}

/** Returns which of these codes belong to forgotten people, as hashes in hex. */
export async function forgottenCodes(
  tx: Queryable,
  pigeonholeNumber: number,
  codeHashes: readonly Uint8Array[],
): Promise<Set<string>> {
  if (codeHashes.length === 0) return new Set();
  const rows = await tx.query<{ code_hash: Buffer }>(
    'select code_hash from forgotten_codes where pigeonhole_number = $1 and code_hash = any($2::bytea[])',
    [pigeonholeNumber, codeHashes],
  );
  return new Set(rows.map(({ code_hash: codeHash }) => codeHash.toString('hex')));
}
