import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  confirmAfterMs,
  isProvedMissing,
  lacksBetweenNeighbours,
  type PageBounds,
  type StreamDeletionLimits,
} from './missing-evidence.js';
import { useIndexOrder } from '../ledger/sql-expressions.js';
import {
  confirmMissing,
  countSteadyWalk,
  noteFoundExcept,
  noteLookUp,
  noteMissing,
  noteProved,
} from '../ledger/missing.js';
import { type Absence, deleteOrHold } from './holds.js';
import { serviceListsWhere } from '../base/lists.js';
import type { StreamLease } from '../ledger/streams.js';
import { sweepAgain, sweepOtherLists, sweepOtherStreams } from '../ledger/streams-due.js';
import type { OpenWalk } from '../ledger/walk.js';
import type { StreamWrite } from '../ledger/lock-pigeonhole.js';

/**
 * Lists whose items may move from one session's stream to another's, under the same key. The key of an item without an
 * id contains the session.
 */
const movingLists: ReadonlySet<string> = new Set(
  serviceListsWhere(({ perSession, hasIds }) => perSession !== null && hasIds),
);

/** SQL expression for the copy number in an item's key (`to-items.ts`): 1 for `k`, 2 for `k#2`, 3 for `k#3`. */
const copyNumber = `coalesce(nullif(split_part(i.key, '#', 2), ''), '1')::int`;

/**
 * Compares the stream's stored items with a complete walk: items that the walk did not show become missing, and items
 * that it showed are no longer missing. Then deletes items whose absence is proved. Ignores rows that another read has
 * seen since the walk's first request.
 * @param options.unmovedSince instant since which every sweep has shown the same keys in the same sequence
 * @param options.endedAt instant of the request for the walk's last page; an absence is evident only from then on
 * @param options.isProof false: an item that the walk did not show may be one of its rows that could not be identified,
 *   so only filtered answers can prove its absence
 * @returns the number of deleted items
 */
export async function settleMissing(
  write: StreamWrite,
  walk: OpenWalk,
  options: { limits: StreamDeletionLimits; unmovedSince: Date; perPage: number; endedAt: Date; isProof: boolean },
): Promise<number> {
  const { tx, lease } = write;
  const { isProof } = options;
  await useIndexOrder(tx);
  const keys = await absentKeys(tx, lease, walk);
  const pages = keys.length === 0 ? [] : await boundsOf(tx, lease, walk, options.perPage);
  const showsPlace = new Set(
    keys.filter((key) => isProof && lacksBetweenNeighbours(Number(key), pages, isId(key) ? walk.direction : 'mixed')),
  );
  const rows = await noteMissing(
    tx,
    lease,
    keys.map((key) => ({ key, between: showsPlace.has(key) })),
    { firstAt: walk.firstAt, endedAt: options.endedAt },
  );
  if (rows.length === 0) return 0;
  if (!isProof) return 0;
  const firstAt = walk.firstAt!.getTime();
  const lacksMore = rows.some(({ since }) => since.getTime() === firstAt);
  // A walk that lacks no more items than the walk before is steady (`isProvedMissing`), unless it showed an item twice:
  // while rows change their places, a walk that shows one twice may overlook another.
  const allowsTwice = !keys.every(isId);
  const steadyWalks = lacksMore
    ? new Map<string, number>()
    : await countSteadyWalk(tx, lease, { pages: walk.pages, allowsTwice });
  const proved = rows.filter(
    (row) =>
      row.state === 'open' &&
      isProvedMissing(
        {
          wholeInOne: walk.pages === 1 && !pages[0]!.isFull,
          walks: row.walks,
          showsPlace: showsPlace.has(row.key),
          unmovedForMs: firstAt - Math.max(row.since.getTime(), options.unmovedSince.getTime()),
          steadyWalks: steadyWalks.get(row.key) ?? 0,
          missingForMs: firstAt - row.since.getTime(),
        },
        options.limits.settleMs,
      ),
  );
  return await removeProved(write, { keys: proved.map(({ key }) => key), at: walk.firstAt! }, options.limits);
}

