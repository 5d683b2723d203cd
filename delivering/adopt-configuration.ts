import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { useIndexOrder } from '../ledger/addressed-indexes.js';
import { redriveLane } from '../ledger/dead-letters.js';
import { type LaneLease, lockLane } from '../ledger/lanes.js';

/** Why something is not sent that was due when the sink was still sent its list. */
export const listNotWanted = 'list-not-wanted';

export interface LaneWishes {
  readonly configuration: number;
  /** The lists that the sink wants now. */
  readonly lists: readonly string[];
  /** Reasons of withholding that no longer hold. */
  readonly released: readonly string[];
  /** Reasons of withholding that other settings may cure. */
  readonly curable: readonly string[];
  /** Keyed fingerprint of the sink's settings: what another setting refused or withheld is tried again under this one. */
  readonly settings: string | null;
}

/** Items, or deliveries, that one transaction reads: the lane's other work, and status, wait for no longer. */
const atOnce = 500;

/**
 * Brings a lane under another configuration. What the watermark has passed because nobody wanted it, and what was
 * withheld for a reason that is gone, is due now, and so are dead letters when the sink's settings have changed; whether
 * it is sent is decided anew, as for everything that is due.
 * So is what a mapping withheld for want of a value or by its condition: the other one may find it.
 * Of a list that is wanted for the first time each item's last change is taken, as a new sink would: as far back as its
 * `history` reaches. Of one that was wanted before, also what has become of the items that were sent then. Of what was withheld from a replay nothing is released: the change itself is.
 *
 * A list may be long, so this works in slices, each a transaction of its own under the lane's lease. The lane is under
 * the new configuration with the last of them: after a crash, the next holder starts again and finds what is done.
 * @throws {LedgerError} kind `stale` when the lane was taken over meanwhile
 */
export async function adoptConfiguration(ledger: Ledger, lease: LaneLease, wishes: LaneWishes): Promise<void> {
  const added = lease.configuration === null ? [] : wishes.lists.filter((list) => !lease.lists.includes(list));
  for (const list of added) {
    // oxlint-disable-next-line no-await-in-loop -- slice after slice
    for (let after: string | null = ''; after !== null;) after = await addSlice(ledger, lease, { list, after, wishes });
  }
  const isAnother = lease.settings !== null && lease.settings !== wishes.settings;
  // Most of it is withheld again where the mapping is the same: that is decided when it is planned.
  const cured = isAnother ? wishes.curable : [];
  const released = [...new Set([...wishes.lists, ...lease.lists])].flatMap((list) =>
    [...wishes.released, ...(wishes.lists.includes(list) ? [listNotWanted, ...cured] : [])].map((reason) => ({
      list,
      reason,
    })),
  );
  // oxlint-disable-next-line no-await-in-loop
  while (await releaseSlice(ledger, lease, released));
  await ledger.db.transaction(async (tx) => {
    await lockLane(tx, lease);
    if (isAnother) await redriveLane(tx, lease);
    await tx.query(
      'update lanes set configuration = $3, lists = $4, settings = $5, filling_at = clock_timestamp() where sink_id = $1 and ref = $2',
      [lease.sinkId, lease.ref, wishes.configuration, wishes.lists.join(' '), wishes.settings],
    );
  });
}

/**
 * Takes in the next items of a list, by key. A tombstone is of interest where the sink was sent the item before: its
 * changes are followed back, each by the primary key, until one was delivered.
 * @returns the key behind which the next slice begins; null: this was the last one
 */
async function addSlice(
  ledger: Ledger,
  lease: LaneLease,
  { list, after, wishes }: { readonly list: string; readonly after: string; readonly wishes: LaneWishes },
): Promise<string | null> {
  return await ledger.db.transaction(async (tx) => {
    const { watermark } = await lockLane(tx, lease);
    await useIndexOrder(tx);
    const rows = await tx.query<{ key: string }>(
      `select key from items where ref = $1 and list = $2 and key > $3 order by key limit ${atOnce}`,
      [lease.ref, list, after],
    );
    const keys = rows.map(({ key }) => key);
    await insertWanted(tx, lease, { list, keys, watermark, configuration: wishes.configuration });
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
     told as materialized (
       select distinct p.key from past p cross join lateral (select 1 from deliveries
         where sink_id = $1 and ref = $2 and sequence = p.sequence and state = 'delivered' limit 1) d)
     insert into deliveries (sink_id, ref, sequence, list, key, revision, state, configuration)
     select $1, $2, s.last_sequence, $3, s.key, s.revision, 'waiting', $6
     from slice s
       cross join lateral (select found_at from changes where ref = $2 and sequence = s.last_sequence limit 1) c
       cross join lateral (select history_ms from sinks where id = $1 limit 1) k
       left join lateral (select true as known from deliveries
         where sink_id = $1 and ref = $2 and sequence = s.last_sequence and replay = 0 limit 1) d on true
     where d.known is null and case when s.gone then s.key in (select key from told)
       else k.history_ms is null or c.found_at > now() - k.history_ms * interval '1 millisecond' end`,
    [sinkId, ref, slice.list, slice.keys, slice.watermark, slice.configuration],
  );
}

/** Makes the next deliveries due that were withheld for these reasons. @returns whether there may be more */
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
    return rows.length === atOnce;
  });
}

/** Why a sink was not given the record of a pigeonhole that none of its syncs had selected. */
export const notSelected = 'not-selected';

/**
 * Releases the records of pigeonholes that were withheld from a sink before one of its syncs selected them. Made to be
 * run before every turn of the sink: what is released is withheld no more.
 * @param workspaceRef the row that stands for the workspace's lists
 */
export async function releaseSelected(
  ledger: Ledger,
  { sinkId, workspaceRef, selected }: { sinkId: number; workspaceRef: number; selected: readonly string[] },
): Promise<void> {
  const values = [sinkId, workspaceRef, selected, notSelected];
  const released = `sink_id = $1 and ref = $2 and replay = 0 and list = 'pigeonholes' and state = 'withheld'
    and reason = $4 and key = any($3::text[])`;
  // Asked at every turn, so nothing is locked and nothing written when nothing is left.
  const left = await ledger.db.query(`select 1 from deliveries where ${released} limit 1`, values);
  if (left.length === 0) return;
  await ledger.db.transaction(async (tx) => {
    await tx.query('update lanes set due_at = now() where sink_id = $1 and ref = $2', [sinkId, workspaceRef]);
    await tx.query(
      `update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where ${released}`,
      values,
    );
  });
}
