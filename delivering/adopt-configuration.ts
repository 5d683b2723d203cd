import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { useIndexOrder } from '../ledger/sql-expressions.js';
import { notSelected } from './decide-delivery.js';
import { curableReasons, type RecentByList, withNewSettings, withReleased } from './recent-decisions.js';
import { redriveLane } from './dead-letters.js';
import { type LaneLease, lockLane, listNotWanted, markFilling } from '../ledger/lanes.js';

export interface LaneConfiguration {
  readonly configuration: number;
  /** The lists that the sink receives now. */
  readonly lists: readonly string[];
  /** Reasons for withholding that no longer apply. */
  readonly released: readonly string[];
  /** Keyed fingerprint of the sink's settings. If it changes, rejected and withheld changes are tried again. */
  readonly settings: string | null;
}

/** Maximum number of rows per transaction, so that status queries and the lane's other work do not wait long. */
const atOnce = 500;

/**
 * Applies a new configuration to a lane. The following changes become due, and are decided again like all due changes:
 * - the last change of each item in an added list, as far back as the sink's `history` reaches, and the deletions of
 *   items that the sink received earlier;
 * - changes withheld for a reason that no longer applies;
 * - if the sink's settings changed: its dead letters, and the changes that the mapping withheld, because the new
 *   mapping may find a value.
 *
 * Withheld deliveries of replays are not released, because the change's own delivery is released instead.
 *
 * A list may be long, so each slice has its own transaction under the lane's lease. The last transaction stores the new
 * configuration. After a crash, the next holder of the lane starts again and skips deliveries that exist already.
 * @returns the lane's recent decisions, which a change of the settings affects
 * @throws {LedgerError} kind `stale` if another process took over the lane
 */
export async function adoptConfiguration(
  ledger: Ledger,
  lease: LaneLease,
  wanted: LaneConfiguration,
): Promise<RecentByList> {
  const settingsChanged = lease.settings !== null && lease.settings !== wanted.settings;
  if (settingsChanged) await separateDecisions(ledger, lease, wanted.lists);
  const added = lease.configuration === null ? [] : wanted.lists.filter((list) => !lease.lists.includes(list));
  for (const list of added) {
    for (let after: string | null = ''; after !== null;) after = await addSlice(ledger, lease, { list, after, wanted });
  }
  // The mapping may be unchanged although other settings changed. Planning then withholds most of these changes again.
  const curable = settingsChanged ? curableReasons : [];
  const released = [...new Set([...wanted.lists, ...lease.lists])].flatMap((list) =>
    [...wanted.released, ...(wanted.lists.includes(list) ? [listNotWanted, ...curable] : [])].map((reason) => ({
      list,
      reason,
    })),
  );
  while (await releaseSlice(ledger, lease, released));
  return await ledger.db.transaction(async (tx) => {
    await lockLane(tx, lease);
    if (settingsChanged) await redriveLane(tx, lease);
    const recent = withReleased(await recentOf(tx, lease));
    await tx.query(
      `update lanes set configuration = $3, lists = $4, settings = $5, recent = $6, filling_at = clock_timestamp()
       where sink_id = $1 and ref = $2`,
      [lease.sinkId, lease.ref, wanted.configuration, wanted.lists.join(' '), wanted.settings, JSON.stringify(recent)],
    );
    return recent;
  });
}

/** Separates the decisions under the previous settings from those under the new ones. A second run changes nothing. */
async function separateDecisions(ledger: Ledger, lease: LaneLease, lists: readonly string[]): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const { watermark } = await lockLane(tx, lease);
    const recent = withNewSettings(await recentOf(tx, lease), { lists, decidedTo: watermark });
    await tx.query('update lanes set recent = $3 where sink_id = $1 and ref = $2', [
      lease.sinkId,
      lease.ref,
      JSON.stringify(recent),
    ]);
  });
}

async function recentOf(tx: Queryable, { sinkId, ref }: LaneLease): Promise<RecentByList> {
  const rows = await tx.query<{ recent: string }>('select recent from lanes where sink_id = $1 and ref = $2', [
    sinkId,
    ref,
  ]);
  return JSON.parse(rows[0]!.recent) as RecentByList;
}

/**
 * Adds deliveries for the next items of a list, in the order of their keys. A tombstone is added only if the sink
 * received the item. To find that out, the statement goes back through all changes of the item, with one primary-key
 * look-up for each.
 * @returns the key after which the next slice starts; null after the last slice
 */
