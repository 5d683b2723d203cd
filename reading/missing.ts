import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  confirmAfterMs,
  isProvedMissing,
  lacksBetweenNeighbours,
  type PageBounds,
  type StreamDeletionLimits,
} from '../ledger/missing-evidence.js';
import { useIndexOrder } from '../ledger/addressed-indexes.js';
import { deleteOrHold } from './holds.js';
import type { StreamLease } from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';
import type { PageScope } from '../ledger/write-changes.js';

/** Lists whose items may move from one session's stream to another's, under the same key. */
const movingLists: ReadonlySet<string> = new Set(['answers', 'answer_ratings']);

/** Position of a row among wholly identical ones is part of its key (`to-items.ts`): `k`, `k#2`, `k#3`. */
const copyOf = `coalesce(nullif(split_part(i.key, '#', 2), ''), '1')::int`;

/**
 * At the end of a whole walk: what the stream holds and the walk did not show is missing, and what it did show is not.
 * Then what is proved to be missing is deleted. A row that was written by a later request than the walk's first is
 * none of its business.
 * @returns how many items were deleted
 */
export async function settleMissing(
  tx: Queryable,
  lease: StreamLease,
  scope: PageScope,
  walk: OpenWalk,
  how: { limits: StreamDeletionLimits; unmovedSince: Date; perPage: number },
): Promise<number> {
  await useIndexOrder(tx);
  const keys = await absentKeys(tx, lease, walk);
  const pages = keys.length === 0 ? [] : await boundsOf(tx, lease, walk, how.perPage);
  const between = keys.map((key) => lacksBetweenNeighbours(Number(key), pages, hasIds(key) ? walk.direction : 'mixed'));
  await tx.query(`delete from missing where stream_id = $1 and not (key = any($2::text[]))`, [lease.streamId, keys]);
  if (keys.length === 0) return 0;
  const rows = await tx.query<{ key: string; walks: number; since: Date; lacked_at: Date | null; state: string }>(
    `insert into missing (ref, list, key, stream_id, since, walks)
     select $1, $2, n.key, $3, $4, n.between::int from unnest($5::text[], $6::boolean[]) as n (key, between)
     on conflict (ref, list, key) do update set walks = missing.walks + excluded.walks, stream_id = excluded.stream_id
     returning key, walks, since, lacked_at, state`,
    [lease.ref, lease.list, lease.streamId, walk.firstAt, keys, between],
  );
  const firstAt = walk.firstAt!.getTime();
  const proved = rows.filter(
    (row) =>
      row.state === 'open' &&
      isProvedMissing(
        {
          wholeInOne: walk.pages === 1 && !pages[0]!.isFull,
          walks: row.walks,
          unmovedForMs: firstAt - Math.max(row.since.getTime(), how.unmovedSince.getTime()),
        },
        how.limits.settleMs,
      ),
  );
  return await removeProved(
    tx,
    lease,
    scope,
    proved.map(({ key }) => key),
    walk.firstAt!,
    how.limits,
  );
}

/** Drops the candidates that a walk has shown, and adds none: the end of a walk that proves nothing. */
export async function forgetFound(tx: Queryable, lease: StreamLease, walk: OpenWalk): Promise<void> {
  await useIndexOrder(tx);
  const keys = await absentKeys(tx, lease, walk);
  await tx.query(`delete from missing where stream_id = $1 and not (key = any($2::text[]))`, [lease.streamId, keys]);
}

/** Not by a request of this walk, nor a later one. In the future: a clock was wrong (`seenLater`). */
const seenBefore = '(i.seen_at < $5 or i.seen_at > clock_timestamp())';

/**
 * Keys of what the stream holds and the walk did not show. Both sides are counted together, and what is lacking is
 * looked up: a join of the two would be one of each with each, for minutes in a long list, as long as nothing has
 * analyzed the tables. Under `useIndexOrder`, or the planner may read the items of all pigeonholes for those of one list.
 * After a first walk nothing is held that it did not write itself, and no page is opened.
 */
