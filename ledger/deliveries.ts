import { type AttemptRow, insertingAttempts } from './attempts.js';
import type { Queryable } from './drivers/database.js';
import type { SqlValue } from './drivers/sql-values.js';
import type { ItemObject } from './sink-objects.js';
import { byItem, byOrder } from './sql-expressions.js';

/*
 * Owner of the table `deliveries`: every statement that writes it. A row is one change for one sink. Its states:
 *
 * ```
 * a change after the watermark ─► waiting      an earlier change of its item is not settled
 *                              ├► withheld     consent, the selection, or a list that the sink no longer receives
 *                              ├► superseded   the sink receives only the latest revision, and there is a later one
 *                              ├► dead         an operator has to confirm it
 *                              └► intent ─► delivered, withheld, dead
 *                                       ├► retry, waiting ─► intent
 *                                       └► sending           the outcome is unknown, and has to be looked up
 * ```
 *
 * An intent is a row of its own while a batch is being sent (intents.ts). It becomes deliveries that are `sending` if its
 * outcome may stay unknown, or if another step has to know what is being sent.
 *
 * The holder of a lane moves its deliveries along these arrows. The other statements run when an operator redrives dead
 * letters, when a sink's configuration, its selection or a person's consent changes, when a person is erased, and when
 * retention has ended. A delivery is only written under its lane's lock (lock-order.ts).
 */

type LaneName = { readonly sinkId: number; readonly pigeonholeNumber: number };

/** Names a delivery on its lane. */
interface DeliveryName {
  readonly sequence: number;
  /** The number of the replay that emitted the change; 0 for the change's own delivery. */
  readonly replay: number;
}

/** A delivery as a lane writes it. */
export interface DeliveryRow extends DeliveryName {
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  /** Whether the change was sent with the identity of its person; null: not sent. */
  readonly identity: boolean | null;
  readonly state: 'waiting' | 'sending' | 'retry' | 'delivered' | 'withheld' | 'superseded' | 'dead';
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly retryInMs: number | null;
}

/** Returns the delivery of a change in a state, without a reason, a detail or a wait unless `more` has them. */
export function toDelivery<State extends Pick<DeliveryRow, 'state'>>(
  {
    sequence,
    replay,
    list,
    key,
    revision,
    attempts,
  }: Omit<DeliveryRow, 'identity' | 'state' | 'reason' | 'detail' | 'retryInMs'>,
  more: State & Partial<DeliveryRow>,
): DeliveryRow & State {
  const row = { sequence, replay, list, key, revision, identity: null, attempts };
  return { ...row, reason: null, detail: null, retryInMs: null, ...more };
}

/**
 * The result of one delivery. `waiting`: not sent, due again immediately or after `retryInMs`; `retry`: failed, due
 * again after `retryInMs`; `sending`: outcome unknown, looked up after `retryInMs` or when the lane is taken over;
 * `withheld`: the sink had nothing to do.
 */
export interface Settled extends DeliveryRow {
  readonly state: 'delivered' | 'waiting' | 'retry' | 'sending' | 'withheld' | 'dead';
  /** Objects at the destination that changed: those of related items, then the item's own. */
  readonly objects?: readonly ItemObject[];
}

/** SQL value of `redriven` after an upsert: a delivery stays redriven until it is settled. */
const redrivenWhileOpen = `case when excluded.state in ('waiting', 'sending', 'retry') then deliveries.redriven end`;

/**
 * Writes deliveries on which a lane decided, or which it settled: inserts those of changes that had none, and updates the
 * others. A delivery that is not sent keeps the identity and the detail of its last attempt.
 * @param configuration under which they were sent or decided; null: that of their rows, which then exist
 * @param attempts added to the log of attempts by the same statement
 */
