/**
 * The states of an import row, and the statements that change them. A row whose code the
 * import holds is in `registrants`; its `outcome` is null until an answer settles it. All other rows are in
 * `import_rows`.
 *
 * ```
 * registrants
 *   (new) ──► null                     claimWhileStaging, claimFreeCodes: nobody held the code
 *   row of an ended import ──► null    claimHeldCodes: the row moves to this import, its old outcome to import_rows
 *   null ──► created                   its chunk succeeded: stored in `import_chunks` (`settle-chunk.ts`)
 *   null ──► existing | confirmed | rejected | unknown     settleRows: what an answer proves
 *   null ──► unknown                   markUnansweredUnknown: the import was cancelled during the request
 *   unknown ──► confirmed              confirmRefusedRows: every row of the unanswered request was refused
 *   unknown ──► rejected; confirmed ──► existing           revertUncertainRows: the request had created nothing
 *   existing ──► conflict              markConflicts: the attendee has different data
 *
 * import_rows
 *   (new) ──► invalid                  storeInvalidRows
 *   (new), waiting ──► existing | conflict | rejected | waiting | invalid    claimHeldCodes: another row has the code
 *   waiting ──► (removed)              removeWaitingRows, claimHeldCodes: this import has claimed the code
 *   waiting ──► cancelled              cancelWaitingRows: the import ended first
 *
 * all rows ──► (removed)               deleteStagedRows: the import was never started
 * ```
 *
 * `erase-rows.ts` also changes outcomes: it rejects or cancels the unsent rows of a forgotten person.
 */
import type { Queryable } from '../drivers/database.js';
import type { Ledger } from '../ledger.js';
import { namesOf } from '../person-names.js';
import { claimable, codeStatus, heldRowOutcome } from '../sql-expressions.js';

/** A row as stored: with hashes, its profile as canonical JSON. */
export interface HashedRow {
  readonly row: number;
  readonly codeHash: Buffer;
  readonly dataHash: Uint8Array;
  readonly profile: string;
  /** `namesOf` the profile. */
  readonly names: string | null;
}

/** SQL for the rows in parameters $3 to $7, as a table `n`. */
const givenRows = `(select row_number, code_hash, data_hash, profile, names::bytea[] as names
  from unnest($3::int4[], $4::bytea[], $5::bytea[], $6::json[], $7::text[]) as n (row_number, code_hash, data_hash, profile, names)) n`;

function rowParameters(
  rows: readonly HashedRow[],
): [number[], Uint8Array[], Uint8Array[], string[], (string | null)[]] {
  return [
    rows.map(({ row }) => row),
    rows.map(({ codeHash }) => codeHash),
    rows.map(({ dataHash }) => dataHash),
    rows.map(({ profile }) => profile),
    rows.map(({ names }) => names),
  ];
}

/** The import that claims codes, and the round in which it sends them. */
interface Claimer {
  readonly pigeonholeNumber: number;
  readonly number: number;
  readonly round: number;
}

/**
 * Claims unclaimed codes for an import whose row the caller has locked.
 * @returns the numbers of the claimed rows
 */
export async function claimFreeCodes(
  tx: Queryable,
  { pigeonholeNumber, number, round }: Claimer,
  rows: readonly HashedRow[],
): Promise<Set<number>> {
  const [claimed] = await tx.query<{ rows: number[] | null }>(
    `with claimed as (
       insert into registrants (pigeonhole_number, code_hash, import, round, row_number, data_hash, profile, names)
       select $1, n.code_hash, $2, $8, n.row_number, n.data_hash, n.profile, n.names from ${givenRows}
       on conflict (pigeonhole_number, code_hash) do nothing returning row_number
     ) select array_agg(row_number) as rows from claimed`,
    [pigeonholeNumber, number, ...rowParameters(rows), round],
  );
  return new Set(claimed?.rows ?? []);
}

/**
 * Locks an import and those that hold the codes of these rows until commit, in the order of lock-order.ts. `claimHeldCodes`
 * changes the rows of all of them, and thereby their kept counts: two imports that claim each other's codes would
 * otherwise deadlock.
 * @returns the numbers of the locked imports
 */
