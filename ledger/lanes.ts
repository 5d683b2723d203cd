import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { LedgerError } from './ledger-error.js';
import { byItem, byOrder } from './sql-expressions.js';
import { writeIntended } from './deliveries.js';

/* Owner of the tables `lanes` and `intents`: every statement that writes them. */

/** The reason for withholding a change of a list that the sink no longer receives. */
export const listNotWanted = 'list-not-wanted';

type LaneName = { readonly sinkId: number; readonly pigeonholeNumber: number };

export interface LaneLease {
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly epoch: number;
  readonly memory: Readonly<Record<string, unknown>>;
  /** True if the previous holder did not release the lane. Its deliveries in flight then have to be settled first. */
  readonly takenOver: boolean;
  /** Time for which no delivery on the lane has succeeded, in ms; 0 if the lane works. */
  readonly failingForMs: number;
  /** Number of the configuration under which the lane last sent; null: it has sent nothing yet. */
  readonly configuration: number | null;
  /** The lists that the sink received under that configuration. */
  readonly lists: readonly string[];
  /** Keyed fingerprint of the sink's settings under that configuration; null: not recorded. */
  readonly settings: string | null;
  /** The latest decisions about changes, by list, as JSON (delivering/recent-decisions.ts). */
  readonly recent: string;
}

export interface LaneWork {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Milliseconds until there is something to do; 0 or less: now. Null: nothing is left. */
  readonly dueInMs: number | null;
  /** True if this lane fails and another lane has delivered since the failure started. The sink is then not at fault. */
  readonly otherLanesDeliver: boolean;
  /** True if the sink has ever delivered something on one of the lanes that `laneWork` was asked about. */
  readonly hasDelivered: boolean;
}

interface LanesOfSink {
  readonly sinkId: number;
  readonly pigeonholeNumbers: readonly number[];
  readonly configuration: number;
  readonly order: 'item' | 'pigeonhole';
}

/**
 * Returns when each lane of a sink in these pigeonholes is due, the least recently tried lane first. On a lane that
 * keeps one order for all items, new changes and replays wait for deliveries that the sink has postponed.
 */