export async function writeDeliveries(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  configuration: number | null,
  rows: readonly DeliveryRow[],
  attempts: readonly AttemptRow[] = [],
): Promise<void> {
  if (rows.length === 0) return;
  const tried = insertingAttempts(15, attempts);
  await tx.query(
    `${tried.sql}insert into deliveries (sink_id, pigeonhole_number, configuration, updated_at, sequence, replay, list, key,
       revision, identity, state, reason, detail, attempts, due_at)
     select $1, $2, coalesce($3::int4, 0), clock_timestamp(), n.sequence, n.replay, n.list, n.key, n.revision, n.identity,
       n.state, n.reason, n.detail, n.attempts, clock_timestamp() + n.retry_in_ms * interval '1 millisecond'
     from unnest($4::int8[], $5::int4[], $6::text[], $7::text[], $8::int4[], $9::boolean[], $10::text[], $11::text[],
       $12::text[], $13::int4[], $14::float8[])
       as n (sequence, replay, list, key, revision, identity, state, reason, detail, attempts, retry_in_ms)
     on conflict (sink_id, pigeonhole_number, sequence, replay) do update
       set state = excluded.state, reason = excluded.reason,
       identity = coalesce(excluded.identity, deliveries.identity),
       detail = case when excluded.state in ('withheld', 'superseded') then coalesce(excluded.detail, deliveries.detail)
         else excluded.detail end,
       attempts = excluded.attempts, due_at = excluded.due_at, configuration = coalesce($3, deliveries.configuration),
       redriven = ${redrivenWhileOpen}, updated_at = excluded.updated_at`,
    [
      sinkId,
      pigeonholeNumber,
      configuration,
      rows.map(({ sequence }) => sequence),
      rows.map(({ replay }) => replay),
      rows.map(({ list }) => list),
      rows.map(({ key }) => key),
      rows.map(({ revision }) => revision),
      rows.map(({ identity }) => identity),
      rows.map(({ state }) => state),
      rows.map(({ reason }) => reason),
      rows.map(({ detail }) => detail),
      rows.map(({ attempts }) => attempts),
      rows.map(({ retryInMs }) => retryInMs),
      ...tried.values,
    ],
  );
}

/**
 * Inserts or updates the deliveries of a lane's intent as `sending`: their outcome is not known. The sink's look-ups, an
 * erasure and retention then find them like any other delivery. The caller has locked the lane.
 */
export async function writeIntended(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName): Promise<void> {
  await tx.query(
    `insert into deliveries (sink_id, pigeonhole_number, configuration, updated_at, sequence, replay, list, key,
       revision, state, identity)
     select b.sink_id, b.pigeonhole_number, b.configuration, b.begun_at, s.sequence, s.replay, c.list, c.key,
       c.revision, 'sending', s.identity
     from intents b cross join lateral unnest(b.sequences, b.replays, b.identities) as s (sequence, replay, identity)
       cross join lateral (select * from changes where pigeonhole_number = b.pigeonhole_number
         and sequence = s.sequence limit 1) c
     where b.sink_id = $1 and b.pigeonhole_number = $2
     on conflict (sink_id, pigeonhole_number, sequence, replay) do update set state = excluded.state, reason = null,
       identity = excluded.identity, configuration = excluded.configuration, due_at = null,
       updated_at = excluded.updated_at`,
    [sinkId, pigeonholeNumber],
  );
}

/**
 * For sinks that receive only the latest revision: supersedes the earlier revision of an item if it is withheld, so
 * that the item counts as withheld once. A withheld removal for which the sink had nothing to do (`identity` false)
 * stays, because it records that the sink does not hold the item.
 */