export async function lockHolders(
  tx: Queryable,
  { pigeonholeNumber, number }: Pick<Claimer, 'pigeonholeNumber' | 'number'>,
  codeHashes: readonly Uint8Array[],
): Promise<number[]> {
  const rows = await tx.query<{ number: number }>(
    `select number from imports where number = $2 or number in (
       select r.import from unnest($3::bytea[]) as n (code_hash) cross join lateral (select import from registrants
         where pigeonhole_number = $1 and code_hash = n.code_hash limit 1) r)
     order by number for no key update`,
    [pigeonholeNumber, number, codeHashes],
  );
  return rows.map((row) => row.number);
}

/**
 * Handles rows whose codes another import holds or held. Abandoned codes and codes rejected with different data move to
 * this import; the other rows receive the outcome known to the ledger. The import that loses a row keeps it in its
 * report.
 *
 * The statement reads one snapshot and claims only rows that have not changed since, from imports that the caller has
 * locked. Rows that another import has just claimed, or an erasure has just changed, wait and are reviewed later.
 * @param locked what `lockHolders` returned
 */
export async function claimHeldCodes(
  tx: Queryable,
  { pigeonholeNumber, number, round }: Claimer,
  rows: readonly HashedRow[],
  locked: readonly number[],
): Promise<{ claimed: number }> {
  const [result] = await tx.query<{ claimed: number }>(
    `with judged as (
       select n.*, r.import as holder, r.round as held_round, r.row_number as held_row, r.profile as held_profile, r.names as held_names,
         r.data_hash as held_data, r.outcome as held_outcome, r.field, r.message, r.request_id, r.data_hash = n.data_hash as same,
         ${codeStatus} as code_status
       from ${givenRows}
         join registrants r on r.pigeonhole_number = $1 and r.code_hash = n.code_hash
           join imports i on i.number = r.import
     ), moved as (
       update registrants r set import = $2, round = $8, row_number = j.row_number, data_hash = j.data_hash, profile = j.profile, names = j.names,
         outcome = null, field = null, message = null, request_id = null, origin = null, sent = null
       from judged j
       where ${claimable} and j.holder <> $2 and j.holder = any($9::int4[]) and r.pigeonhole_number = $1 and r.code_hash = j.code_hash
         and r.import = j.holder
         and r.round = j.held_round and r.row_number = j.held_row and r.outcome is not distinct from j.held_outcome
         and r.data_hash = j.held_data
       returning r.code_hash
     ), kept as (
       insert into import_rows (import, row_number, code_hash, data_hash, profile, names, outcome, field, message, request_id)
       select j.holder, j.held_row, j.code_hash, j.held_data, j.held_profile, j.held_names,
         case code_status when 'given-up' then 'cancelled' else code_status end, j.field, j.message, j.request_id
       from judged j join moved m on m.code_hash = j.code_hash
       on conflict (import, row_number) do nothing
     ), others as (
       insert into import_rows (import, row_number, code_hash, data_hash, profile, names, outcome, field, message, request_id)
       select $2, j.row_number, j.code_hash, j.data_hash, j.profile, j.names,
         case when j.holder = $2 then 'invalid' else ${heldRowOutcome} end,
         case when code_status = 'rejected' and same then j.field end,
         case when j.holder = $2 then 'another row of this file has the same code'
           when code_status = 'rejected' and same then j.message end,
         case when code_status = 'rejected' and same then j.request_id end
       from judged j where not exists (select 1 from moved m where m.code_hash = j.code_hash)
       on conflict (import, row_number) do update set outcome = excluded.outcome, field = excluded.field,
         message = excluded.message, request_id = excluded.request_id
     ), no_longer_waiting as (
       delete from import_rows w using judged j join moved m on m.code_hash = j.code_hash
       where w.import = $2 and w.row_number = j.row_number and w.outcome = 'waiting'
     ) select count(*) as claimed from moved`,
    [pigeonholeNumber, number, ...rowParameters(rows), round, locked],
  );
  return { claimed: result!.claimed };
}

/**
 * SQL that locks the import, so that it cannot be discarded, and returns it as the row `held`; no row if the import is
 * no longer being staged. Concurrent portions do not wait for each other, because `touched_at` is written only once a
 * minute.
 */
export const whileStaging = `held as materialized (
    select i.pigeonhole_number from imports i
    where i.number = $1 and i.state = 'staging' and set_config('synchronous_commit', 'off', true) = 'off' for key share
  ), touched as (
    update imports set touched_at = now() where number = $1 and state = 'staging' and touched_at < now() - interval '1 minute'
  )`;