export async function laneWork(
  ledger: Ledger,
  { sinkId, pigeonholeNumbers, configuration, order }: LanesOfSink,
): Promise<LaneWork[]> {
  return await ledger.db.query<LaneWork>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.workspace, p.pigeonhole_id as "pigeonholeId",
       coalesce(l.failing_since < max(l.delivered_at) over (), false) as "otherLanesDeliver",
       max(l.delivered_at) over () is not null as "hasDelivered", extract(epoch from
         case when l.owner is not null then l.lease_expires_at -- once it has ended, deliveries in flight have to be settled
              when l.retry_at > now() then l.retry_at
              when l.configuration is distinct from $3 then now() -- the lists that the sink receives may have changed
              when p.next_sequence - 1 > coalesce(l.watermark, 0)
                or exists (select 1 from replay_lanes r where r.sink_id = $1
                  and r.pigeonhole_number = p.pigeonhole_number and r.done_at is null)
                then case when $4::boolean then coalesce(l.due_at, now()) else now() end
              else l.due_at end - now())::float8 * 1000 as "dueInMs"
     from pigeonholes p left join lanes l on l.pigeonhole_number = p.pigeonhole_number and l.sink_id = $1
     where p.pigeonhole_number = any($2::int[])
     order by greatest(l.delivered_at, l.retry_at) nulls first, p.pigeonhole_number`,
    [sinkId, pigeonholeNumbers, configuration, order === 'pigeonhole'],
  );
}

/**
 * Adds the missing lanes of these sinks in a pigeonhole. Call it before the pigeonhole is read. A sink that has a lane
 * from the start receives every revision; a sink that is added later starts with the last change of each item.
 */
export async function ensureLanes(ledger: Ledger, pigeonholeNumber: number, sinkIds: readonly number[]): Promise<void> {
  const missing = await ledger.db.query<{ id: number }>(
    `select id from unnest($2::int4[]) as s (id)
     where not exists (select 1 from lanes l where l.sink_id = s.id and l.pigeonhole_number = $1)`,
    [pigeonholeNumber, sinkIds],
  );
  for (const { id } of missing) await addLane(ledger.db, id, pigeonholeNumber);
}

/**
 * Adds a lane and stores the current sequence. Of the changes up to that sequence, the sink receives only the last one
 * of each item, and only if it is not older than the sink's `history`. A second call changes nothing.
 *
 * A new lane waits for any transaction that has locked the pigeonhole's row. Otherwise it could read data that is being
 * erased, because an erasure locks only the lanes that it found (`lock-order.ts`).
 */
export async function addLane(tx: Queryable, sinkId: number, pigeonholeNumber: number): Promise<void> {
  const known = await tx.query('select 1 from lanes where sink_id = $1 and pigeonhole_number = $2', [
    sinkId,
    pigeonholeNumber,
  ]);
  if (known.length > 0) return;
  await tx.query(
    `with place as materialized (select pigeonhole_number, next_sequence from pigeonholes
       where pigeonhole_number = $2 for share)
     insert into lanes (sink_id, pigeonhole_number, history_until, history_since, watermark)
     select s.id, p.pigeonhole_number, p.next_sequence - 1, now() - s.history_ms * interval '1 millisecond',
       case when s.history_ms = 0 then p.next_sequence - 1 else 0 end
     from sinks s, place p where s.id = $1 on conflict (sink_id, pigeonhole_number) do nothing`,
    [sinkId, pigeonholeNumber],
  );
}

/**
 * Acquires the lease of a lane; returns undefined while another attempt holds it. Unlike a new reader of a stream, a
 * new sender has to wait until the previous sender's lease has ended: until then, a request of the previous sender may
 * still be on its way.
 */
export async function acquireLane(
  ledger: Ledger,
  lane: { sinkId: number; pigeonholeNumber: number; owner: string; leaseMs: number },
): Promise<LaneLease | undefined> {
  return await ledger.db.transaction(async (tx) => {
    await addLane(tx, lane.sinkId, lane.pigeonholeNumber);
    const [before] = await tx.query<{ owner: string | null; held: boolean }>(
      `select owner, owner is not null and lease_expires_at > now() as held
       from lanes where sink_id = $1 and pigeonhole_number = $2 for update`,
      [lane.sinkId, lane.pigeonholeNumber],
    );
    if (before === undefined || before.held) return undefined;
    if (before.owner !== null) await openIntents(tx, lane.pigeonholeNumber, lane.sinkId);
    const rows = await tx.query<TakenRow>(
      `update lanes set owner = $3, epoch = epoch + 1, lease_expires_at = now() + $4 * interval '1 millisecond'
       where sink_id = $1 and pigeonhole_number = $2
       returning sink_id as "sinkId", pigeonhole_number as "pigeonholeNumber", epoch, memory, configuration, lists,
         settings, recent, coalesce(extract(epoch from now() - failing_since)::float8 * 1000, 0) as "failingForMs"`,
      [lane.sinkId, lane.pigeonholeNumber, lane.owner, lane.leaseMs],
    );
    const row = rows[0]!;
    return {
      ...row,
      memory: JSON.parse(row.memory) as Record<string, unknown>,
      lists: row.lists.split(' ').filter(Boolean),
      takenOver: before.owner !== null,
    };
  });
}

interface TakenRow extends Omit<LaneLease, 'memory' | 'lists' | 'takenOver'> {
  readonly memory: string;
  readonly lists: string;
}

/**
 * Releases a lane that has nothing in flight, and stores when it is due again: the earliest due time of the open
 * deliveries that no earlier delivery blocks. If nothing is left to send, the lane no longer counts as failing, and its
 * initial fill ends if every stream has been read completely.
 */
export async function releaseLane(ledger: Ledger, lease: LaneLease, order: 'item' | 'pigeonhole'): Promise<void> {
  await ledger.db.query(
    `with first as materialized (select ${order === 'pigeonhole' ? firstOfLane : firstOfItems} as due_at),
     place as materialized (select next_sequence - 1 as newest from pigeonholes where pigeonhole_number = $2)
     update lanes l set owner = null, lease_expires_at = null, due_at = first.due_at,
       filling_at = case when ${isEmpty} and ${isReadWhole} then null else l.filling_at end,
       failure = case when ${isEmpty} then null else l.failure end,
       failing_since = case when ${isEmpty} then null else l.failing_since end,
       retry_at = case when ${isEmpty} then null else l.retry_at end
     from first, place where l.sink_id = $1 and l.pigeonhole_number = $2 and l.epoch = $3`,
    [lease.sinkId, lease.pigeonholeNumber, lease.epoch],
  );
}

/**
 * SQL condition: nothing is left to send. A recorded failure then no longer applies, because the changes that failed
 * are settled.
 */
const isEmpty = `(first.due_at is null and l.watermark >= place.newest and not exists (
  select 1 from replay_lanes r where r.sink_id = l.sink_id and r.pigeonhole_number = l.pigeonhole_number
    and r.done_at is null))`;

/**
 * SQL condition: every stream has been read completely at least once. Until then, new changes count as the initial fill
 * of the sinks.
 */
const isReadWhole = `(exists (select 1 from streams s where s.pigeonhole_number = l.pigeonhole_number) and not exists (
  select 1 from streams s where s.pigeonhole_number = l.pigeonhole_number and s.wanted and s.swept_at is null
    and s.gone_at is null))`;

const firstOfLane = `(select coalesce(d.due_at, now()) from (
    (select sequence, replay, due_at from deliveries o where ${byOrder('o', '$1', '$2')}
       and o.state in ('waiting', 'retry') order by o.sequence, o.replay limit 1)
    union all
    (select sequence, replay, due_at from deliveries o where ${byOrder('o', '$1', '$2')} and o.state = 'sending'
       order by o.sequence, o.replay limit 1)) d
  order by d.sequence, d.replay limit 1)`;

/**
 * SQL for the earliest due time, considering only the first open delivery of each item. Reads the open deliveries once,
 * in the order of an index. Looking up, for each delivery, whether its item has an earlier one would take hours in a
 * long backlog.
 */
const firstOfItems = `(select min(coalesce(first.due_at, now())) from (
    select distinct on (d.list, d.key) d.due_at from deliveries d
    where ${byItem('d', '$1', '$2')} and d.state in ('waiting', 'sending', 'retry')
    order by d.list, d.key, d.sequence, d.replay) first)`;

/**
 * Marks these lanes as being filled. They are about to send old changes, so the age of a change does not mean that the
 * sink is behind.
 */
export async function markFilling(tx: Queryable, lanes: readonly LaneName[]): Promise<void> {
  await tx.query(
    `with locked as materialized (select sink_id, pigeonhole_number from lanes
       where (sink_id, pigeonhole_number) in (select * from unnest($1::int4[], $2::int4[]))
         order by sink_id, pigeonhole_number for update)
     update lanes l set filling_at = clock_timestamp() from locked where l.sink_id = locked.sink_id
       and l.pigeonhole_number = locked.pigeonhole_number`,
    [lanes.map(({ sinkId }) => sinkId), lanes.map(({ pigeonholeNumber }) => pigeonholeNumber)],
  );
}

/** Moves the watermark of a lane forward, never back. The caller has locked the lane's row. */
export async function moveWatermark(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  reached: number,
): Promise<void> {
  await tx.query('update lanes set watermark = greatest(watermark, $3) where sink_id = $1 and pigeonhole_number = $2', [
    sinkId,
    pigeonholeNumber,
    reached,
  ]);
}

/** Makes these lanes due now, with old changes to send (`markFilling`). The caller has locked them, or locks one alone. */
export async function makeDue(tx: Queryable, lanes: readonly LaneName[]): Promise<void> {
  await tx.query(
    `update lanes l set due_at = now(), filling_at = clock_timestamp()
     from unnest($1::int4[], $2::int4[]) as n (sink_id, pigeonhole_number) where l.sink_id = n.sink_id
       and l.pigeonhole_number = n.pigeonhole_number`,
    [lanes.map(({ sinkId }) => sinkId), lanes.map(({ pigeonholeNumber }) => pigeonholeNumber)],
  );
}

/**
 * Ends the waits of a sink's lanes. They become due a millisecond apart, in their former order. If all had the same
 * time, every attempt would start with the same lane, and a lane that always fails would block the others. The caller
 * has locked the lanes.
 */
export async function endWaits(tx: Queryable, sinkId: number): Promise<void> {
  await tx.query(
    `update lanes l set due_at = least(l.due_at, now()),
       retry_at = case when l.retry_at > now() then now() - o.place * interval '1 millisecond' else l.retry_at end
     from (select pigeonhole_number, row_number() over (order by retry_at desc nulls last,
       pigeonhole_number desc) - 1 as place
       from lanes where sink_id = $1) o
     where l.sink_id = $1 and l.pigeonhole_number = o.pigeonhole_number`,
    [sinkId],
  );
}

/** Replaces the recent decisions of a lane. */
export async function keepRecent(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName, recent: string): Promise<void> {
  await tx.query('update lanes set recent = $3 where sink_id = $1 and pigeonhole_number = $2', [
    sinkId,
    pigeonholeNumber,
    recent,
  ]);
}

/** Stores that a lane has taken over a configuration. It is about to send old changes (`markFilling`). */
export async function keepConfiguration(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  {
    configuration,
    lists,
    settings,
    recent,
  }: Pick<LaneLease, 'lists' | 'settings' | 'recent'> & { configuration: number },
): Promise<void> {
  await tx.query(
    `update lanes set configuration = $3, lists = $4, settings = $5, recent = $6, filling_at = clock_timestamp()
     where sink_id = $1 and pigeonhole_number = $2`,
    [sinkId, pigeonholeNumber, configuration, lists.join(' '), settings, recent],
  );
}

/** Stores up to which sequence a lane was observed, and under which configuration. */
export async function noteObserved(
  tx: Queryable,
  { sinkId, pigeonholeNumber }: LaneName,
  { reached, configuration }: { readonly reached: number; readonly configuration: number },
): Promise<void> {
  await tx.query(
    'update lanes set observed = $3, observed_configuration = $4 where sink_id = $1 and pigeonhole_number = $2',
    [sinkId, pigeonholeNumber, reached, configuration],
  );
}

/** Locks the lanes that were observed, in the order of lock-order.ts. */
export async function lockObserved(tx: Queryable): Promise<void> {
  await tx.query('select 1 from lanes where observed is not null order by sink_id, pigeonhole_number for update');
}

/** Forgets the observation of the lanes of all sinks but these. The caller has locked the lanes. */
export async function forgetObserved(tx: Queryable, exceptSinkIds: readonly number[]): Promise<void> {
  await tx.query('update lanes set observed = null where observed is not null and sink_id <> all($1::int4[])', [
    exceptSinkIds,
  ]);
}

/**
 * SQL statement of the script that runs after a restore: whatever was in flight in the backup may have been delivered
 * since, so every lane is taken over, and its next holder first checks what the sink has.
 */
export const takeOverRestoredLanes = `update lanes set owner = coalesce(owner, 'restored'), lease_expires_at = now(), epoch = epoch + 1 where true;`;

/** Extends the lease of a lane. @returns false if another attempt has acquired the lane */
export async function renewLane(ledger: Ledger, lease: LaneLease, leaseMs: number): Promise<boolean> {
  const rows = await ledger.db.query(
    `update lanes set lease_expires_at = now() + $4 * interval '1 millisecond'
     where sink_id = $1 and pigeonhole_number = $2 and epoch = $3 returning epoch`,
    [lease.sinkId, lease.pigeonholeNumber, lease.epoch, leaseMs],
  );
  return rows.length > 0;
}

/**
 * Replaces the sink's memory on the lane, before the sink makes a call that depends on it.
 * @throws {LedgerError} kind `stale` if the lane was taken over
 */
export async function rememberOnLane(
  ledger: Ledger,
  lease: LaneLease,
  memory: Readonly<Record<string, unknown>>,
): Promise<void> {
  const rows = await ledger.db.query(
    'update lanes set memory = $4::json where sink_id = $1 and pigeonhole_number = $2 and epoch = $3 returning epoch',
    [lease.sinkId, lease.pigeonholeNumber, lease.epoch, JSON.stringify(memory)],
  );
  if (rows.length === 0) throw staleLane(lease);
}

function staleLane({ sinkId, pigeonholeNumber }: LaneLease): LedgerError {
  return new LedgerError('stale', `the lane of sink ${sinkId} in pigeonhole row ${pigeonholeNumber} was taken over`);
}

/**
 * Gives up a lane that has a batch in flight. After `takeableInMs`, the next holder can acquire the lane; it settles
 * that batch first.
 */
export async function handOverLane(ledger: Ledger, lease: LaneLease, takeableInMs: number): Promise<void> {
  await renewLane(ledger, lease, takeableInMs);
}

/**
 * Ends the leases of a process that has certainly ended. Call it only while holding the lock of the store's folder,
 * which proves that no other process is sending. The lanes keep their owner, so that the next holder settles what was
 * in flight.
 */
export async function endLeases(ledger: Ledger): Promise<void> {
  await ledger.db.query('update lanes set lease_expires_at = now() where owner is not null');
}

/** A lane whose row is locked. */
export interface LockedLane {
  readonly watermark: number;
  readonly historyUntil: number;
  readonly historySince: Date | null;
  /** The newest sequence of the pigeonhole. */
  readonly newest: number;
  /** True if a replay has not yet gone through all changes of the lane. */
  readonly replaying: boolean;
}

/** Locks the lane for a commit. @throws {LedgerError} kind `stale` if another attempt has acquired the lane */
export async function lockLane(tx: Queryable, lease: LaneLease): Promise<LockedLane> {
  const [lane] = await tx.query<LockedLane>(
    `select l.watermark, l.history_until as "historyUntil", l.history_since as "historySince",
       p.next_sequence - 1 as newest, exists (select 1 from replay_lanes r where r.sink_id = $1
       and r.pigeonhole_number = $2 and r.done_at is null) as replaying
     from lanes l join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
     where l.sink_id = $1 and l.pigeonhole_number = $2 and l.epoch = $3 for update of l`,
    [lease.sinkId, lease.pigeonholeNumber, lease.epoch],
  );
  if (lane === undefined) throw staleLane(lease);
  return lane;
}

/** The effect of a batch on its lane. */
export interface LaneOutcome {
  /** If the lane fails: the reason, and the wait before its next attempt. Null: it works. Undefined: unchanged. */
  readonly failing: { readonly detail: string; readonly retryInMs: number } | null | undefined;
  /** Number of deliveries that the destination accepted, including replays. */
  readonly delivered: number;
  /** Replaces the sink's memory; undefined: unchanged. */
  readonly memory: Readonly<Record<string, unknown>> | undefined;
  /** Replaces the lane's recent decisions; undefined: unchanged. */
  readonly recent?: string | undefined;
  /** The watermark, unless it is further; undefined: unchanged. */
  readonly reached: number | undefined;
}

export async function noteOnLane(tx: Queryable, lease: LaneLease, lane: LaneOutcome): Promise<void> {
  await tx.query(
    `update lanes set memory = coalesce($3::json, memory),
         failure = case when $7 then $4::text else failure end,
         failing_since = case when not $7 then failing_since
           when $4::text is not null then coalesce(failing_since, clock_timestamp()) end,
         retry_at = case when $7 then clock_timestamp() + $5::float8 * interval '1 millisecond' else retry_at end,
         delivered = delivered + $6::int,
         filling_at = case when filling_at is not null and $7 and $4::text is null then clock_timestamp() else filling_at end,
         delivered_at = case when $6::int > 0 then clock_timestamp() else delivered_at end,
         recent = coalesce($8::text, recent), watermark = greatest(watermark, $9::int8)
       where sink_id = $1 and pigeonhole_number = $2`,
    [
      lease.sinkId,
      lease.pigeonholeNumber,
      lane.memory === undefined ? null : JSON.stringify(lane.memory),
      lane.failing?.detail ?? null,
      lane.failing?.retryInMs ?? null,
      lane.delivered,
      lane.failing !== undefined,
      lane.recent ?? null,
      lane.reached ?? null,
    ],
  );
}

/*
 * Before a lane calls its sink, it commits what it is about to send as one row: the intent (decision 0053). The transaction
 * that stores the outcomes deletes it. If the holder of the lane ends before that, or another step must know what is being
 * sent, the intent becomes deliveries that are `sending`.
 */

/** A batch that a lane is about to send. */
export interface Intent {
  readonly configuration: number;
  /** The lane's watermark after the batch is settled. */
  readonly reached: number;
  readonly changes: readonly {
    readonly sequence: number;
    /** The number of the replay that emits the change; 0 for the change's own delivery. */
    readonly replay: number;
    /** Whether it is sent with the identity of its person. */
    readonly identity: boolean;
  }[];
}

/** Stores the intent of a lane. The caller has locked the lane's row. */
export async function keepIntent(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName, intent: Intent): Promise<void> {
  await tx.query(
    `insert into intents (sink_id, pigeonhole_number, reached, configuration, sequences, replays, identities)
     values ($1, $2, $3, $4, $5::int8[], $6::int4[], $7::boolean[])`,
    [
      sinkId,
      pigeonholeNumber,
      intent.reached,
      intent.configuration,
      intent.changes.map(({ sequence }) => sequence),
      intent.changes.map(({ replay }) => replay),
      intent.changes.map(({ identity }) => identity),
    ],
  );
}

/**
 * Deletes the intent of a lane. The caller has locked the lane's row.
 * @returns false if it has become deliveries since it was committed
 */
export async function endIntent(tx: Queryable, { sinkId, pigeonholeNumber }: LaneName): Promise<boolean> {
  const rows = await tx.query(
    'delete from intents where sink_id = $1 and pigeonhole_number = $2 returning pigeonhole_number',
    [sinkId, pigeonholeNumber],
  );
  return rows.length > 0;
}

/**
 * Turns intents into deliveries that are `sending`, and moves the watermarks. The caller has locked these lanes. Call
 * this to find out what is being sent, or to take over from a holder that ended. A second run changes nothing.
 * @param sinkId the lane's sink; null: all lanes of the pigeonhole
 */
export async function openIntents(
  tx: Queryable,
  pigeonholeNumber: number,
  sinkId: number | null = null,
): Promise<void> {
  const intents = await tx.query<{ sink_id: number; reached: number }>(
    'select sink_id, reached from intents where pigeonhole_number = $1 and ($2::int4 is null or sink_id = $2)',
    [pigeonholeNumber, sinkId],
  );
  for (const { sink_id: id, reached } of intents) {
    const lane = { sinkId: id, pigeonholeNumber };
    await writeIntended(tx, lane);
    await moveWatermark(tx, lane, reached);
    await endIntent(tx, lane);
  }
}
