import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ErasureNames } from './erasures.js';
import { codeStatus } from '../ledger/sql-expressions.js';
import { unusableRowsOf } from './find-person.js';

/** Message of a row whose person was erased before the import sent it. */
const forgottenMessage = 'this person was erased on request before the import sent the row';

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
  await ledger.db.query(
    `delete from sign_ins s using forgotten f join pigeonholes p on p.workspace = f.workspace
     where f.erasure = $1 and s.ref = p.ref and s.subject = f.subject`,
    [erasure],
  );
  const imports: ErasedImport[] = [];
  let rows = 0;
  let beingSent = 0;
  for (const each of await importsOf(ledger, erasure, places)) {
    const names = { asked, codes: places.flatMap((place) => (place.ref === each.ref ? place.codes : [])) };
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
  readonly ref: number;
}

async function importsOf(ledger: Ledger, erasure: number, places: ErasureNames['places']): Promise<ImportRow[]> {
  return await ledger.db.query<ImportRow>(
    `select number, ref, exists (select 1 from dropped_files d where d.import = i.id) as dropped from imports i
     where ref = any($2::int4[]) or ref in (select ref from forgotten_codes where erasure = $1) order by number`,
    [erasure, places.map(({ ref }) => ref)],
  );
}

/**
 * SQL condition: no request that may have taken effect has contained the rows of chunk `c`, for example because the
 * quota refused it. No later request depends on the chunk's rows, so some of them can be left out.
 */
const isUnsent = `(c.state = 'open' and c.sent = 'never' and c.suspects is null)`;

/** SQL condition: a chunk `c` for which `condition` holds contains the row `s`. */
function isInChunk(condition: string): string {
  return `exists (select 1 from import_chunks c where c.import = $1 and c.round = s.round
    and s.row_number between c.first_row and c.last_row and ${condition})`;
}

async function eraseFromImport(
  tx: Queryable,
  erasure: number,
  { number }: ImportRow,
  names: RowNames,
): Promise<{ rows: number; beingSent: number }> {
  const [held] = await tx.query<{ running: boolean }>(
    `select state in ('staging', 'running') as running from imports where number = $1 for update`,
    [number],
  );
  if (held === undefined) return { rows: 0, beingSent: 0 };
  const [registrants] = await tx.query<{ erased: number; under_way: number; now: number; left_out: number }>(
    `with own as (
       select s.*, s.open and ${isInChunk(`not ${isUnsent}`)} as under_way, s.open and not ${isInChunk('true')} as left_out
       from (
         select r.ref, r.code_hash, r.round, r.row_number, r.profile::text = '{}' as done,
           $2::boolean and r.outcome is null and ${codeStatus} <> 'created' as open
         from registrants r join forgotten_codes f on f.ref = r.ref and f.code_hash = r.code_hash
           join imports i on i.number = r.import
         where r.import = $1 and f.erasure = $3) s
     ), erased as (
       update registrants r set profile = '{}', data_hash = '', field = null,
         message = case when o.open then $4::text end,
         outcome = case when o.open then 'rejected' else r.outcome end
       from own o where r.ref = o.ref and r.code_hash = o.code_hash and not o.under_way and not o.done
       returning o.left_out
     ) select (select count(*)::int from own where not under_way) as erased,
         (select count(*)::int from own where under_way) as under_way, (select count(*)::int from erased) as now,
         (select count(*)::int from erased where left_out) as left_out`,
    [number, held.running, erasure, forgottenMessage],
  );
  // A chunk whose only rows were erased has nothing left to send.
  await tx.query(
    `delete from import_chunks c where c.import = $1 and c.state = 'open' and not exists (select 1 from registrants r
       where r.import = $1 and r.round = c.round and r.row_number between c.first_row and c.last_row and r.outcome is null)`,
    [number],
  );
  const others = await otherRows(tx, erasure, number, names);
  await tx.query(
    `update import_rows set profile = '{}', data_hash = null, field = null, message = null, problems = null,
       outcome = case when outcome = 'waiting' then 'cancelled' else outcome end
     where import = $1 and row_number = any($2::int4[])`,
    [number, others],
  );
  if (registrants!.now + others.length > 0) {
    // The file name may contain the name of the person.
    await tx.query(
      `update imports set file = '(name erased)', erasures = erasures + 1, rows_claimed = rows_claimed - $2 where number = $1`,
      [number, registrants!.left_out],
    );
    // The report next to a dropped file may name the person. In the state `importing`, pigeonpost writes the report
    // again.
    await tx.query(
      `update dropped_files d set state = 'importing' from imports i
       where i.number = $1 and d.import = i.id and d.state = 'reported'`,
      [number],
    );
  }
  return { rows: registrants!.erased + others.length, beingSent: registrants!.under_way };
}

/** Returns the numbers of the import's rows in `import_rows` that belong to a forgotten person. */
async function otherRows(tx: Queryable, erasure: number, number: number, names: RowNames): Promise<number[]> {
  const withCode = await tx.query<{ row: number }>(
    `select w.row_number as row from import_rows w join imports i on i.number = w.import
       join forgotten_codes f on f.erasure = $2 and f.ref = i.ref and f.code_hash = w.code_hash
     where w.import = $1`,
    [number, erasure],
  );
  return [...withCode, ...(await unusableRowsOf(tx, { import: number }, names))].map(({ row }) => row);
}

/** Returns which of these codes belong to forgotten people, as hashes in hex. */
export async function forgottenCodes(
  tx: Queryable,
  ref: number,
  codeHashes: readonly Uint8Array[],
): Promise<Set<string>> {
  if (codeHashes.length === 0) return new Set();
  const rows = await tx.query<{ code_hash: Buffer }>(
    'select code_hash from forgotten_codes where ref = $1 and code_hash = any($2::bytea[])',
    [ref, codeHashes],
  );
  return new Set(rows.map(({ code_hash: codeHash }) => codeHash.toString('hex')));
}