async function absentKeys(tx: Queryable, lease: StreamLease, walk: OpenWalk): Promise<string[]> {
  const rows = await tx.query<{ key: string }>(
    `with held as materialized (
       select key from items i
       where i.ref = $2 and i.list = $3 and i.stream_id = $1 and i.payload is not null and ${seenBefore}),
     lacking as (
       select base, sum(shown) as shown, max(copy) as copies from (
         select split_part(i.key, '#', 1) as base, ${copyOf} as copy, 0 as shown from held i
         union all
         select split_part(u.key, '#', 1), 0, 1 from pages p cross join lateral unnest(p.keys) as u (key)
         where p.stream_id = $1 and p.ordinal < $4 and exists (select 1 from held)) as sides
       group by base having sum(shown) < max(copy))
     select i.key from lacking l cross join lateral generate_series(l.shown + 1, l.copies) as n (copy)
     cross join lateral (
       select key, stream_id, payload, seen_at from items where ref = $2 and list = $3
         and key = case n.copy when 1 then l.base else l.base || '#' || n.copy end limit 1) i
     where i.stream_id = $1 and i.payload is not null and ${seenBefore}`,
    [lease.streamId, lease.ref, lease.list, walk.pages, walk.firstAt],
  );
  return rows.map(({ key }) => key);
}

/**
 * Deletes items that one answer, or the walks over a stream, prove to be missing there, once a second answer has
 * confirmed it. In lists whose items move, the other sessions' streams have to be walked first, and this one once more
 * after them.
 * @param at instant of the request that proved it
 */
export async function removeProved(
  tx: Queryable,
  lease: StreamLease,
  scope: PageScope,
  keys: readonly string[],
  at: Date,
  limits: StreamDeletionLimits,
): Promise<number> {
  const missing = await stillMissing(tx, lease, keys);
  if (missing.length === 0) return 0;
  const stays = movingLists.has(lease.list) ? await heldForOthers(tx, lease, missing, at) : new Set<string>();
  const confirmed = await confirmedKeys(tx, lease, missing, at, limits);
  return await deleteOrHold(
    tx,
    scope,
    missing.filter((key) => !stays.has(key) && confirmed.has(key)),
    at,
    limits,
  );
}

/**
 * Items that an earlier, separate request lacked as well: long enough before this one, where they are much of what the
 * stream had. Notes for the others when that will be so.
 */
async function confirmedKeys(
  tx: Queryable,
  lease: StreamLease,
  keys: readonly string[],
  at: Date,
  limits: StreamDeletionLimits,
): Promise<Set<string>> {
  await useIndexOrder(tx);
  const [stream] = await tx.query<{ n: number }>(
    `select count(*)::int as n from items
     where ref = $1 and list = $2 and stream_id = $3 and payload is not null`,
    [lease.ref, lease.list, lease.streamId],
  );
  const waitMs = confirmAfterMs(limits, keys.length, stream!.n);
  const rows = await tx.query<{ key: string; confirmed: boolean }>(
    `update missing set confirm_at = since + $5 * interval '1 millisecond'
     where ref = $1 and list = $2 and key = any($3::text[])
     returning key, since < $4 and confirm_at <= $4 as confirmed`,
    [lease.ref, lease.list, keys, at, waitMs],
  );
  return new Set(rows.filter(({ confirmed }) => confirmed).map(({ key }) => key));
}

/** Without those that another stream has shown since they were asked for: they are not gone, they have moved there. */
async function stillMissing(tx: Queryable, lease: StreamLease, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<{ key: string }>(
    `select n.key from unnest($4::text[]) as n (key)
       cross join lateral (select stream_id, state from missing where ref = $1 and list = $2 and key = n.key limit 1) m
       cross join lateral (select stream_id from items where ref = $1 and list = $2 and key = n.key limit 1) i
     where m.stream_id = $3 and m.state = 'open' and i.stream_id = m.stream_id`,
    [lease.ref, lease.list, lease.streamId, keys],
  );
  return rows.map(({ key }) => key);
}

/** This stream is walked again with its next read after so long: by then the others mostly were. */
const walkAgainMs = 1000;

