import type { Queryable } from './drivers/database.js';
import type { StreamLease } from './streams.js';

/* Owner of the table `missing`: every statement that writes it. What a missing item proves is decided in `reading/`. */

/** A missing item, as the walks have shown it so far. */
export interface MissingItem {
  readonly key: string;
  /** Number of walks of an ascending list that showed its neighbours on one page without it. */
  readonly walks: number;
  readonly since: Date;
  /** `held`: its deletion waits for an operator; `kept`: an operator has rejected it. */
  readonly state: 'open' | 'held' | 'kept';
}

/**
 * Records the items that a complete walk did not show, all of the stream. Items of the stream that are not among them
 * are no longer missing.
 * @param absent.between whether the walk showed the item's neighbours on one page
 * @param walk.firstAt instant of the walk's first request
 * @param walk.endedAt instant of the request for its last page, from which on the absence is evident
 */
export async function noteMissing(
  tx: Queryable,
  lease: StreamLease,
  absent: readonly { readonly key: string; readonly between: boolean }[],
  walk: { readonly firstAt: Date | null; readonly endedAt: Date },
): Promise<MissingItem[]> {
  const keys = absent.map(({ key }) => key);
  await noteFoundExcept(tx, lease, keys);
  if (keys.length === 0) return [];
  return await tx.query<MissingItem>(
    `insert into missing (pigeonhole_number, list, key, stream_id, since, walks, evident_at)
     select $1, $2, n.key, $3, $4, n.between::int, $7 from unnest($5::text[], $6::boolean[]) as n (key, between)
     on conflict (pigeonhole_number, list, key) do update set walks = missing.walks + excluded.walks,
       stream_id = excluded.stream_id
     returning key, walks, since, state`,
    [
      lease.pigeonholeNumber,
      lease.list,
      lease.streamId,
      walk.firstAt,
      keys,
      absent.map(({ between }) => between),
      walk.endedAt,
    ],
  );
}

/** Records that all missing items of a stream were found again, except these. */
export async function noteFoundExcept(
  tx: Queryable,
  { streamId }: Pick<StreamLease, 'streamId'>,
  keys: readonly string[],
): Promise<void> {
  await tx.query('delete from missing where stream_id = $1 and not (key = any($2::text[]))', [streamId, keys]);
}

/**
 * Counts a walk as steady for the open missing items of its stream, unless it showed an item twice.
 * @param options.allowsTwice whether equal keys are different rows, because the list has no ids
 * @returns the number of steady walks by key
 */
export async function countSteadyWalk(
  tx: Queryable,
  { streamId }: Pick<StreamLease, 'streamId'>,
  { pages, allowsTwice }: { readonly pages: number; readonly allowsTwice: boolean },
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.query<{ key: string; walks: number }>(
    `update missing set steady_walks = steady_walks + 1
     where stream_id = $1 and state = 'open' and ($3::boolean or not exists (
       select 1 from pages p cross join lateral unnest(p.keys) as u (key)
       where p.stream_id = $1 and p.ordinal < $2 group by u.key having count(*) > 1))
     returning key, steady_walks as walks`,
    [streamId, pages, allowsTwice],
  );
  return new Map(rows.map(({ key, walks }) => [key, walks]));
}

/**
 * Stores for each item the earliest time at which a response can confirm its absence: `waitMs` after it was evident, or
 * `doubtfulUntil` if that is later. A time that is stored already never becomes earlier.
 * @param at instant of the request that lacked the items
 * @returns the keys whose absence that request confirms
 */
export async function confirmMissing(
  tx: Queryable,
  { pigeonholeNumber, list }: Pick<StreamLease, 'pigeonholeNumber' | 'list'>,
  { keys, at }: { readonly keys: readonly string[]; readonly at: Date },
  { waitMs, doubtfulUntil }: { readonly waitMs: number; readonly doubtfulUntil: Date | null },
): Promise<Set<string>> {
  const rows = await tx.query<{ key: string; confirmed: boolean }>(
    `update missing set confirm_at =
       greatest(coalesce(confirm_at, $6::timestamptz), evident_at + $5 * interval '1 millisecond')
     where pigeonhole_number = $1 and list = $2 and key = any($3::text[])
     returning key, since < $4 and confirm_at <= $4 as confirmed`,
    [pigeonholeNumber, list, keys, at, waitMs, doubtfulUntil],
  );
  return new Set(rows.filter(({ confirmed }) => confirmed).map(({ key }) => key));
}

