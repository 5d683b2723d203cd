import type { Queryable } from '../../ledger/drivers/database.js';
import type { Ledger } from '../../ledger/ledger.js';
import { claimFreeCodes, claimHeldCodes, type HashedRow } from '../row-states.js';
import { type ImportLease, staleImport } from './chunks.js';

/** At a time, of those that wait for other imports. */
const reviewRows = 1000;
/**
 * Minimum number of rows of one unanswered request, all refused without a reason, to conclude that they exist: fewer
 * could all be invalid.
 */
const tellingRefusals = 10;

/**
 * Reviews the rows whose codes another import held: settled ones receive its outcome, abandoned ones are claimed and
 * sent in a new round. Call it when nothing else of the import is left.
 * @returns the number of claimed rows and of rows that still wait
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
      // Free codes: the import that held them was abandoned during staging.
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
 * Everything that can be known is known: the import ends. Rows that were refused without a reason after a request
 * without an answer, and all of whose companions were, too, are taken to be there.
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

/** Cancels rows that still wait for another import. */
async function leaveWaiting(tx: Queryable, lease: ImportLease): Promise<void> {
  await tx.query(`update import_rows set outcome = 'cancelled' where import = $1 and outcome = 'waiting'`, [
    lease.number,
  ]);
}

const pageAttendees = 1000;

/**
 * Compares rows whose codes existed before with the attendees who signed in with them. Another value in a field of the
 * row is a conflict. Registrants who have not signed in cannot be read, so their rows stay `existing`. Safe to run
 * twice.
 * @returns the number of rows in conflict
 */
export async function reviewExisting(ledger: Ledger, lease: ImportLease): Promise<number> {
  const [any] = await ledger.db.query(`select 1 from registrants where import = $1 and outcome = 'existing' limit 1`, [
    lease.number,
  ]);
  if (any === undefined) return 0;
  let conflicts = 0;
  for (let after = ''; ;) {
    // oxlint-disable-next-line no-await-in-loop -- a page behind the one before
    const page = await ledger.db.query<{ key: string; payload: string }>(
      `select key, payload from items where ref = $1 and list = 'attendees' and key > $2 and payload is not null
       order by key limit ${pageAttendees}`,
      [lease.ref, after],
    );
    if (page.length === 0) return conflicts;
    after = page.at(-1)!.key;
    // oxlint-disable-next-line no-await-in-loop
    conflicts += await compare(
      ledger,
      lease,
      page.map(({ payload }) => JSON.parse(payload) as Fields),
    );
  }
}

type Fields = Readonly<Record<string, unknown>>;

async function compare(ledger: Ledger, lease: ImportLease, attendees: readonly Fields[]): Promise<number> {
  const byHash = new Map<string, Fields>();
  for (const attendee of attendees) {
    const code = attendee['attendeeCode'];
    if (typeof code === 'string' && code !== '') byHash.set(ledger.hash.attendeeCode(code).toString('hex'), attendee);
  }
  const rows = await ledger.db.query<{ code_hash: Buffer; profile: string }>(
    `select code_hash, profile from registrants
     where ref = $1 and code_hash = any($2::bytea[]) and import = $3 and outcome = 'existing'`,
    [lease.ref, [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex')), lease.number],
  );
  const conflicts = rows.flatMap(({ code_hash: codeHash, profile }) => {
    const field = differingField(JSON.parse(profile) as Fields, byHash.get(codeHash.toString('hex'))!);
    return field === undefined ? [] : [{ codeHash, field }];
  });
  if (conflicts.length === 0) return 0;
  await ledger.db.query(
    `update registrants r set outcome = 'conflict', field = n.field,
       message = 'who signed in with this code has another value here: change it in the dashboard'
     from unnest($4::bytea[], $5::text[]) as n (code_hash, field)
     where r.ref = $1 and r.code_hash = n.code_hash and r.import = $2 and r.outcome = 'existing'
       and exists (select 1 from imports i where i.number = $2 and i.epoch = $3)`,
    [
      lease.ref,
      lease.number,
      lease.epoch,
      conflicts.map(({ codeHash }) => codeHash),
      conflicts.map(({ field }) => field),
    ],
  );
  return conflicts.length;
}

/** Returns the first field with different values. A field that the attendee lacks is ignored. */
function differingField(sent: Fields, stored: Fields): string | undefined {
  return Object.keys(sent).find(
    (name) => name !== 'attendeeCode' && typeof stored[name] === 'string' && stored[name] !== sent[name],
  );
}