/**
 * Deletes the rows of `missing` whose items the walk showed. Adds no rows, because it is called after walks that cannot
 * prove a deletion.
 */
export async function forgetFound(tx: Queryable, lease: StreamLease, walk: OpenWalk): Promise<void> {
  await useIndexOrder(tx);
  const keys = await absentKeys(tx, lease, walk);
  await noteFoundExcept(tx, lease, keys);
}

/**
 * SQL condition: the item was last seen before the walk's first request. A `seen_at` in the future was stored while a
 * clock was wrong. It counts as past, because it would otherwise protect the row until that instant (as in `seenLater`
 * of ledger/items/compare-items.ts).
 */
const seenBefore = '(i.seen_at < $5 or i.seen_at > clock_timestamp())';

/**
 * Returns the keys of stored items that the walk did not show. In a list without ids, it compares the number of rows
 * that share a base key: if the ledger holds three and the walk showed two, it returns the third (`key#3`).
 *
 * The statement groups rows instead of joining them: without statistics, PostgreSQL would join a long list by comparing
 * every row with every other, which takes minutes. Call `useIndexOrder` first, or PostgreSQL may read the items of all
 * pigeonholes. If all stored items were seen after the walk's first request, as after a stream's first walk, the
 * statement does not read the rows of `pages`.
 */
async function absentKeys(tx: Queryable, lease: StreamLease, walk: OpenWalk): Promise<string[]> {
  const rows = await tx.query<{ key: string }>(
    `with held as materialized (
       select key from items i
       where i.pigeonhole_number = $2 and i.list = $3 and i.stream_id = $1 and i.payload is not null and ${seenBefore}),
     lacking as (
       select base, sum(shown) as shown, max(copy) as copies from (
         select split_part(i.key, '#', 1) as base, ${copyNumber} as copy, 0 as shown from held i
         union all
         select split_part(u.key, '#', 1), 0, 1 from pages p cross join lateral unnest(p.keys) as u (key)
         where p.stream_id = $1 and p.ordinal < $4 and exists (select 1 from held)) as sides
       group by base having sum(shown) < max(copy))
     select i.key from lacking l cross join lateral generate_series(l.shown + 1, l.copies) as n (copy)
     cross join lateral (
       select key, stream_id, payload, seen_at from items where pigeonhole_number = $2 and list = $3
         and key = case n.copy when 1 then l.base else l.base || '#' || n.copy end limit 1) i
     where i.stream_id = $1 and i.payload is not null and ${seenBefore}`,
    [lease.streamId, lease.pigeonholeNumber, lease.list, walk.pages, walk.firstAt],
  );
  return rows.map(({ key }) => key);
}

/**
 * Deletes items that a response or the stream's walks have proved absent, once a second response has confirmed their
 * absence. If there are too many such items, holds their deletion until an operator confirms it. In lists whose items
 * move between sessions, first waits until the other sessions' streams have been swept and this stream has been swept
 * again.
 */
async function removeProved(
  { tx, lease, scope }: StreamWrite,
  { keys, at }: Absence,
  limits: StreamDeletionLimits,
): Promise<number> {
  const missing = await stillMissing(tx, lease, keys);
  if (missing.length === 0) return 0;
  const waiting = movingLists.has(lease.list)
    ? await waitingForOtherStreams(tx, lease, missing, at)
    : new Set<string>();
  const confirmed = await confirmedKeys(tx, lease, { keys: missing, at }, limits);
  const gone = missing.filter((key) => !waiting.has(key) && confirmed.has(key));
  if (confirmed.size < missing.length) await sweepOtherLists(tx, lease);
  return await deleteOrHold(tx, scope, { keys: gone, at }, limits);
}