/**
 * Has the other streams of the list walked, and gives back the keys for which that is still to be done. Nobody is
 * hurried twice: a stream that fails, or shows rows of other sessions, keeps the time of its next try, and this one is read when it is due, or each of
 * its walks would bring on the next for as long as another cannot be read.
 */
async function heldForOthers(
  tx: Queryable,
  lease: StreamLease,
  keys: readonly string[],
  at: Date,
): Promise<Set<string>> {
  const waiting = await tx.query<{ key: string; lacked_at: Date }>(
    `with marked as (
       update missing set lacked_at = coalesce(lacked_at, $4)
       where ref = $1 and list = $2 and key = any($5::text[]) returning key, lacked_at),
     others as (
       -- a walk that was the first to lack something may be a glitch: it does not say what stands there
       select case when not exists (select 1 from missing x where x.stream_id = s.id and x.state = 'open'
         and x.since >= s.swept_from) then swept_from end as swept_from
       from streams s where ref = $1 and list = $2 and id <> $3 and wanted and gone_at is null)
     select key, lacked_at from marked m where exists (
       select 1 from others o where m.lacked_at >= $4 or o.swept_from is null or o.swept_from <= m.lacked_at)`,
    [lease.ref, lease.list, lease.streamId, at, keys],
  );
  if (waiting.length > 0) {
    const lackedAt = new Date(Math.max(...waiting.map((row) => row.lacked_at.getTime())));
    await tx.query(
      `update streams set due_at = case when failures = 0 and foreign_rows = 0 then least(due_at, now()) else due_at end, sweep_due_at = now()
       where ref = $1 and list = $2 and wanted and gone_at is null and id <> $3
         and (swept_from is null or swept_from <= $4)`,
      [lease.ref, lease.list, lease.streamId, lackedAt],
    );
    await tx.query(
      `update streams set sweep_due_at = clock_timestamp() + $2 * interval '1 millisecond' where id = $1`,
      [lease.streamId, walkAgainMs],
    );
  }
  return new Set(waiting.map(({ key }) => key));
}

function hasIds(key: string): boolean {
  return /^\d+$/.test(key);
}

async function boundsOf(tx: Queryable, lease: StreamLease, walk: OpenWalk, perPage: number): Promise<PageBounds[]> {
  const rows = await tx.query<{ first_value: number | null; last_value: number | null; is_full: boolean }>(
    'select first_value, last_value, cardinality(keys) + set_aside >= $3 as is_full from pages where stream_id = $1 and ordinal < $2 order by ordinal',
    [lease.streamId, walk.pages, perPage],
  );
  return rows.map((row) => ({ firstValue: row.first_value, lastValue: row.last_value, isFull: row.is_full }));
}

/** What is as new as this may stand on one server of the service and not yet on another. */
const settledAfterMs = 60_000;

/**
 * Makes a stream due for the answer that confirms what its last sweep lacked: when the time to confirm is over, or
 * immediately. A stream that is read whole by each poll is also walked again immediately after its first walk that
 * lacked an item between its neighbours. Not for the sake of items that have only just appeared, which the next poll is
 * soon enough for. Each item brings on one read, so that one of which walks can tell nothing costs no more than before.
 */
export async function confirmMissing(
  ledger: Ledger,
  lease: StreamLease,
  { walksAgain }: { walksAgain: boolean },
): Promise<void> {
  await ledger.db.query(
    `update streams s set due_at = least(s.due_at, now() + next.wait),
       sweep_due_at = case when next.confirms then least(s.sweep_due_at, now() + next.wait) else s.sweep_due_at end
     from (
       select m.stream_id, min(case when m.confirm_at is null then interval '0' else greatest(m.confirm_at - w.swept_from, interval '0') end) as wait,
         bool_or(m.confirm_at is not null) as confirms
       from missing m
         cross join lateral (select foreign_rows, swept_from from streams where id = m.stream_id limit 1) w
         cross join lateral (select last_sequence from items
           where ref = m.ref and list = m.list and key = m.key and payload is not null limit 1) i
         cross join lateral (select kind, found_at from changes
           where ref = m.ref and sequence = i.last_sequence limit 1) c
       where m.stream_id = $1 and m.state = 'open' and w.foreign_rows = 0
         and (m.confirm_at >= w.swept_from
           or ($4 and m.walks = 1 and m.since = w.swept_from
             and (c.kind <> 'created' or c.found_at < now() - $3 * interval '1 millisecond')))
       group by m.stream_id) next
     where s.id = $1 and s.epoch = $2`,
    [lease.streamId, lease.epoch, settledAfterMs, walksAgain],
  );
}