export async function supersedeWithheld(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  added: readonly (DeliveryName & { readonly revision: number })[],
): Promise<void> {
  const later = added.filter(({ revision, replay }) => revision > 1 && replay === 0);
  if (later.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, pigeonhole_number, sequence, replay, list, key, revision, configuration, state,
       updated_at)
     select d.sink_id, d.pigeonhole_number, d.sequence, d.replay, d.list, d.key, d.revision,
       d.configuration, 'superseded', clock_timestamp()
     from unnest($3::int8[]) as n (sequence)
       cross join lateral (select previous_sequence from changes where pigeonhole_number = $2 and sequence = n.sequence
         limit 1) c
       cross join lateral (select * from deliveries where sink_id = $1 and pigeonhole_number = $2
         and sequence = c.previous_sequence and replay = 0 limit 1) d
     where d.state = 'withheld' and d.identity is distinct from false
     on conflict (sink_id, pigeonhole_number, sequence, replay) do update set state = excluded.state, reason = null,
       updated_at = excluded.updated_at`,
    [sinkId, pigeonholeNumber, later.map(({ sequence }) => sequence)],
  );
}

/** Supersedes dead letters of older revisions after a later one was delivered. */
export async function supersedeDead(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  settled: readonly DeliveryRow[],
): Promise<void> {
  const delivered = settled.filter(({ state }) => state === 'delivered');
  if (delivered.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, pigeonhole_number, sequence, replay, list, key, revision, configuration, state,
       updated_at)
     select d.sink_id, d.pigeonhole_number, d.sequence, d.replay, d.list, d.key, d.revision,
       d.configuration, 'superseded', clock_timestamp()
     from (select n.list, n.key, max(n.sequence) as sequence from unnest($3::text[], $4::text[], $5::int8[])
         as n (list, key, sequence) group by n.list, n.key) p
       cross join lateral (select * from deliveries d where ${byItem('d', '$1', '$2')} and d.list = p.list
         and d.key = p.key and d.sequence < p.sequence and d.state = 'dead' offset 0) d
     on conflict (sink_id, pigeonhole_number, sequence, replay) do update set state = excluded.state, reason = null,
       updated_at = excluded.updated_at`,
    [
      sinkId,
      pigeonholeNumber,
      delivered.map(({ list }) => list),
      delivered.map(({ key }) => key),
      delivered.map(({ sequence }) => sequence),
    ],
  );
}

/** The reason of a delivery that counts as delivered because a replay delivered its change. */
const byReplay = 'by-replay';

/**
 * Marks withheld and dead deliveries as delivered if a replay delivered their change, and takes `identity` from the
 * replay. The change then counts once, and is not sent again when the cause is resolved. Dead letters of earlier replays
 * of the change are superseded.
 */
export async function settleReplayed(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  settled: readonly DeliveryRow[],
): Promise<void> {
  const delivered = settled.filter(({ state, replay }) => state === 'delivered' && replay > 0);
  if (delivered.length === 0) return;
  await tx.query(
    `insert into deliveries (sink_id, pigeonhole_number, sequence, replay, list, key, revision, configuration, state,
       reason, identity, attempts, updated_at)
       select d.sink_id, d.pigeonhole_number, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration,
         case when d.replay = 0 then 'delivered' else 'superseded' end, case when d.replay = 0 then '${byReplay}' end,
         case when d.replay = 0 then n.identity else d.identity end, d.attempts, clock_timestamp()
       from unnest($3::int8[], $4::int4[], $5::boolean[]) as n (sequence, replay, identity)
         cross join lateral (select * from deliveries where sink_id = $1 and pigeonhole_number = $2
           and sequence = n.sequence and replay < n.replay offset 0) d
       where d.state = 'dead' or (d.state = 'withheld' and d.replay = 0)
       on conflict (sink_id, pigeonhole_number, sequence, replay) do update
         set state = excluded.state, reason = excluded.reason,
         detail = null, identity = excluded.identity, due_at = null, updated_at = excluded.updated_at`,
    [
      sinkId,
      pigeonholeNumber,
      delivered.map(({ sequence }) => sequence),
      delivered.map(({ replay }) => replay),
      delivered.map(({ identity }) => identity),
    ],
  );
}

/**
 * Schedules the look-up of each change that the previous holder left in flight: `afterMs` after the change was sent.
 * Meanwhile the lane continues with other items.
 */
export async function postponeLookUps(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  afterMs: number,
): Promise<void> {
  await tx.query(
    `update deliveries set due_at = updated_at + $3 * interval '1 millisecond'
     where ${byOrder('deliveries', '$1', '$2')} and state = 'sending' and due_at is null`,
    [sinkId, pigeonholeNumber, afterMs],
  );
}