/**
 * Records since when items are proved missing in their stream. They may have moved to another stream of the list.
 * @param at instant of the request that proved it
 * @returns the items for which another stream still has to be swept since then
 */
export async function noteProved(
  tx: Queryable,
  { pigeonholeNumber, list, streamId }: StreamLease,
  { keys, at }: { readonly keys: readonly string[]; readonly at: Date },
): Promise<{ readonly key: string; readonly lackedAt: Date }[]> {
  return await tx.query<{ key: string; lackedAt: Date }>(
    `with marked as (
       update missing set lacked_at = coalesce(lacked_at, $4)
       where pigeonhole_number = $1 and list = $2 and key = any($5::text[]) returning key, lacked_at),
     others as (
       -- a sweep of another stream does not count if items of that stream went missing in it: the service may
       -- have left out rows
       select case when not exists (select 1 from missing x where x.stream_id = s.id and x.state = 'open'
         and x.since >= s.swept_from) then swept_from end as swept_from
       from streams s where pigeonhole_number = $1 and list = $2 and id <> $3 and wanted and gone_at is null)
     select key, lacked_at as "lackedAt" from marked m where exists (
       select 1 from others o where m.lacked_at >= $4 or o.swept_from is null or o.swept_from <= m.lacked_at)`,
    [pigeonholeNumber, list, streamId, at, keys],
  );
}

/** Records a filtered request for missing items. @param found keys of those that still exist */
export async function noteLookUp(
  tx: Queryable,
  { pigeonholeNumber, list }: Pick<StreamLease, 'pigeonholeNumber' | 'list'>,
  { requested, found }: { readonly requested: readonly string[]; readonly found: readonly string[] },
): Promise<void> {
  await tx.query(
    `update missing set looked_up_at = clock_timestamp() where pigeonhole_number = $1 and list = $2
       and key = any($3::text[])`,
    [pigeonholeNumber, list, requested],
  );
  await noteNoLongerMissing(
    tx,
    pigeonholeNumber,
    found.map((key) => ({ list, key })),
  );
}

/** Removes items that exist, or that were deleted or erased. */
export async function noteNoLongerMissing(
  tx: Queryable,
  pigeonholeNumber: number,
  items: readonly { readonly list: string; readonly key: string }[],
): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    `delete from missing m using unnest($2::text[], $3::text[]) as n (list, key)
     where m.pigeonhole_number = $1 and m.list = n.list and m.key = n.key`,
    [pigeonholeNumber, items.map(({ list }) => list), items.map(({ key }) => key)],
  );
}

/** Makes the deletion of missing items wait for an operator. @param hold number of the hold that the operator decides */
export async function holdMissing(
  tx: Queryable,
  { pigeonholeNumber, list }: { readonly pigeonholeNumber: number; readonly list: string },
  keys: readonly string[],
  hold: number,
): Promise<void> {
  await tx.query(
    `update missing set state = 'held', hold = $4 where pigeonhole_number = $1 and list = $2 and key = any($3::text[])`,
    [pigeonholeNumber, list, keys, hold],
  );
}

/**
 * Ends a hold for the items that are still missing. `rejected`: they stay, and are not deleted until they have
 * reappeared. `confirmed`: the caller deletes them.
 * @returns their keys
 */
export async function endHold(
  tx: Queryable,
  hold: number,
  decision: 'confirmed' | 'rejected',
): Promise<readonly string[]> {
  const rows = await tx.query<{ key: string }>(
    decision === 'rejected'
      ? `update missing set state = 'kept' where hold = $1 and state = 'held' returning key`
      : `delete from missing where hold = $1 and state = 'held' returning key`,
    [hold],
  );
  return rows.map(({ key }) => key);
}
