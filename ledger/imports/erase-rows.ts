import type { Queryable } from '../drivers/database.js';
import { codeStatus } from '../sql-expressions.js';

/* What is removed from the rows of imports: by an erasure, or at the end of retention. */

/** Message of a row whose person was erased before the import sent it. */
const forgottenMessage = 'this person was erased on request before the import sent the row';

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

/** The result of an erasure in one import. */
export interface ErasedRows {
  /** Number of rows that no longer hold data of the person. */
  readonly rows: number;
  /** Number of rows that the import has sent or is sending, without a result yet. */
  readonly beingSent: number;
}

/**
 * Locks an import until commit, so that it marks no rows meanwhile.
 * @returns whether its rows may still be sent; undefined if there is no such import
 */
export async function lockImport(tx: Queryable, number: number): Promise<boolean | undefined> {
  const [held] = await tx.query<{ running: boolean }>(
    `select state in ('staging', 'running') as running from imports where number = $1 for update`,
    [number],
  );
  return held?.running;
}

/**
 * Erases the rows of an import that have a code of a forgotten person: the values that were sent, and the answers of the
 * service. Rows that were not sent yet are never sent. Rows that are being sent stay until they have a result. Also
 * erases the file's name, which may contain the person's, and lets the report beside a dropped file be written again.
 * The caller has locked the import (`lockImport`). Safe to run twice.
 * @param unusable numbers of rows without a code that are the person's as well
 */
export async function eraseRows(
  tx: Queryable,
  { number, isRunning, erasure }: { readonly number: number; readonly isRunning: boolean; readonly erasure: number },
  unusable: readonly number[],
): Promise<ErasedRows> {
  const [registrants] = await tx.query<{ erased: number; under_way: number; now: number; left_out: number }>(
    `with own as (
       select s.*, s.open and ${isInChunk(`not ${isUnsent}`)} as under_way, s.open and not ${isInChunk('true')} as left_out
       from (
         select r.pigeonhole_number, r.code_hash, r.round, r.row_number, r.profile::text = '{}' as done,
           $2::boolean and r.outcome is null and ${codeStatus} <> 'created' as open
         from registrants r join forgotten_codes f on f.pigeonhole_number = r.pigeonhole_number
           and f.code_hash = r.code_hash
           join imports i on i.number = r.import
         where r.import = $1 and f.erasure = $3) s
     ), erased as (
       update registrants r set profile = '{}', names = null, data_hash = '', field = null,
         message = case when o.open then $4::text end,
         outcome = case when o.open then 'rejected' else r.outcome end
       from own o where r.pigeonhole_number = o.pigeonhole_number and r.code_hash = o.code_hash and not o.under_way
         and not o.done
       returning o.left_out
     ) select (select count(*)::int from own where not under_way) as erased,
         (select count(*)::int from own where under_way) as under_way, (select count(*)::int from erased) as now,
         (select count(*)::int from erased where left_out) as left_out`,
    [number, isRunning, erasure, forgottenMessage],
  );
  // A chunk whose only rows were erased has nothing left to send.
  await tx.query(
    `delete from import_chunks c where c.import = $1 and c.state = 'open' and not exists (select 1 from registrants r
       where r.import = $1 and r.round = c.round and r.row_number between c.first_row and c.last_row and r.outcome is null)`,
    [number],
  );
  const [others] = await tx.query<{ rows: number }>(
    `with own as (
       select w.row_number from import_rows w join imports i on i.number = w.import
         join forgotten_codes f on f.erasure = $2 and f.pigeonhole_number = i.pigeonhole_number
           and f.code_hash = w.code_hash
       where w.import = $1
       union select unnest($3::int4[])
     ), erased as (
       update import_rows w set profile = '{}', names = null, data_hash = null, field = null, message = null, problems = null,
         outcome = case when outcome = 'waiting' then 'cancelled' else outcome end
       from own o where w.import = $1 and w.row_number = o.row_number returning 1
     ) select count(*)::int as rows from erased`,
    [number, erasure, unusable],
  );
  if (registrants!.now + others!.rows > 0) {
    await tx.query(
      `update imports set file = '(name erased)', erasures = erasures + 1, rows_claimed = rows_claimed - $2 where number = $1`,
      [number, registrants!.left_out],
    );
    await tx.query(
      `update dropped_files d set state = 'importing' from imports i
       where i.number = $1 and d.import = i.id and d.state = 'reported'`,
      [number],
    );
  }
  return { rows: registrants!.erased + others!.rows, beingSent: registrants!.under_way };
}

/** Removes the data of rows of finished imports: the values that were sent, and the answers of the service. */
export async function expireRows(tx: Queryable, pigeonholeNumber: number): Promise<void> {
  // Locks the rows in the order in which an import claims them, so that this statement and the import cannot deadlock.
  await tx.query(
    `select 1 from registrants r join imports i on i.number = r.import
     where r.pigeonhole_number = $1 and i.state in ('done', 'cancelled') and r.profile::text <> '{}'
       order by r.code_hash for update of r`,
    [pigeonholeNumber],
  );
  await tx.query(
    `update registrants r set profile = '{}', names = null, field = null, message = null from imports i
     where i.number = r.import and r.pigeonhole_number = $1 and i.state in ('done', 'cancelled')
       and r.profile::text <> '{}'`,
    [pigeonholeNumber],
  );
  await tx.query(
    `update import_rows w set profile = '{}', names = null, field = null, message = null, problems = null from imports i
     where i.number = w.import and i.pigeonhole_number = $1 and i.state in ('done', 'cancelled')
       and w.profile::text <> '{}'`,
    [pigeonholeNumber],
  );
}
