import type { Queryable } from './drivers/database.js';
import type { StreamLease } from './streams.js';
import type { OpenWalk } from './walk.js';

/*
 * What a walk changes in its stream: page by page, and at its end. The caller's transaction has checked the stream's
 * lease and holds the lock on its row (`lockPigeonhole`).
 */

/** The page's effect on its stream. */
export interface PageEffects {
  readonly perPage: number;
  /** Highest id on the page; null if the list has no ids. */
  readonly highestId: number | null;
  /** True if rows were written that the sweep in progress, or the last one, has not seen. */
  readonly differs: boolean;
}

/** Stores the effect of a walk's page. The first page of a sweep also clears the sweep's due time. */
export async function storePageEffects(
  tx: Queryable,
  streamId: number,
  { kind, pages, startedAt }: Pick<OpenWalk, 'kind' | 'pages' | 'startedAt'>,
  { perPage, highestId, differs }: PageEffects,
): Promise<void> {
  await tx.query(
    `update streams set per_page = $4, highest_id = greatest(highest_id, $5), failures = 0, failure = null,
       sweep_failures = case when $2 = 'sweep' then 0 else sweep_failures end,
       differs = case when $2 = 'sweep' and $3 = 1 then false else differs end or $6,
       -- keep the due time of a sweep that was requested after this sweep started
       sweep_due_at = case when $2 = 'sweep' and $3 = 1 and (sweep_due_at <= $7 or sweep_due_at > clock_timestamp())
         then null else sweep_due_at end
     where id = $1`,
    [streamId, kind, pages, perPage, highestId, differs, startedAt],
  );
}

/**
 * Stores what a walk that has advanced only in memory changes in its stream, apart from its position.
 * @param polledAt end of a poll that showed nothing new; null: there was none
 * @param sweep null: no sweep is in progress; plannedAt: the due time that was stored when it started, in whole
 *   milliseconds, or null if none was
 */
export async function storeQuietStart(
  tx: Queryable,
  streamId: number,
  {
    polledAt,
    sweep,
  }: {
    readonly polledAt: Date | null;
    readonly sweep: { readonly startedAt: Date; readonly plannedAt: Date | null } | null;
  },
): Promise<void> {
  await tx.query(
    `update streams set polled_at = coalesce($2, polled_at),
       -- as in the first page of a sweep; the time for which the sweep was planned may have come since it started
       sweep_due_at = case when $3::timestamptz is not null and (sweep_due_at <= $3 or sweep_due_at > clock_timestamp()
           or date_trunc('milliseconds', sweep_due_at) = $4)
         then null else sweep_due_at end
     where id = $1`,
    [streamId, polledAt, sweep?.startedAt ?? null, sweep?.plannedAt ?? null],
  );
}

/** Records that rows were written which the sweep in progress, or the last one, has not seen. */
export async function markDiffering(tx: Queryable, streamId: number): Promise<void> {
  await tx.query('update streams set differs = true where id = $1', [streamId]);
}

/** Stores where the next poll starts, and the known order. New items are known after a poll, even if a sweep follows. */
export async function storeWalkEnd(
  tx: Queryable,
  streamId: number,
  walk: Pick<OpenWalk, 'kind' | 'checkpoint' | 'checkpointKey' | 'topId'>,
  {
    order,
    cleanWalks,
    cleanDirection,
    promoteAt,
  }: Pick<StreamLease, 'order' | 'cleanWalks' | 'cleanDirection' | 'promoteAt'>,
): Promise<void> {
  const isAscending = order === 'ascending';
  await tx.query(
    `update streams set item_order = $2, clean_walks = $3, clean_direction = $4, promote_at = $5, checkpoint = $6,
       checkpoint_key = $7, head_id = case when $2 = 'descending' then greatest(head_id, $8) end, failures = 0,
       failure = null, gone_count = 0, gone_since = null, gone_at = null,
       polled_at = case when $9::boolean then clock_timestamp() else polled_at end
     where id = $1`,
    [
      streamId,
      order,
      cleanWalks,
      cleanDirection,
      promoteAt,
      isAscending ? walk.checkpoint : null,
      isAscending ? walk.checkpointKey : null,
      walk.topId,
      walk.kind === 'poll',
    ],
  );
}

/** The keys that sweeps have shown, and since when every sweep has shown them in this sequence. */
export interface KeySequence {
  readonly hash: Buffer | null;
  readonly since: Date | null;
}

/**
 * Stores the result of a sweep, and when the next one is due.
 * @param options.isProof false: the walk proves no deletion
 * @returns whether rows were written that the sweep has not seen, and the sequence of keys that sweeps have shown
 */
export async function storeSweepEnd(
  tx: Queryable,
  streamId: number,
  walk: OpenWalk,
  { isProof, nextInMs }: { readonly isProof: boolean; readonly nextInMs: number },
): Promise<KeySequence & { readonly differs: boolean }> {
  const [stream] = await tx.query<KeySequence & { differs: boolean }>(
    `update streams set sweeps = $2, page_count = $3, item_count = $4, set_aside = $5, foreign_rows = $9,
       swept_from = case when $10::boolean then $6 else swept_from end,
       swept_at = clock_timestamp(), cursors_discarded = 0, sweep_failures = 0,
       sweep_due_at = case when sweep_due_at > $8 and sweep_due_at <= clock_timestamp() then sweep_due_at -- requested later
         else clock_timestamp() + $7 * interval '1 millisecond' end
     where id = $1 returning differs, sequence_hash as hash, sequence_since as since`,
    [
      streamId,
      walk.number,
      walk.pages,
      walk.items,
      walk.setAside,
      walk.firstAt,
      nextInMs,
      walk.startedAt,
      walk.foreign,
      isProof,
    ],
  );
  return stream!;
}

/** Stores the sequence of keys that a sweep has shown for the first time. */
export async function storeKeySequence(tx: Queryable, streamId: number, { hash, since }: KeySequence): Promise<void> {
  await tx.query('update streams set sequence_hash = $2, sequence_since = $3 where id = $1', [streamId, hash, since]);
}