/** An item that may be asked for by a filter, to see at once whether it is gone. */
export interface MissingItem {
  readonly key: string;
  readonly sessionId: number | null;
  /** Null where anonymous. */
  readonly attendeeId: number | null;
  /** Canonical JSON. */
  readonly payload: string;
}

/** A filtered answer that could not tell is not asked for again before that. */
const lookAgainMs = 10 * 60_000;

/** The missing items of a stream that were not looked for lately. */
export async function missingItems(ledger: Ledger, lease: StreamLease, most: number): Promise<MissingItem[]> {
  const rows = await ledger.db.query<MissingRow>(
    `select m.key, i.session_id, i.attendee_id, i.payload
     from missing m cross join lateral (select session_id, attendee_id, payload from items
       where ref = m.ref and list = m.list and key = m.key and payload is not null limit 1) i
     where m.stream_id = $1 and m.state = 'open'
       and (m.looked_at is null or m.looked_at < now() - $3 * interval '1 millisecond'
         or (m.looked_at < m.confirm_at and m.confirm_at <= now()))
     order by m.since, m.key limit $2`,
    [lease.streamId, most, lookAgainMs],
  );
  return rows.map(toMissingItem);
}

/** What a filtered answer said of missing items. */
export interface Looked {
  readonly asked: readonly string[];
  /** Stand there after all. */
  readonly found: readonly string[];
  /** Do not, in an answer that held the whole filtered set. */
  readonly gone: readonly string[];
  /** Instant of its request. */
  readonly at: Date;
}

/** Notes what a filtered answer said, and deletes what it proves to be gone. */
export async function settleLooked(
  tx: Queryable,
  lease: StreamLease,
  scope: PageScope,
  looked: Looked,
  limits: StreamDeletionLimits,
): Promise<number> {
  await tx.query(
    'update missing set looked_at = clock_timestamp() where ref = $1 and list = $2 and key = any($3::text[])',
    [lease.ref, lease.list, looked.asked],
  );
  await tx.query('delete from missing where ref = $1 and list = $2 and key = any($3::text[])', [
    lease.ref,
    lease.list,
    looked.found,
  ]);
  return await removeProved(tx, lease, scope, looked.gone, looked.at, limits);
}

/**
 * Items of a list without ids of which the last sweep showed more copies than the ledger holds: there are so many, or
 * one moved from a page to the next while they were read.
 */
export async function doubledItems(ledger: Ledger, lease: StreamLease, most: number): Promise<MissingItem[]> {
  const rows = await ledger.db.query<MissingRow>(
    `with seen as materialized (
       select split_part(u.key, '#', 1) as base, count(*) as copies
       from pages p cross join lateral unnest(p.keys) as u (key) where p.stream_id = $1
       group by 1 having count(*) > 1)
     select i.key, i.session_id, i.attendee_id, i.payload
     from seen s
       cross join lateral (select key, session_id, attendee_id, payload from items
         where ref = $2 and list = $3 and key = s.base and payload is not null limit 1) i
       left join lateral (select true as held from items
         where ref = $2 and list = $3 and key = s.base || '#' || s.copies and payload is not null limit 1) c on true
     where c.held is null
     order by i.key limit $4`,
    [lease.streamId, lease.ref, lease.list, most],
  );
  return rows.map(toMissingItem);
}

interface MissingRow {
  key: string;
  session_id: number | null;
  attendee_id: number | null;
  payload: string;
}

function toMissingItem(row: MissingRow): MissingItem {
  return { key: row.key, sessionId: row.session_id, attendeeId: row.attendee_id, payload: row.payload };
}
