import type { Queryable } from '../../ledger/drivers/database.js';
import type { Ledger } from '../../ledger/ledger.js';
import { readableJson } from '../../ledger/sql-expressions.js';
import type { RepairAction, Verdict } from './judge-held.js';

/*
 * Owner of the tables `parity_passes` and `parity_findings`: every statement that writes them. A pass compares the items of a
 * lane, slice by slice; its position and the findings of a slice are committed together, so a process that ends loses
 * nothing. The holder of the lane writes them, except the requests of operators.
 */

export interface LaneName {
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
}

/** Names what a pass compares: an item or, in a log, a revision of an item. */
export interface EntryName {
  readonly list: string;
  readonly key: string;
  /** In a log: the sequence of the revision; otherwise 0. */
  readonly entry: number;
}

/** The position of a pass. `again`: everything was compared once; entries that waited for a delivery are read again. */
export interface PassPosition {
  readonly stage: 'items' | 'again';
  /** The last list and key; null: the beginning. Not used for a log. */
  readonly list: string | null;
  readonly key: string | null;
  /** The last sequence of a log; in the stage `again`, the last finding. */
  readonly sequence: number;
}

export const passStart: PassPosition = { stage: 'items', list: null, key: null, sequence: 0 };

/** A lane whose pass or repair is due. */
export interface DuePass extends PassPosition {
  readonly pigeonholeNumber: number;
  /** Number of the pass in progress. */
  readonly number: number;
  readonly failures: number;
  /** An operator requested the pass, so it does not pause between slices. */
  readonly isRequested: boolean;
}

/**
 * Returns the lane of a sink whose audit is due, requested ones first; undefined if there is none. A lane that delivers
 * nothing for long is audited more and more rarely: the interval is at least the time between its last delivery and its
 * last pass.
 * @param of.everyMs interval of passes that nobody requested; null: only requested ones
 */
export async function duePass(
  ledger: Ledger,
  of: { readonly sinkId: number; readonly pigeonholeNumbers: readonly number[]; readonly everyMs: number | null },
): Promise<DuePass | undefined> {
  const [row] = await ledger.db.query<DuePass & { starts: boolean }>(
    `select l.pigeonhole_number as "pigeonholeNumber", coalesce(p.number, 0) as number, coalesce(p.stage, 'items') as stage,
       p.after_list as list, p.after_key as key, coalesce(p.after_sequence, 0) as sequence,
       coalesce(p.failures, 0) as failures, coalesce(p.requested, false) as "isRequested",
       p.started_at is null or p.requested_at is not null as starts
     from lanes l
       join sinks k on k.id = l.sink_id
       join pigeonholes g on g.pigeonhole_number = l.pigeonhole_number
       left join parity_passes p on p.sink_id = l.sink_id and p.pigeonhole_number = l.pigeonhole_number
     where l.sink_id = $1 and l.pigeonhole_number = any($2::int4[]) and l.owner is null
       and (p.due_at is null or p.due_at <= now())
       and (p.requested_at is not null or p.started_at is not null
         or exists (${unsettledRepair('l.sink_id', 'l.pigeonhole_number')})
         or ($3::int8 is not null and l.delivered > 0 and now() >= coalesce(p.ended_at, greatest(k.created_at, g.created_at))
           + greatest($3::int8 * interval '1 millisecond', coalesce(p.ended_at - l.delivered_at, interval '0'))))
     order by p.requested_at is null, p.requested is not true, p.started_at, l.pigeonhole_number limit 1`,
    [of.sinkId, of.pigeonholeNumbers, of.everyMs],
  );
  return row;
}

/** SQL query: a repair of the lane that can continue now. Replayed items are verified once the replay has emitted all. */
function unsettledRepair(sinkId: string, pigeonholeNumber: string): string {
  return `select 1 from parity_findings f
    left join replay_lanes r on r.replay = f.repair and r.sink_id = f.sink_id and r.pigeonhole_number = f.pigeonhole_number
    where f.sink_id = ${sinkId} and f.pigeonhole_number = ${pigeonholeNumber} and f.repair is not null
      and (not f.sent or (r.done_at is not null and not ${isBusy}))`;
}

