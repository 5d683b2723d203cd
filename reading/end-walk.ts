import type { DifferingItem } from '../ledger/compare-items.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { forgetDigests, savePage } from '../ledger/pages.js';
import type { StreamWrite } from '../ledger/lock-pigeonhole.js';
import { doubtAboutWalk, type StreamDeletionLimits } from '../ledger/missing-evidence.js';
import { forgetFound, settleMissing } from './missing.js';
import { type NextReads, scheduleStream, type StreamLease } from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';
import type { PageBasics, PageRecord } from './record-page.js';

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
  { walk, end, perPage, requestedAt }: PageBasics,
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
  const { order } = end.order;
  const checkpoint = order === 'ascending' ? [walk.checkpoint, walk.checkpointKey] : [null, null];
  await tx.query(
    `update streams set item_order = $2, clean_walks = $3, clean_direction = $4, promote_at = $5, checkpoint = $6,
       checkpoint_key = $7, head_id = case when $2 = 'descending' then greatest(head_id, $8) end, failures = 0,
       failure = null, gone_count = 0, gone_since = null, gone_at = null,
       -- new items are known now, even if the cycle continues with a long sweep
       polled_at = case when $9::boolean then clock_timestamp() else polled_at end where id = $1`,
    [
      lease.streamId,
      order,
      end.order.cleanWalks,
      end.order.cleanDirection,
      end.order.promoteAt,
      ...checkpoint,
      walk.topId,
      walk.kind === 'poll',
    ],
  );
  await tx.query('delete from walks where stream_id = $1 and kind = $2', [lease.streamId, walk.kind]);
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
  const [stream] = await tx.query<{ differs: boolean; sequence_hash: Buffer | null; sequence_since: Date | null }>(
    `update streams set sweeps = $2, page_count = $3, item_count = $4, set_aside = $5, foreign_rows = $9,
       swept_from = case when $10::boolean then $6 else swept_from end, -- otherwise, the walk proves no deletion
       swept_at = clock_timestamp(), cursors_discarded = 0, sweep_failures = 0,
       sweep_due_at = case when sweep_due_at > $8 and sweep_due_at <= clock_timestamp() then sweep_due_at -- requested later
         else clock_timestamp() + $7 * interval '1 millisecond' end
     where id = $1 returning differs, sequence_hash, sequence_since`,
    [
      lease.streamId,
      walk.number,
      walk.pages,
      walk.items,
      walk.setAside,
      walk.firstAt,
      next?.afterNothing.sweepInMs ?? 0,
      walk.startedAt,
      walk.foreign,
      doubt === null,
    ],
  );
  if (lease.pageCount !== walk.pages) {
    await tx.query('delete from pages where stream_id = $1 and ordinal >= $2', [lease.streamId, walk.pages]);
  }
  const open = await tx.query('select 1 from missing where stream_id = $1 limit 1', [lease.streamId]);
  const differs = walk.differs || stream!.differs || (walk.number > 1 && lease.pageCount !== walk.pages);
  // No item can have disappeared: the pages are those of the previous sweep, or this is the stream's first sweep and the
  // ledger held none of its items before.
  if (!differs && open.length === 0) return 0;
  if (doubt === 'foreign-rows') {
    await forgetFound(tx, lease, walk);
    return 0;
  }
  const unmovedSince = await noteSequence(write, walk, stream!);
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
async function noteSequence(
  { ledger, tx, lease }: StreamWrite,
  walk: OpenWalk,
  before: { sequence_hash: Buffer | null; sequence_since: Date | null },
): Promise<Date> {
  const [row] = await tx.query<{ sequence: string | null }>(
    `select md5(string_agg(array_to_string(keys, ','), ',' order by ordinal)) as sequence
     from pages where stream_id = $1 and ordinal < $2`,
    [lease.streamId, walk.pages],
  );
  const hash = ledger.hash.content(row!.sequence ?? '');
  if (before.sequence_hash?.equals(hash) === true && before.sequence_since !== null) return before.sequence_since;
  await tx.query('update streams set sequence_hash = $2, sequence_since = $3 where id = $1', [
    lease.streamId,
    hash,
    walk.firstAt,
  ]);
  return walk.firstAt!;
}