/**
 * Returns the keys that were also absent from an earlier, separate response. Stores for each key the earliest time at
 * which a response can confirm its absence.
 *
 * If a large part of the stream has recently gone missing, the requests for the two responses must be at least
 * `confirmMs` apart. That part includes all open missing items whose absence became evident within the last
 * `confirmMs`, not only `keys`, because a filtered response covers only some of the missing items. The wait starts at
 * the request for the walk's last page (`evident_at`): an absence is evident only from then on, and the walk may have
 * started minutes earlier.
 */
async function confirmedKeys(
  tx: Queryable,
  lease: StreamLease,
  { keys, at }: Absence,
  limits: StreamDeletionLimits,
): Promise<Set<string>> {
  await useIndexOrder(tx);
  const [stream] = await tx.query<{ items: number; lost: number; lostFrom: Date | null }>(
    `select n.items, m.lost, m.lost_from as "lostFrom"
     from (select count(*)::int as items from items where pigeonhole_number = $1 and list = $2 and stream_id = $3
       and payload is not null) n,
       (select count(*)::int as lost, min(evident_at) as lost_from from missing where stream_id = $3 and state = 'open'
          and evident_at > $4::timestamptz - $5 * interval '1 millisecond') m`,
    [lease.pigeonholeNumber, lease.list, lease.streamId, at, limits.confirmMs],
  );
  const { items, lost, lostFrom } = stream!;
  const waitMs = confirmAfterMs(limits, Math.max(keys.length, lost), items);
  // While many items are missing, even an item that an earlier walk lacked has to wait: that walk, too, may
  // have been sent too few rows.
  const doubtMs = confirmAfterMs(limits, lost, items);
  const doubtfulUntil = lostFrom !== null && doubtMs > 0 ? new Date(lostFrom.getTime() + doubtMs) : null;
  return await confirmMissing(tx, lease, { keys, at }, { waitMs, doubtfulUntil });
}

/**
 * Returns the keys that are still missing from this stream. Leaves out items that another stream has shown since,
 * because they have moved there, and items whose deletion awaits or has received an operator's decision (state not
 * `open`).
 */
async function stillMissing(tx: Queryable, lease: StreamLease, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<{ key: string }>(
    `select n.key from unnest($4::text[]) as n (key)
       cross join lateral (select stream_id, state from missing where pigeonhole_number = $1 and list = $2
         and key = n.key limit 1) m
       cross join lateral (select stream_id from items where pigeonhole_number = $1 and list = $2 and key = n.key
         limit 1) i
     where m.stream_id = $3 and m.state = 'open' and i.stream_id = m.stream_id`,
    [lease.pigeonholeNumber, lease.list, lease.streamId, keys],
  );
  return rows.map(({ key }) => key);
}

/** Time until a sweep of this stream is due again. By then, the other streams have usually been walked. */
const walkAgainMs = 1000;

/**
 * Makes the other streams of the list due for a sweep, and returns the keys that still wait for one. This stream is
 * swept again at its next read.
 *
 * Does not bring forward the next read of this stream, of a stream that fails, or of a stream whose
 * walks prove nothing (`doubtAboutWalk`). Otherwise, as long as another stream cannot be read, every walk of this stream would immediately cause the
 * next one.
 */
async function waitingForOtherStreams(
  tx: Queryable,
  lease: StreamLease,
  keys: readonly string[],
  at: Date,
): Promise<Set<string>> {
  const waiting = await noteProved(tx, lease, { keys, at });
  if (waiting.length > 0) {
    const lackedAt = new Date(Math.max(...waiting.map((row) => row.lackedAt.getTime())));
    await sweepOtherStreams(tx, lease, lackedAt);
    await sweepAgain(tx, lease.streamId, walkAgainMs);
  }
  return new Set(waiting.map(({ key }) => key));
}

function isId(key: string): boolean {
  return /^\d+$/.test(key);
}

async function boundsOf(tx: Queryable, lease: StreamLease, walk: OpenWalk, perPage: number): Promise<PageBounds[]> {
  return await tx.query<PageBounds>(
    `select first_value as "firstValue", last_value as "lastValue", cardinality(keys) + set_aside >= $3 as "isFull"
     from pages where stream_id = $1 and ordinal < $2 order by ordinal`,
    [lease.streamId, walk.pages, perPage],
  );
}