/** Makes the open deliveries due now that a sink has postponed. The caller has locked the sink's lanes. */
export async function endPostponements(tx: Queryable, sinkId: number): Promise<void> {
  await tx.query(
    `update deliveries set due_at = now()
     where sink_id = $1 and state in ('waiting', 'retry') and due_at > now()`,
    [sinkId],
  );
}

/** The columns of a dead letter that is sent again. */
const redriven = `state = 'waiting', reason = null, attempts = 0, due_at = null, redriven = true,
  updated_at = clock_timestamp()`;

/**
 * Makes dead letters due again and resets their attempts. The caller has locked the lanes.
 * @param chosen an SQL condition on the delivery `d` and its sink `s`, with the values of its parameters from $1 on
 * @param confirmed dead letters with this cause are removals, which the operator thereby confirms
 * @returns the number of dead letters by lane
 */
export async function redriveDead(
  tx: Queryable,
  chosen: { readonly condition: string; readonly values: readonly SqlValue[] },
  confirmed: string,
): Promise<(LaneName & { readonly changes: number })[]> {
  return await tx.query<LaneName & { readonly changes: number }>(
    `with due as (
       update deliveries u set ${redriven},
         identity = case when u.reason = $${chosen.values.length + 1} then false else u.identity end
       from deliveries d join sinks s on s.id = d.sink_id
       where ${chosen.condition} and u.sink_id = d.sink_id and u.pigeonhole_number = d.pigeonhole_number
         and u.sequence = d.sequence and u.replay = d.replay
       returning u.sink_id, u.pigeonhole_number)
     select sink_id as "sinkId", pigeonhole_number as "pigeonholeNumber", count(*)::int as changes from due
       group by sink_id, pigeonhole_number`,
    [...chosen.values, confirmed],
  );
}

/** Makes a lane's dead letters due again, except those with these causes. */
export async function redriveDeadOfLane(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  except: readonly string[],
): Promise<void> {
  await tx.query(
    `update deliveries set ${redriven} where sink_id = $1 and pigeonhole_number = $2 and state = 'dead'
       and reason <> all($3::text[])`,
    [sinkId, pigeonholeNumber, except],
  );
}

/** The columns of a delivery that is decided again. */
const dueAgain = `state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()`;

/**
 * Makes deliveries due that were withheld for one of these reasons, at most `limit` of them.
 * @returns their number
 */
export async function releaseWithheld(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  withheld: readonly { readonly list: string; readonly reason: string }[],
  limit: number,
): Promise<number> {
  const rows = await tx.query(
    `update deliveries set ${dueAgain}
     where ctid = any(array(select d.at from unnest($3::text[], $4::text[]) as n (list, reason)
       cross join lateral (select ctid as at from deliveries where sink_id = $1 and pigeonhole_number = $2
         and list = n.list and state = 'withheld' and reason = n.reason and replay = 0 limit $5::int4) d
       limit $5::int4)) returning 1 as released`,
    [sinkId, pigeonholeNumber, withheld.map(({ list }) => list), withheld.map(({ reason }) => reason), limit],
  );
  return rows.length;
}

/** Deliveries of one list that were withheld for one reason, of these items. */
interface WithheldItems extends LaneName {
  readonly list: string;
  readonly reason: string;
  readonly keys: readonly string[];
}

const ofWithheldItems = `sink_id = $1 and pigeonhole_number = $2 and replay = 0 and list = $3 and state = 'withheld'
  and reason = $4 and key = any($5::text[])`;

export async function anyWithheldItem(tx: Queryable, of: WithheldItems): Promise<boolean> {
  const rows = await tx.query(`select 1 from deliveries where ${ofWithheldItems} limit 1`, [
    of.sinkId,
    of.pigeonholeNumber,
    of.list,
    of.reason,
    of.keys,
  ]);
  return rows.length > 0;
}