/** SQL condition on a finding `f`: a delivery of its item is not settled. */
const isBusy = `exists (select 1 from deliveries d where d.sink_id + 0 = f.sink_id and d.pigeonhole_number = f.pigeonhole_number
    and d.list = f.list and d.key = f.key and d.state in ('waiting', 'sending', 'retry'))`;

/** Requests a pass over these lanes. A pass in progress starts again. Returns when the ledger stored the request. */
export async function requestPasses(
  ledger: Ledger,
  sinkId: number,
  pigeonholeNumbers: readonly number[],
): Promise<void> {
  await ledger.db.query(
    `insert into parity_passes (sink_id, pigeonhole_number, requested_at)
     select $1, n.number, clock_timestamp() from unnest($2::int4[]) as n (number)
     on conflict (sink_id, pigeonhole_number) do update set requested_at = excluded.requested_at, due_at = null, failures = 0`,
    [sinkId, pigeonholeNumbers],
  );
}

/** Starts the next pass of a lane if one was requested or is due. Returns its number and position. */
export async function openPass(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName): Promise<DuePass> {
  const [row] = await tx.query<DuePass>(
    `insert into parity_passes as p (sink_id, pigeonhole_number, number, started_at) values ($1, $2, 1, clock_timestamp())
     on conflict (sink_id, pigeonhole_number) do update set
       number = p.number + ${starts('1', '0')}, started_at = ${starts('clock_timestamp()', 'p.started_at')},
       stage = ${starts(`'items'`, 'p.stage')}, after_list = ${starts('null', 'p.after_list')},
       after_key = ${starts('null', 'p.after_key')}, after_sequence = ${starts('0', 'p.after_sequence')},
       checked = ${starts('0', 'p.checked')}, requested = ${starts('p.requested_at is not null', 'p.requested')},
       requested_at = null
     returning pigeonhole_number as "pigeonholeNumber", number, stage, after_list as list, after_key as key,
       after_sequence as sequence, failures, requested as "isRequested"`,
    [sinkId, pigeonholeNumber],
  );
  return row!;
}

function starts(then: string, otherwise: string): string {
  return `case when p.started_at is null or p.requested_at is not null then ${then} else ${otherwise} end`;
}

/** Stores the position of a pass after a slice, and the verdicts of the slice. The caller has locked the lane. */
export async function storeSlice(
  tx: Queryable,
  lane: LaneName,
  slice: { readonly pass: number; readonly position: PassPosition; readonly verdicts: readonly Verdict[] },
): Promise<void> {
  const { pass, position, verdicts } = slice;
  await storeVerdicts(tx, lane, pass, verdicts);
  const checked = verdicts.filter((verdict) => verdict.class !== 'undelivered').length;
  await tx.query(
    `update parity_passes set stage = $4, after_list = $5, after_key = $6, after_sequence = $7, checked = checked + $8::int4,
       failures = 0, failure = null, due_at = null
     where sink_id = $1 and pigeonhole_number = $2 and number = $3`,
    [lane.sinkId, lane.pigeonholeNumber, pass, position.stage, position.list, position.key, position.sequence, checked],
  );
}

/**
 * Replaces the findings of these entries. A finding with the same action keeps its number, so that a plan of a repair that
 * an operator confirms later still contains it; a finding whose repair was verified is no longer part of the repair.
 */
