import type { Queryable } from '../../ledger/drivers/database.js';
import type { Ledger } from '../../ledger/ledger.js';
import { claimFreeCodes, claimHeldCodes, type HashedRow } from './claim-rows.js';
import type { ImportLease } from './chunks.js';
import { staleImport } from './import-errors.js';

/** At a time, of those that wait for other imports. */
const reviewRows = 1000;
/** Rows that stood in one unanswered request, and are refused without a reason one and all: fewer could all be bad. */
const tellingRefusals = 10;

/**
 * Looks at the rows that another import had: what it has settled is told, what it gave up is claimed and sent in a round
 * of its own. To be called when nothing else of the import is left.
 * @returns how many rows were claimed, and how many still wait
 * @throws {LedgerError} kind `stale`
 */
export async function reviewWaiting(ledger: Ledger, lease: ImportLease): Promise<{ claimed: number; waiting: number }> {
  let claimed = 0;
  let waiting = 0;
  let round: number | undefined;
  for (let after = -1; ;) {
    const page = await ledger.db.query<{ row_number: number; code_hash: Buffer; data_hash: Buffer; profile: string }>(
      `select row_number, code_hash, data_hash, profile from import_rows
       where import = $1 and outcome = 'waiting' and row_number > $2 order by row_number limit ${reviewRows}`,
      [lease.number, after],
    );
    if (page.length === 0) return { claimed, waiting };
    after = page.at(-1)!.row_number;
    const rows = page.map((row): HashedRow => ({
      row: row.row_number,
      codeHash: row.code_hash,
      dataHash: row.data_hash,
      profile: row.profile,
    }));
    rows.sort((a, b) => Buffer.compare(a.codeHash, b.codeHash));
    const result = await ledger.db.transaction(async (tx) => {
      const [held] = await tx.query<{ round: number }>(
        `select round from imports where number = $1 and epoch = $2 and state = 'running' for update`,
        [lease.number, lease.epoch],
      );
      if (held === undefined) throw staleImport(lease.number);
      const next = round ?? held.round + 1;
      const claimer = { ref: lease.ref, number: lease.number, round: next };
      // Free: whoever held them was given up while it was still being staged.
      const free = await claimFreeCodes(tx, claimer, rows);
      const rest = rows.filter(({ row }) => !free.has(row));
      const changed = rest.length === 0 ? 0 : (await claimHeldCodes(tx, claimer, rest)).claimed;
      await tx.query('delete from import_rows where import = $1 and row_number = any($2::int4[])', [
        lease.number,
        [...free],
      ]);
      const taken = free.size + changed;
      if (taken > 0) {
        round = next;
        await tx.query(
          `update imports set round = $2, position = case when round = $2 then position else 0 end,
             rows_claimed = rows_claimed + $3, rows_other = rows_other - $3 where number = $1`,
          [lease.number, next, taken],
        );
      }
      const [left] = await tx.query<{ waiting: number }>(
        `select count(*) as waiting from import_rows where import = $1 and outcome = 'waiting' and row_number = any($2::int4[])`,
        [lease.number, page.map(({ row_number }) => row_number)],
      );
      return { claimed: taken, waiting: left!.waiting };
    });
    claimed += result.claimed;
    waiting += result.waiting;
  }
}

/**
 * Everything that can be known is known: the import ends. Rows that were refused without a reason after a request without
 * an answer, and all of whose companions were, too, are taken to be there.
 * @throws {LedgerError} kind `stale`
 */
export async function endImport(ledger: Ledger, lease: ImportLease): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const held = await tx.query(
      `update imports set state = 'done', ended_at = now(), failure = null, retry_at = null
       where number = $1 and epoch = $2 and state = 'running' returning number`,
      [lease.number, lease.epoch],
    );
    if (held.length === 0) throw staleImport(lease.number);
    await tx.query(
      `update registrants r set outcome = 'confirmed' from (
         select origin from registrants where import = $1 and outcome = 'unknown' and sent = 'unknown' and origin is not null
         group by origin having count(*) >= ${tellingRefusals}) told
       where r.import = $1 and r.origin = told.origin and r.outcome = 'unknown' and r.sent = 'unknown'`,
      [lease.number],
    );
    await leaveWaiting(tx, lease);
    await tx.query(`delete from pauses where scope = 'import' and name = $1`, [lease.id]);
  });
}

/**
 * Ends a cancelled import: what was created stays, what may have been stays unknown, the rest was not sent.
 * @throws {LedgerError} kind `stale`
 */
export async function endCancelledImport(ledger: Ledger, lease: ImportLease): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const held = await tx.query(
      `update imports set state = 'cancelled', ended_at = now(), failure = null, retry_at = null
       where number = $1 and epoch = $2 and state = 'running' returning number`,
      [lease.number, lease.epoch],
    );
    if (held.length === 0) throw staleImport(lease.number);
    await tx.query(
      `update registrants r set outcome = 'unknown', origin = null, sent = null from import_chunks c
       where c.import = $1 and c.state <> 'created' and (c.sent <> 'never' or c.state = 'sending') and r.import = $1
         and r.round = c.round and r.row_number between c.first_row and c.last_row and r.outcome is null`,
      [lease.number],
    );
    await tx.query(`delete from import_chunks where import = $1 and state <> 'created'`, [lease.number]);
    await leaveWaiting(tx, lease);
    await tx.query(`delete from pauses where scope = 'import' and name = $1`, [lease.id]);
  });
}

/** What still waits for another import is not sent by this one any more. */
async function leaveWaiting(tx: Queryable, lease: ImportLease): Promise<void> {
  await tx.query(`update import_rows set outcome = 'cancelled' where import = $1 and outcome = 'waiting'`, [
    lease.number,
  ]);
}