/**
 * Stores the walk's position and the page's digest, and drops the digests of other pages that hold the changed rows.
 */
export async function rememberPage(
  tx: Queryable,
  lease: StreamLease,
  page: PageRecord,
  { written, known, outdated }: { written: number; known: readonly DifferingItem[]; outdated: boolean },
): Promise<void> {
  const { walk, swept, perPage, highestId } = page;
  // A sweep has seen the rows that it writes. It may not have seen rows that a poll or a filtered request writes, so it
  // must compare keys when it ends.
  const differs = written > 0 && walk?.kind !== 'sweep';
  await Promise.all([
    known.length > 0 ? forgetDigests(tx, lease, rangeOf(known)) : undefined,
    swept !== null ? savePage(tx, lease, swept, outdated ? null : swept.digest) : undefined,
    walk !== null
      ? saveWalk(tx, lease, walk, { perPage, highestId, differs })
      : differs && tx.query('update streams set differs = true where id = $1', [lease.streamId]),
  ]);
}

/** Returns the range of ids; null if the list has no ids, because its rows can then be on any page. */
function rangeOf(differingItems: readonly DifferingItem[]): { low: number; high: number } | null {
  const ids = differingItems
    .map(({ item }) => (/^\d+$/.test(item.key) ? Number(item.key) : null))
    .filter((id) => id !== null);
  return ids.length < differingItems.length ? null : { low: Math.min(...ids), high: Math.max(...ids) };
}

/** The page's effect on its stream. */
interface PageEffects {
  readonly perPage: number;
  /** Highest id on the page; null if the list has no ids. */
  readonly highestId: number | null;
  /** True if rows were written that the sweep in progress, or the last one, has not seen. */
  readonly differs: boolean;
}

/** Stores a walk's position. The first page of a sweep also clears the sweep's due time. */
export async function saveWalk(
  tx: Queryable,
  lease: StreamLease,
  walk: OpenWalk,
  { perPage, highestId, differs }: PageEffects,
): Promise<void> {
  await tx.query(
    `with stream as (
       update streams set per_page = $18, highest_id = greatest(highest_id, $19), failures = 0, failure = null,
         sweep_failures = case when $2 = 'sweep' then 0 else sweep_failures end,
         differs = case when $2 = 'sweep' and $14 = 1 then false else differs end or $20,
         -- keep the due time of a sweep that was requested after this sweep started
         sweep_due_at = case when $2 = 'sweep' and $14 = 1 and (sweep_due_at <= $4 or sweep_due_at > clock_timestamp())
           then null else sweep_due_at end
       where id = $1)
     insert into walks (stream_id, kind, number, started_at, first_at, cursor, checkpoint, check_key, direction,
       page_first, page_last, until_id, top_id, pages, items, set_aside, differs, through,
       foreign_rows)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $21, $22)
     on conflict (stream_id, kind) do update set number = excluded.number, started_at = excluded.started_at,
       first_at = excluded.first_at, cursor = excluded.cursor, checkpoint = excluded.checkpoint,
       check_key = excluded.check_key, direction = excluded.direction, page_first = excluded.page_first,
       page_last = excluded.page_last, until_id = excluded.until_id, top_id = excluded.top_id, pages = excluded.pages,
       items = excluded.items, set_aside = excluded.set_aside, differs = excluded.differs, through = excluded.through,
       foreign_rows = excluded.foreign_rows`,
    [
      lease.streamId,
      walk.kind,
      walk.number,
      walk.startedAt,
      walk.firstAt,
      walk.cursor,
      walk.checkpoint,
      walk.checkpointKey,
      walk.direction,
      walk.pageFirst,
      walk.pageLast,
      walk.untilId,
      walk.topId,
      walk.pages,
      walk.items,
      walk.setAside,
      walk.differs,
      perPage,
      highestId,
      differs,
      walk.through,
      walk.foreign,
    ],
  );
}