export async function storeVerdicts(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  pass: number,
  verdicts: readonly Verdict[],
): Promise<void> {
  if (verdicts.length === 0) return;
  const rows = verdicts.flatMap((verdict) => [
    ...(verdict.class === 'same' ? [] : [{ ...verdict, copy: '' }]),
    ...verdict.copies.map((copy) => ({ ...verdict, ...extraCopy, action: verdict.copyAction, copy })),
  ]);
  await tx.query(
    `delete from parity_findings f using unnest($3::text[], $4::text[], $5::int8[]) as n (list, key, entry)
     where f.sink_id = $1 and f.pigeonhole_number = $2 and f.list = n.list and f.key = n.key and f.entry = n.entry
       and (f.list, f.key, f.entry, f.copy) not in (select * from unnest($6::text[], $7::text[], $8::int8[], $9::text[]))`,
    [
      sinkId,
      pigeonholeNumber,
      verdicts.map(({ list }) => list),
      verdicts.map(({ key }) => key),
      verdicts.map(({ entry }) => entry),
      rows.map(({ list }) => list),
      rows.map(({ key }) => key),
      rows.map(({ entry }) => entry),
      rows.map(({ copy }) => copy),
    ],
  );
  if (rows.length === 0) return;
  await tx.query(
    `insert into parity_findings as f (sink_id, pigeonhole_number, pass, list, key, entry, copy, revision, class, action, cause,
       fields, changed_by, changed_at, object)
     select $1, $2, $3, n.list, n.key, n.entry, n.copy, n.revision, n.class, n.action, n.cause,
       array(select json_array_elements_text(${readableJson('n.fields::json')})), n.changed_by, n.changed_at::timestamptz, n.object::json
     from unnest($4::text[], $5::text[], $6::int8[], $7::text[], $8::int4[], $9::text[], $10::text[], $11::text[], $12::text[],
       $13::text[], $14::text[], $15::text[])
       as n (list, key, entry, copy, revision, class, action, cause, fields, changed_by, changed_at, object)
     on conflict (sink_id, pigeonhole_number, list, key, entry, copy) do update set pass = excluded.pass,
       revision = excluded.revision, class = excluded.class, cause = excluded.cause, fields = excluded.fields,
       changed_by = excluded.changed_by, changed_at = excluded.changed_at, object = excluded.object,
       number = case when f.action is not distinct from excluded.action then f.number else excluded.number end,
       action = excluded.action, seen_at = clock_timestamp(), repair = null, sent = false`,
    [
      sinkId,
      pigeonholeNumber,
      pass,
      rows.map(({ list }) => list),
      rows.map(({ key }) => key),
      rows.map(({ entry }) => entry),
      rows.map(({ copy }) => copy),
      rows.map(({ revision }) => revision),
      rows.map((row) => row.class),
      rows.map(({ action }) => action),
      rows.map(({ cause }) => cause),
      rows.map(({ fields }) => JSON.stringify(fields)),
      rows.map(({ changedBy }) => changedBy),
      rows.map(({ changedAt }) => changedAt),
      rows.map(({ object }) => (object === undefined ? null : JSON.stringify(object))),
    ],
  );
}

const extraCopy = {
  class: 'extra',
  cause: null,
  fields: [],
  changedBy: null,
  changedAt: null,
  object: undefined,
} as const;

/** Ends a pass: findings that it did not confirm are gone. The caller has locked the lane. */
export async function endPass(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName, pass: number): Promise<void> {
  await tx.query(
    `delete from parity_findings where sink_id = $1 and pigeonhole_number = $2 and pass < $3 and repair is null`,
    [sinkId, pigeonholeNumber, pass],
  );
  await tx.query(
    `update parity_passes set started_at = null, stage = 'items', after_list = null, after_key = null, after_sequence = 0,
       ended_at = clock_timestamp(), compared = checked, requested = false, failures = 0, failure = null, due_at = null
     where sink_id = $1 and pigeonhole_number = $2 and number = $3`,
    [sinkId, pigeonholeNumber, pass],
  );
}

/** Stores why nothing could be read, and when the pass tries again. */
export async function failPass(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  { detail, retryInMs }: { readonly detail: string; readonly retryInMs: number },
): Promise<void> {
  await tx.query(
    `update parity_passes set failures = failures + 1, failure = $3,
       due_at = clock_timestamp() + $4::float8 * interval '1 millisecond'
     where sink_id = $1 and pigeonhole_number = $2`,
    [sinkId, pigeonholeNumber, detail, retryInMs],
  );
}

/** A stored finding, as far as a repair or a second comparison needs it. */
export interface StoredFinding extends EntryName {
  readonly number: number;
  readonly copy: string;
  readonly action: RepairAction | null;
  readonly object: string | null;
}

const findingColumns = `f.number, f.list, f.key, f.entry, f.copy, f.action, f.object`;

/** Returns the entries of this pass that waited for a delivery and wait no longer, by number. */
export async function settledMeanwhile(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  pass: number,
  after: number,
  limit: number,
): Promise<StoredFinding[]> {
  return await tx.query<StoredFinding>(
    `select ${findingColumns} from parity_findings f
     where f.sink_id = $1 and f.pigeonhole_number = $2 and f.pass = $3 and f.class = 'undelivered' and f.number > $4
       and f.repair is null and not ${isBusy}
     order by f.number limit $5`,
    [sinkId, pigeonholeNumber, pass, after, limit],
  );
}

