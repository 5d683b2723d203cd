import type { DifferingItem } from '../ledger/items/compare-items.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { dropPagesFrom, forgetDigests, keySequence, savePage } from '../ledger/pages.js';
import type { StreamWrite } from '../ledger/lock-pigeonhole.js';
import { doubtAboutWalk, type StreamDeletionLimits } from './missing-evidence.js';
import { forgetFound, settleMissing } from './missing.js';
import { type NextReads, scheduleStream, type StreamLease } from '../ledger/streams.js';
import {
  type KeySequence,
  markDiffering,
  storeKeySequence,
  storePageEffects,
  storeSweepEnd,
  storeWalkEnd,
} from '../ledger/streams-walked.js';
import type { OpenWalk } from '../ledger/walk.js';
import { dropWalk, saveWalk } from '../ledger/walks.js';
import type { PageRecord } from './record-page.js';

/** The input of `endWalk` that does not depend on the last page. */
export interface WalkEnd {
  readonly order: Pick<StreamLease, 'order' | 'cleanWalks' | 'cleanDirection' | 'promoteAt'>;
  /** Null: this cycle continues to read the stream, and schedules its next read later. */
  readonly next: NextReads | null;
  /** True if earlier pages of this cycle had changes. */
  readonly foundNews: boolean;
  readonly limits: StreamDeletionLimits;
}

/** The complete input of `endWalk`. */
interface LastPage extends WalkEnd {
  /** True if the page had changes. */
  readonly hasNews: boolean;
  readonly perPage: number;
  readonly requestedAt: Date;
}

/** Ends the page's walk if this is its last page. @returns the number of deleted items */
export async function endIfLast(
  write: StreamWrite,
  { walk, end, perPage, requestedAt }: PageRecord,
  hasNews: boolean,
): Promise<number> {
  return walk === null || end === null ? 0 : await endWalk(write, walk, { ...end, hasNews, perPage, requestedAt });
}

/**
 * Ends a walk in the transaction of its last page. Stores where the next poll starts, the known order, and when the
 * stream is due again. After a sweep, also detects missing items.
 * @returns the number of deleted items
 */
async function endWalk(write: StreamWrite, walk: OpenWalk, end: LastPage): Promise<number> {
  const { tx, lease } = write;
  await storeWalkEnd(tx, lease.streamId, walk, end.order);
  await dropWalk(tx, lease.streamId, walk.kind);
  const deleted = walk.kind === 'sweep' ? await endSweep(write, walk, end) : 0;
  // The first sweep finds items that existed before it, which is no sign of activity.
  const foundNews = lease.sweeps > 0 && (end.foundNews || end.hasNews || deleted > 0);
  if (end.next !== null) await scheduleStream(tx, lease, end.next, foundNews);
  return deleted;
}

async function endSweep(
  write: StreamWrite,
  walk: OpenWalk,
  { limits, next, perPage, requestedAt }: LastPage,
): Promise<number> {
  const { tx, lease } = write;
  const doubt = doubtAboutWalk(walk);
  const stream = await storeSweepEnd(tx, lease.streamId, walk, {
    isProof: doubt === null,
    nextInMs: next?.afterNothing.sweepInMs ?? 0,
  });
  if (lease.pageCount !== walk.pages) await dropPagesFrom(tx, lease.streamId, walk.pages);
  const open = await tx.query('select 1 from missing where stream_id = $1 limit 1', [lease.streamId]);
  const differs = walk.differs || stream.differs || (walk.number > 1 && lease.pageCount !== walk.pages);
  // No item can have disappeared: the pages are those of the previous sweep, or this is the stream's first sweep and the
  // ledger held none of its items before.
  if (!differs && open.length === 0) return 0;
  if (doubt === 'foreign-rows') {
    await forgetFound(tx, lease, walk);
    return 0;
  }
  const unmovedSince = await noteSequence(write, walk, stream);
  return await settleMissing(write, walk, {
    limits,
    unmovedSince,
    perPage,
    endedAt: requestedAt,
    isProof: doubt === null,
  });
}

/**
 * Returns the instant since which every sweep has shown the same keys in the same sequence. Cursors and page boundaries
 * may differ.
 */
async function noteSequence({ ledger, tx, lease }: StreamWrite, walk: OpenWalk, before: KeySequence): Promise<Date> {
  const hash = ledger.hash.content(await keySequence(tx, lease.streamId, walk.pages));
  if (before.hash?.equals(hash) === true && before.since !== null) return before.since;
  await storeKeySequence(tx, lease.streamId, { hash, since: walk.firstAt! });
  return walk.firstAt!;
}

/**
 * Stores the walk's position and the page's digest, and drops the digests of other pages that hold the changed rows.
 * @param options.outdated true: the ledger is newer than the page
 */
export async function rememberPage(
  tx: Queryable,
  { streamId, pigeonholeNumber, list }: StreamLease,
  { items, walk, end, swept, perPage, highestId }: PageRecord,
  { differingItems, outdated }: { differingItems: readonly DifferingItem[]; outdated: boolean },
): Promise<void> {
  const known = differingItems.filter((each) => each.known !== undefined);
  // A sweep has seen the rows that it writes. It may not have seen rows that a poll or a filtered request writes, so it
  // must compare keys when it ends.
  const differs = differingItems.length > 0 && walk?.kind !== 'sweep';
  const keys = items?.map(({ key }) => key);
  await Promise.all([
    known.length > 0 && forgetDigests(tx, { pigeonholeNumber, list }, rangeOf(known)),
    keys !== undefined && swept !== null && savePage(tx, streamId, { ...swept, keys }, outdated ? null : swept.digest),
    walk !== null && storePageEffects(tx, streamId, walk, { perPage, highestId, differs }),
    walk !== null && end === null && saveWalk(tx, streamId, walk),
    walk === null && differs && markDiffering(tx, streamId),
  ]);
}

/** Returns the range of ids; null if the list has no ids, because its rows can then be on any page. */
function rangeOf(differingItems: readonly DifferingItem[]): { low: number; high: number } | null {
  const ids = differingItems
    .map(({ item }) => (/^\d+$/.test(item.key) ? Number(item.key) : null))
    .filter((id) => id !== null);
  return ids.length < differingItems.length ? null : { low: Math.min(...ids), high: Math.max(...ids) };
}
