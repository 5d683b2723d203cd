import type { StreamWrite } from '../ledger/lock-pigeonhole.js';
import type { StreamDeletionLimits } from '../ledger/missing-evidence.js';
import { forgetFound, settleMissing } from './missing.js';
import { type NextReads, scheduleStream, type StreamLease } from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';

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

/**
 * Ends a walk in the transaction of its last page. Stores where the next poll starts, the known order, and when the
 * stream is due again. After a sweep, also detects missing items.
 * @returns the number of deleted items
 */
export async function endWalk(write: StreamWrite, walk: OpenWalk, end: LastPage): Promise<number> {
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
  const [stream] = await tx.query<{ differs: boolean; sequence_hash: Buffer | null; sequence_since: Date | null }>(
    `update streams set sweeps = $2, page_count = $3, item_count = $4, set_aside = $5, foreign_rows = $9,
       swept_from = case when $9 = 0 then $6 else swept_from end, -- with foreign rows, the walk proves no deletion
       swept_at = clock_timestamp(),
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
  if (walk.foreign > 0) {
    await forgetFound(tx, lease, walk);
    return 0;
  }
  const unmovedSince = await noteSequence(write, walk, stream!);
  return await settleMissing(write, walk, { limits, unmovedSince, perPage, endedAt: requestedAt });
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