/**
 * Claims unclaimed codes of an import that is being staged, in one statement; codes of forgotten people stay unclaimed.
 * @returns `pigeonholeNumber` null if the import is no longer being staged; `numbers` null if all rows were claimed
 */
export async function claimWhileStaging(
  db: Queryable,
  number: number,
  rows: readonly HashedRow[],
): Promise<{ pigeonholeNumber: number | null; claimed: number; numbers: number[] | null }> {
  const [staged] = await db.query<{ pigeonholeNumber: number | null; claimed: number; numbers: number[] | null }>(
    `with ${whileStaging}, claimed as (
       insert into registrants (pigeonhole_number, code_hash, import, round, row_number, data_hash, profile, names)
       select h.pigeonhole_number, n.code_hash, $1, 0, n.row_number, n.data_hash, n.profile, n.names from held h
         cross join ${givenRows}
       where not exists (select from forgotten_codes f where f.pigeonhole_number = h.pigeonhole_number
         and f.code_hash = n.code_hash)
       on conflict (pigeonhole_number, code_hash) do nothing returning row_number
     ) select (select h.pigeonhole_number from held h) as "pigeonholeNumber", count(*) as claimed,
         case when count(*) < $2::int4 then array_agg(row_number) end as numbers from claimed`,
    [number, rows.length, ...rowParameters(rows)],
  );
  return staged!;
}

/** Stores rows with problems. @returns false if the import is no longer being staged */
export async function storeInvalidRows(
  { db, hash }: Pick<Ledger, 'db' | 'hash'>,
  number: number,
  rows: readonly {
    readonly row: number;
    readonly values: Readonly<Record<string, string>>;
    readonly problems: readonly object[];
  }[],
): Promise<boolean> {
  const held = await db.query(
    `with ${whileStaging}, kept as (
       insert into import_rows (import, row_number, profile, names, outcome, problems)
       select $1, n.row_number, n.profile, n.names::bytea[], 'invalid', n.problems
       from held cross join unnest($2::int4[], $3::json[], $4::text[], $5::json[]) as n (row_number, profile, names, problems)
     ) select pigeonhole_number from held`,
    [
      number,
      rows.map(({ row }) => row),
      rows.map(({ values }) => JSON.stringify(values)),
      rows.map(({ values }) => namesOf(hash, values)),
      rows.map(({ problems }) => JSON.stringify(problems)),
    ],
  );
  return held.length > 0;
}

/** Deletes all rows of an import that was never started; its codes are free again. */
export async function deleteStagedRows(tx: Queryable, number: number): Promise<void> {
  await tx.query('delete from registrants where import = $1', [number]);
  await tx.query('delete from import_rows where import = $1', [number]);
}

/** Removes rows from the waiting ones after the import has claimed their codes. */
export async function removeWaitingRows(tx: Queryable, number: number, rows: readonly number[]): Promise<void> {
  await tx.query('delete from import_rows where import = $1 and row_number = any($2::int4[])', [number, rows]);
}

/** Cancels rows that still wait for another import. */
export async function cancelWaitingRows(tx: Queryable, number: number): Promise<void> {
  await tx.query(`update import_rows set outcome = 'cancelled' where import = $1 and outcome = 'waiting'`, [number]);
}

/** The outcome of a row, as the answer to its request proves it. */
export interface SettledRow {
  /** Position in the piece, from 0. */
  readonly index: number;
  readonly outcome: 'confirmed' | 'existing' | 'rejected' | 'unknown';
  readonly field: string | null;
  readonly message: string | null;
  /**
   * `origin` and `sent` of the piece, if the outcome depends on them. The outcome changes if a later answer proves that
   * the earlier request had no effect.
   */
  readonly origin: number | null;
  readonly sent: 'refused' | 'unknown' | null;
}

/** The request whose answer settles rows. */
interface Answered {
  readonly pigeonholeNumber: number;
  readonly number: number;
  readonly round: number;
  readonly requestId: string | null;
}