export async function releaseWithheldItems(tx: Queryable, of: WithheldItems): Promise<void> {
  await tx.query(`update deliveries set ${dueAgain} where ${ofWithheldItems}`, [
    of.sinkId,
    of.pigeonholeNumber,
    of.list,
    of.reason,
    of.keys,
  ]);
}

/**
 * Adds deliveries of the last changes of these items that lie before the watermark and have none. A tombstone is added
 * only if the sink received the item. To find that out, the statement goes back through all changes of the item, with
 * one primary-key look-up for each.
 */
export async function addWaiting(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  slice: {
    readonly list: string;
    readonly keys: readonly string[];
    readonly watermark: number;
    readonly configuration: number;
  },
): Promise<void> {
  await tx.query(
    `with recursive slice as materialized (
       select i.* from unnest($4::text[]) as n (key) cross join lateral (
         select key, revision, last_sequence, payload is null as gone from items
         where pigeonhole_number = $2 and list = $3 and key = n.key and last_sequence <= $5 limit 1) i),
     past (key, sequence) as (
       select key, last_sequence from slice where gone
       union all
       select p.key, c.previous_sequence from past p cross join lateral (select previous_sequence from changes
         where pigeonhole_number = $2 and sequence = p.sequence and previous_sequence is not null limit 1) c),
     received as materialized (
       select distinct p.key from past p cross join lateral (select 1 from deliveries
         where sink_id = $1 and pigeonhole_number = $2 and sequence = p.sequence and state = 'delivered' limit 1) d)
     insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, configuration)
     select $1, $2, s.last_sequence, $3, s.key, s.revision, 'waiting', $6
     from slice s
       cross join lateral (select found_at from changes where pigeonhole_number = $2 and sequence = s.last_sequence
         limit 1) c
       cross join lateral (select history_ms from sinks where id = $1 limit 1) k
       left join lateral (select true as known from deliveries
         where sink_id = $1 and pigeonhole_number = $2 and sequence = s.last_sequence and replay = 0 limit 1) d on true
     where d.known is null and case when s.gone then s.key in (select key from received)
       else k.history_ms is null or c.found_at > now() - k.history_ms * interval '1 millisecond' end`,
    [sinkId, pigeonholeNumber, slice.list, slice.keys, slice.watermark, slice.configuration],
  );
}

/**
 * Makes the last changes of these people's items due again if the sink holds the items in another form than it would
 * receive now (`refreshInteractions` in delivering/consent-changes.ts says which). Uses one index look-up for each
 * person, item and delivery, and one for each row that is written (decision 0038).
 */
export async function refreshShown(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  people: readonly (readonly [attendeeId: string, mayShow: boolean])[],
  rules: {
    /** Consent states whose records the sink accepts, and whether it accepts people whose record has not been read. */
    readonly accepts: readonly string[];
    readonly acceptsUnknown: boolean;
    /** Causes of dead letters that stay. */
    readonly except: readonly string[];
    /** Only items of this list that were withheld and may be sent now; null: all. */
    readonly withheldList: string | null;
  },
): Promise<void> {
  await tx.query(
    `insert into deliveries (sink_id, pigeonhole_number, sequence, replay, list, key, revision, configuration, state,
       identity, updated_at)
     select d.sink_id, d.pigeonhole_number, d.sequence, d.replay, d.list, d.key, d.revision, d.configuration, 'waiting',
       case when n.shown then null else d.identity end, clock_timestamp()
     from (
       select l.attendee_id, l.may_show,
         case when a.payload is not null then coalesce(a.consent = any($5::text[]), $6) else $6 end as shown
       from unnest($3::int8[], $4::boolean[]) as l (attendee_id, may_show)
         left join lateral (select payload, consent from items
           where pigeonhole_number = $2 and list = 'attendees' and key = l.attendee_id::text limit 1) a on true) n
       cross join lateral (select last_sequence from items
         where pigeonhole_number = $2 and attendee_id = n.attendee_id and visibility = 'named' and list <> 'attendees'
           and payload is not null and ($8::text is null or list = $8) offset 0) i
       cross join lateral (select * from deliveries
         where sink_id = $1 and pigeonhole_number = $2 and sequence = i.last_sequence and replay = 0 limit 1) d
       left join lateral (select true as later from deliveries -- a later replay was sent with the identity
         where sink_id = $1 and pigeonhole_number = $2 and sequence = d.sequence and replay > 0 and identity
           and updated_at > d.updated_at limit 1) r on true
     where (n.may_show or not n.shown)
       and (d.state in ('delivered', 'withheld')
         or (not n.shown and d.state = 'dead' and d.reason <> all($7::text[])))
       and (d.identity is distinct from n.shown or (not n.shown and r.later))
       and ($8::text is null or (n.shown and d.state = 'withheld' and d.reason like 'consent-%'))
     on conflict (sink_id, pigeonhole_number, sequence, replay) do update
       set state = excluded.state, reason = null, due_at = null,
       identity = excluded.identity, updated_at = excluded.updated_at`,
    [
      sinkId,
      pigeonholeNumber,
      people.map(([attendeeId]) => attendeeId),
      people.map(([, mayShow]) => mayShow),
      rules.accepts,
      rules.acceptsUnknown,
      rules.except,
      rules.withheldList,
    ],
  );
}

