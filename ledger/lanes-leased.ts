import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { LedgerError } from './ledger-error.js';
import { byItem, byOrder } from './sql-expressions.js';
import { addLane } from './lanes.js';
import { openIntents } from './intents.js';

/* The lease of a lane: who sends on it, from when to when, and what the next sender has to know. */

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