/** Returns the entries whose repair has ended, so that they can be compared again. */
export async function repairedFindings(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  limit: number,
): Promise<StoredFinding[]> {
  return await tx.query<StoredFinding>(
    `select ${findingColumns} from parity_findings f
       join replay_lanes r on r.replay = f.repair and r.sink_id = f.sink_id and r.pigeonhole_number = f.pigeonhole_number
     where f.sink_id = $1 and f.pigeonhole_number = $2 and f.repair is not null and f.sent and r.done_at is not null
       and not ${isBusy}
     order by f.number limit $3`,
    [sinkId, pigeonholeNumber, limit],
  );
}

/** Returns what a repair removes with `removeHeld`, and has not removed yet. */
export async function removalsToDo(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  limit: number,
): Promise<StoredFinding[]> {
  return await tx.query<StoredFinding>(
    `select ${findingColumns} from parity_findings f
     where f.sink_id = $1 and f.pigeonhole_number = $2 and f.repair is not null and not f.sent and f.action = 'remove-copy'
     order by f.number limit $3`,
    [sinkId, pigeonholeNumber, limit],
  );
}

/** Deletes findings that a repair has removed at the destination. */
export async function dropFindings(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName, numbers: readonly number[]) {
  await tx.query(
    `delete from parity_findings where sink_id = $1 and pigeonhole_number = $2 and number = any($3::int8[])`,
    [sinkId, pigeonholeNumber, numbers],
  );
}

/** Returns findings that a repair could not remove to the list of findings. */
export async function releaseFindings(tx: Queryable, lane: LaneName, numbers: readonly number[]) {
  await update(tx, lane, numbers, 'repair = null');
}

/** A part of a repair on a lane that is about to be sent. */
export interface RepairPart extends StoredFinding {
  readonly repair: number;
  /** Compared again since the repair was requested (`noteReadAgain`). */
  readonly isReadAgain: boolean;
}

/** Returns the findings of repairs that are to be sent and have not been passed to the delivery yet. */
export async function repairsToSend(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName): Promise<RepairPart[]> {
  return await tx.query<RepairPart>(
    `select ${findingColumns}, f.repair, f.seen_at > r.requested_at as "isReadAgain"
     from parity_findings f join replays r on r.number = f.repair
     where f.sink_id = $1 and f.pigeonhole_number = $2 and f.repair is not null and not f.sent
       and f.action in ('send', 'remove') order by f.number`,
    [sinkId, pigeonholeNumber],
  );
}

/** Notes that these findings of a repair were compared again, and are still true. */
export async function noteReadAgain(tx: Queryable, lane: LaneName, numbers: readonly number[]) {
  await update(tx, lane, numbers, 'seen_at = clock_timestamp()');
}

/** Notes that the replay of the repair sends these findings. */
export async function noteRepairSent(tx: Queryable, lane: LaneName, numbers: readonly number[]) {
  await update(tx, lane, numbers, 'sent = true');
}

async function update(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  numbers: readonly number[],
  change: 'repair = null' | 'seen_at = clock_timestamp()' | 'sent = true',
): Promise<void> {
  await tx.query(
    `update parity_findings set ${change} where sink_id = $1 and pigeonhole_number = $2 and number = any($3::int8[])`,
    [sinkId, pigeonholeNumber, numbers],
  );
}

/** The findings that a repair concerns. */
export interface RepairScope {
  readonly sinkId: number;
  readonly pigeonholeNumbers: readonly number[];
  /** Only findings up to this number: those that the operator saw in the plan. */
  readonly until: number;
}

/** Marks the findings of a repair, except those of a repair in progress. Returns their number. */
export async function markRepair(tx: Queryable, repair: number, of: RepairScope): Promise<number> {
  const rows = await tx.query(
    `update parity_findings set repair = $4 where sink_id = $1 and pigeonhole_number = any($2::int4[]) and number <= $3
       and repair is null and action is not null returning number`,
    [of.sinkId, of.pigeonholeNumbers, of.until, repair],
  );
  return rows.length;
}