/**
 * An item to look up with a filtered request. The response is evidence of whether the item still exists, without
 * another walk.
 */
export interface ItemToLookUp {
  readonly key: string;
  readonly sessionId: number | null;
  /** Null for an anonymous item. */
  readonly attendeeId: number | null;
  /** Canonical JSON. */
  readonly payload: string;
  /** Number of complete walks that showed its neighbours but not the item. */
  readonly walksWithout: number;
}

/** Minimum time between two look-ups of the same item, unless its absence can be confirmed sooner. */
const lookAgainMs = 10 * 60_000;

/**
 * Returns the missing items of a stream that are due for a look-up: those not looked up within `lookAgainMs`, and those
 * whose absence has become confirmable since their last look-up.
 */
export async function missingItems(ledger: Ledger, lease: StreamLease, max: number): Promise<ItemToLookUp[]> {
  return await ledger.db.query<ItemToLookUp>(
    `select m.key, i.session_id as "sessionId", i.attendee_id as "attendeeId", i.payload, m.walks as "walksWithout"
     from missing m cross join lateral (select session_id, attendee_id, payload from items
       where pigeonhole_number = m.pigeonhole_number and list = m.list and key = m.key and payload is not null
         limit 1) i
     where m.stream_id = $1 and m.state = 'open'
       and (m.looked_up_at is null or m.looked_up_at < now() - $3 * interval '1 millisecond'
         or (m.looked_up_at < m.confirm_at and m.confirm_at <= now()))
     order by m.since, m.key limit $2`,
    [lease.streamId, max, lookAgainMs],
  );
}

/** Result of a filtered request for missing items. */
export interface LookUpResult {
  /** Keys of the requested items. */
  readonly requested: readonly string[];
  /** Keys of items that still exist. */
  readonly found: readonly string[];
  /** Keys of requested items that are absent from a complete filtered response. */
  readonly gone: readonly string[];
  /** Instant of the request. */
  readonly at: Date;
}

/** Stores the result of a filtered request, and deletes items whose absence it proves. */
export async function storeLookUp(
  write: StreamWrite,
  result: LookUpResult,
  limits: StreamDeletionLimits,
): Promise<number> {
  const { tx, lease } = write;
  await noteLookUp(tx, lease, result);
  return await removeProved(write, { keys: result.gone, at: result.at }, limits);
}

/**
 * For a list without ids: returns the items that have to be counted. Identical rows are numbered from 1 on each page
 * (`k`, `k#2`), so a sweep cannot count those on different pages. A filtered response counts them, or shows that a
 * single row moved to the next page during the sweep. The response is needed if the ledger holds fewer rows than
 * the sweep showed, or if the last row differs from the first: its session name, its question text, or whether it shows
 * the person.
 */
export async function doubledItems(ledger: Ledger, lease: StreamLease, max: number): Promise<ItemToLookUp[]> {
  return await ledger.db.query<ItemToLookUp>(
    `with seen as materialized (
       select split_part(u.key, '#', 1) as base, count(*) as copies
       from pages p cross join lateral unnest(p.keys) as u (key) where p.stream_id = $1
       group by 1 having count(*) > 1)
     select i.key, i.session_id as "sessionId", i.attendee_id as "attendeeId", i.payload, 0 as "walksWithout"
     from seen s
       cross join lateral (select key, session_id, attendee_id, payload, content_hash, copies_hash, visibility from items
         where pigeonhole_number = $2 and list = $3 and key = s.base and payload is not null limit 1) i
       left join lateral (select content_hash, copies_hash, visibility from items
         where pigeonhole_number = $2 and list = $3 and key = s.base || '#' || s.copies and payload is not null
           limit 1) c on true
     where (c.content_hash, c.copies_hash, c.visibility) is distinct from (i.content_hash, i.copies_hash, i.visibility)
     order by i.key limit $4`,
    [lease.streamId, lease.pigeonholeNumber, lease.list, max],
  );
}