async function addSlice(
  ledger: Ledger,
  lease: LaneLease,
  { list, after, wanted }: { readonly list: string; readonly after: string; readonly wanted: LaneConfiguration },
): Promise<string | null> {
  return await ledger.db.transaction(async (tx) => {
    const { watermark } = await lockLane(tx, lease);
    await useIndexOrder(tx);
    const rows = await tx.query<{ key: string }>(
      `select key from items where ref = $1 and list = $2 and key > $3 order by key limit ${atOnce}`,
      [lease.ref, list, after],
    );
    const keys = rows.map(({ key }) => key);
    await insertWanted(tx, lease, { list, keys, watermark, configuration: wanted.configuration });
    await markFilling(tx, [lease]);
    return keys.length < atOnce ? null : keys.at(-1)!;
  });
}

async function insertWanted(
  tx: Queryable,
  { sinkId, ref }: LaneLease,
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
         where ref = $2 and list = $3 and key = n.key and last_sequence <= $5 limit 1) i),
     past (key, sequence) as (
       select key, last_sequence from slice where gone
       union all
       select p.key, c.previous_sequence from past p cross join lateral (select previous_sequence from changes
         where ref = $2 and sequence = p.sequence and previous_sequence is not null limit 1) c),
     received as materialized (
       select distinct p.key from past p cross join lateral (select 1 from deliveries
         where sink_id = $1 and ref = $2 and sequence = p.sequence and state = 'delivered' limit 1) d)
     insert into deliveries (sink_id, ref, sequence, list, key, revision, state, configuration)
     select $1, $2, s.last_sequence, $3, s.key, s.revision, 'waiting', $6
     from slice s
       cross join lateral (select found_at from changes where ref = $2 and sequence = s.last_sequence limit 1) c
       cross join lateral (select history_ms from sinks where id = $1 limit 1) k
       left join lateral (select true as known from deliveries
         where sink_id = $1 and ref = $2 and sequence = s.last_sequence and replay = 0 limit 1) d on true
     where d.known is null and case when s.gone then s.key in (select key from received)
       else k.history_ms is null or c.found_at > now() - k.history_ms * interval '1 millisecond' end`,
    [sinkId, ref, slice.list, slice.keys, slice.watermark, slice.configuration],
  );
}

/**
 * Makes due the next slice of the deliveries that were withheld for one of these reasons.
 * @returns true if there may be more
 */
async function releaseSlice(
  ledger: Ledger,
  lease: LaneLease,
  withheld: readonly { readonly list: string; readonly reason: string }[],
): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    await lockLane(tx, lease);
    const rows = await tx.query(
      `update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where ctid = any(array(select d.at from unnest($3::text[], $4::text[]) as n (list, reason)
         cross join lateral (select ctid as at from deliveries where sink_id = $1 and ref = $2 and list = n.list
           and state = 'withheld' and reason = n.reason and replay = 0 limit ${atOnce}) d
         limit ${atOnce})) returning 1 as released`,
      [lease.sinkId, lease.ref, withheld.map(({ list }) => list), withheld.map(({ reason }) => reason)],
    );
    if (rows.length > 0) await markFilling(tx, [lease]); // in this transaction: the changes that are due now are old
    return rows.length === atOnce;
  });
}

/**
 * Releases the records of pigeonholes that were withheld from a sink before one of its syncs selected them. Runs before
 * every cycle of the sink; a second run finds nothing to release.
 * @param workspaceRef the ledger's number for the workspace's own lists
 */
export async function releaseSelected(
  ledger: Ledger,
  { sinkId, workspaceRef, selected }: { sinkId: number; workspaceRef: number; selected: readonly string[] },
): Promise<void> {
  const values = [sinkId, workspaceRef, selected, notSelected];
  const released = `sink_id = $1 and ref = $2 and replay = 0 and list = 'pigeonholes' and state = 'withheld'
    and reason = $4 and key = any($3::text[])`;
  // This function runs in every cycle, so it must neither lock nor write if there is nothing to release.
  const left = await ledger.db.query(`select 1 from deliveries where ${released} limit 1`, values);
  if (left.length === 0) return;
  await ledger.db.transaction(async (tx) => {
    await tx.query('update lanes set due_at = now(), filling_at = clock_timestamp() where sink_id = $1 and ref = $2', [
      sinkId,
      workspaceRef,
    ]);
    await tx.query(
      `update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where ${released}`,
      values,
    );
  });
}