/**
 * SQL query for the places of all deliveries of these changes: $1 is the pigeonhole, $2 the sequences. Uses one look-up
 * in the primary key for each, whatever the statistics (decision 0038).
 */
const placesOf = `select d.place from unnest($2::int8[]) as n (sequence) cross join sinks s
  cross join lateral (select ctid as place from deliveries where sink_id = s.id and pigeonhole_number = $1
    and sequence = n.sequence
    offset 0) d`;

/** Ends withheld deliveries and dead letters of changes whose data retention has removed. */
export async function expireDeliveries(
  tx: Queryable,
  pigeonholeNumber: number,
  sequences: readonly number[],
): Promise<void> {
  await tx.query(
    `update deliveries d set state = 'superseded', reason = 'expired'
     where d.ctid = any(array(${placesOf})) and d.state in ('withheld', 'dead')`,
    [pigeonholeNumber, sequences],
  );
}

/** The columns of a delivery whose item is erased: it is never sent again, and keeps no text from the destination. */
const endedByErasure = `detail = null, due_at = case when d.state = 'sending' then d.due_at end,
  reason = case when d.state in ('waiting', 'retry', 'dead', 'withheld') then null else d.reason end,
  state = case when d.state in ('waiting', 'retry', 'dead', 'withheld') then 'superseded' else d.state end`;

/**
 * Ends the deliveries of erased changes that are neither delivered nor being sent. Also deletes the destinations'
 * responses from all deliveries of these changes, including delivered ones.
 */
export async function supersedeErased(
  tx: Queryable,
  pigeonholeNumber: number,
  sequences: readonly number[],
): Promise<void> {
  await tx.query(`update deliveries d set ${endedByErasure} where d.ctid = any(array(${placesOf}))`, [
    pigeonholeNumber,
    sequences,
  ]);
}

/**
 * Does the same for deliveries that a lane has settled, if their item was erased while they were being sent. The last
 * change of an erased item, its removal, keeps its outcome.
 */
export async function supersedeErasedMeanwhile(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  settled: readonly DeliveryName[],
): Promise<void> {
  await tx.query(
    `update deliveries d set ${endedByErasure} where d.ctid = any(array(
       select o.at from unnest($3::int8[], $4::int4[]) as n (sequence, replay)
         cross join lateral (select ctid as at, list, key from deliveries where sink_id = $1 and pigeonhole_number = $2
           and sequence = n.sequence and replay = n.replay limit 1) o
         cross join lateral (select 1 from items i where i.pigeonhole_number = $2 and i.list = o.list and i.key = o.key
           and i.erased and n.sequence < i.last_sequence limit 1) e))`,
    [sinkId, pigeonholeNumber, settled.map(({ sequence }) => sequence), settled.map(({ replay }) => replay)],
  );
}
