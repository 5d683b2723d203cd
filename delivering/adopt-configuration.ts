import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { useIndexOrder } from '../ledger/sql-expressions.js';
import { notSelected } from './decide-delivery.js';
import { curableReasons } from '../sinks/all-reasons.js';
import { type RecentByList, withNewSettings, withReleased } from './recent-decisions.js';
import { waitsForAPerson } from './dead-letters.js';
import {
  addWaiting,
  anyWithheldItem,
  redriveDeadOfLane,
  releaseWithheld,
  releaseWithheldItems,
} from '../ledger/deliveries.js';
import { type LaneLease, lockLane } from '../ledger/lanes-leased.js';
import { listNotWanted, keepConfiguration, keepRecent, makeDue, markFilling } from '../ledger/lanes.js';

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
    if (settingsChanged) await redriveDeadOfLane(tx, lease, waitsForAPerson);
    const recent = withReleased(await recentOf(tx, lease));
    await keepConfiguration(tx, lease, { ...wanted, recent: JSON.stringify(recent) });
    return recent;
  });
}

/** Separates the decisions under the previous settings from those under the new ones. A second run changes nothing. */
async function separateDecisions(ledger: Ledger, lease: LaneLease, lists: readonly string[]): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const { watermark } = await lockLane(tx, lease);
    const recent = withNewSettings(await recentOf(tx, lease), { lists, decidedTo: watermark });
    await keepRecent(tx, lease, JSON.stringify(recent));
  });
}

async function recentOf(tx: Queryable, { sinkId, pigeonholeNumber }: LaneLease): Promise<RecentByList> {
  const rows = await tx.query<{ recent: string }>(
    'select recent from lanes where sink_id = $1 and pigeonhole_number = $2',
    [sinkId, pigeonholeNumber],
  );
  return JSON.parse(rows[0]!.recent) as RecentByList;
}

/**
 * Adds deliveries for the next items of a list, in the order of their keys.
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
      `select key from items where pigeonhole_number = $1 and list = $2 and key > $3 order by key limit ${atOnce}`,
      [lease.pigeonholeNumber, list, after],
    );
    const keys = rows.map(({ key }) => key);
    await addWaiting(tx, lease, { list, keys, watermark, configuration: wanted.configuration });
    await markFilling(tx, [lease]);
    return keys.length < atOnce ? null : keys.at(-1)!;
  });
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
    const released = await releaseWithheld(tx, lease, withheld, atOnce);
    if (released > 0) await markFilling(tx, [lease]); // in this transaction: the changes that are due now are old
    return released === atOnce;
  });
}

/**
 * Releases the records of pigeonholes that were withheld from a sink before one of its syncs selected them. Runs before
 * every cycle of the sink; a second run finds nothing to release.
 * @param workspaceNumber the ledger's number for the workspace's own lists
 */
export async function releaseSelected(
  ledger: Ledger,
  { sinkId, workspaceNumber, selected }: { sinkId: number; workspaceNumber: number; selected: readonly string[] },
): Promise<void> {
  const withheld = {
    sinkId,
    pigeonholeNumber: workspaceNumber,
    list: 'pigeonholes',
    reason: notSelected,
    keys: selected,
  };
  // This function runs in every cycle, so it must neither lock nor write if there is nothing to release.
  if (!(await anyWithheldItem(ledger.db, withheld))) return;
  await ledger.db.transaction(async (tx) => {
    await makeDue(tx, [withheld]);
    await releaseWithheldItems(tx, withheld);
  });
}