/** Stores the outcomes that an answer proves. */
export async function settleRows(
  tx: Queryable,
  { pigeonholeNumber, number, round, requestId }: Answered,
  rows: readonly (SettledRow & { readonly row: number })[],
): Promise<void> {
  await tx.query(
    `update registrants r set outcome = n.outcome, field = n.field, message = n.message, request_id = $4,
       origin = n.origin, sent = n.sent
     from unnest($5::int4[], $6::text[], $7::text[], $8::text[], $9::int4[], $10::text[])
       as n (row_number, outcome, field, message, origin, sent)
     where r.pigeonhole_number = $1 and r.import = $2 and r.round = $3 and r.row_number = n.row_number`,
    [
      pigeonholeNumber,
      number,
      round,
      requestId,
      rows.map(({ row }) => row),
      rows.map(({ outcome }) => outcome),
      rows.map(({ field }) => field),
      rows.map(({ message }) => message),
      rows.map(({ origin }) => origin),
      rows.map(({ sent }) => sent),
    ],
  );
}

/**
 * Corrects the outcomes of rows whose request turned out to have created nothing: duplicates existed before, and rows
 * refused without a reason are rejected.
 * @param request.origin number of that request; null: none, so that only `refused` selects rows
 * @param request.refused whether refused requests also created nothing
 */
export async function revertUncertainRows(
  tx: Queryable,
  number: number,
  { origin, refused }: { readonly origin: number | null; readonly refused: boolean },
): Promise<void> {
  await tx.query(
    `update registrants set outcome = case outcome when 'confirmed' then 'existing' else 'rejected' end, origin = null, sent = null
     where import = $1 and origin is not null and (origin = $2 or ($3::boolean and sent = 'refused'))
       and outcome in ('confirmed', 'unknown')`,
    [number, origin, refused],
  );
}

/**
 * If at least this number of rows of one unanswered request were all refused without a reason, the import concludes
 * that they exist. Fewer rows could all be invalid.
 */
const minRefusals = 10;

/** Confirms the rows of unanswered requests if all of them were refused without a reason when they were sent again. */
export async function confirmRefusedRows(tx: Queryable, number: number): Promise<void> {
  await tx.query(
    `update registrants r set outcome = 'confirmed' from (
       select origin from registrants where import = $1 and outcome = 'unknown' and sent = 'unknown' and origin is not null
       group by origin having count(*) >= ${minRefusals}) refused
     where r.import = $1 and r.origin = refused.origin and r.outcome = 'unknown' and r.sent = 'unknown'`,
    [number],
  );
}

/**
 * Marks as `unknown` the rows that a request of a cancelled import may have created. Called when that import ends. Of a
 * chunk that is being sent, the request contains only the first rows.
 */
export async function markUnansweredUnknown(tx: Queryable, number: number): Promise<void> {
  await tx.query(
    `update registrants r set outcome = 'unknown', origin = null, sent = null from (
       select o.round, o.row_number, c.sent <> 'never' or (c.state = 'sending' and coalesce(row_number() over (
           partition by c.round, c.first_row order by o.row_number) <= c.sent_count, true)) as may_exist
       from import_chunks c join registrants o on o.import = c.import and o.round = c.round
         and o.row_number between c.first_row and c.last_row
       where c.import = $1 and c.state <> 'created' and o.outcome is null) open
     where r.import = $1 and r.round = open.round and r.row_number = open.row_number and open.may_exist`,
    [number],
  );
}

/** Marks existing rows whose attendee has another value in a field. Does nothing if a newer attempt has taken over the import. */
export async function markConflicts(
  db: Queryable,
  {
    pigeonholeNumber,
    number,
    epoch,
  }: { readonly pigeonholeNumber: number; readonly number: number; readonly epoch: number },
  conflicts: readonly { readonly codeHash: Buffer; readonly field: string }[],
): Promise<void> {
  await db.query(
    `update registrants r set outcome = 'conflict', field = n.field,
       message = 'the attendee who signed in with this code has another value here: change it in the dashboard'
     from unnest($4::bytea[], $5::text[]) as n (code_hash, field)
     where r.pigeonhole_number = $1 and r.code_hash = n.code_hash and r.import = $2 and r.outcome = 'existing'
       and exists (select 1 from imports i where i.number = $2 and i.epoch = $3)`,
    [pigeonholeNumber, number, epoch, conflicts.map(({ codeHash }) => codeHash), conflicts.map(({ field }) => field)],
  );
}
