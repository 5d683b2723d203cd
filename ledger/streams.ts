import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { LedgerError } from './ledger-error.js';
import { isInFuture } from './database-clock.js';
import { isCurrentStay, type ReaderFence } from './streams-progress.js';
import { dropWalk, dropWalks, openWalks } from './walks.js';
import type { ItemOrder, OpenWalk, WalkKind } from './walk.js';

export interface StreamName {
  readonly list: string;
  /** 0 for a list of the whole pigeonhole. */
  readonly sessionId: number;
}

export interface DueStream extends StreamName {
  readonly id: number;
  /** True if a sweep is due, which may take many pages. */
  readonly walking: boolean;
  /** True if no read of the stream has finished yet. */
  readonly isNew: boolean;
}

/** A stream that is read, and the milliseconds until it is due. */
export interface WantedStream extends DueStream {
  readonly inMs: number;
}

/** A reader's lease of a stream, with the state of the stream. */
export interface StreamLease extends StreamName {
  readonly streamId: number;
  readonly pigeonholeNumber: number;
  readonly epoch: number;
  readonly order: ItemOrder;
  /** Number of consecutive complete walks that found the items in `cleanDirection`. */
  readonly cleanWalks: number;
  readonly cleanDirection: 'ascending' | 'descending' | null;
  /** Number of such walks after which the direction is trusted. */
  readonly promoteAt: number;
  readonly sweepDue: boolean;
  readonly failures: number;
  readonly checkpoint: string | null;
  readonly checkpointKey: string | null;
  /**
   * For a list in descending order: a poll reads from the first page down to this id. Items with higher ids may not
   * have been read yet.
   */
  readonly headId: number | null;
  /** Items per page; null if no page was ever stored. */
  readonly perPage: number | null;
  /** The highest id ever stored for this stream; null if it has no items, or its list has no ids. */
  readonly highestId: number | null;
  /** Number of finished sweeps. */
  readonly sweeps: number;
  /** Number of pages of the last finished sweep; null if there is none. */
  readonly pageCount: number | null;
  readonly sweptAt: Date | null;
  /** Number of items of the last finished sweep; null if there is none. */
  readonly itemCount: number | null;
  /** Since when the answers are doubtful (reading/doubt.ts), and what the first of them showed; null: they are not. */
  readonly doubtSince: Date | null;
  readonly doubtKeys: readonly string[] | null;
  /** Time of the last read that found something; null if none did. */
  readonly changedAt: Date | null;
  /** Number of consecutive reads that found nothing. */
  readonly quietReads: number;
  /** Whether other lists requested this read, because the stream decides who may be named in them. */
  readonly isForOthers?: boolean;
  /** Number of consecutive failures of the sweep in progress at its present cursor. */
  readonly sweepFailures: number;
  /** Number of cursors discarded since a sweep last ended. */
  readonly cursorsDiscarded: number;
  /** True if rows of this stream were written since the last sweep started, other than by that sweep. */
  readonly differs: boolean;
  readonly dueAt: Date;
  /** Null: a sweep is in progress, and no other was requested since it started. */
  readonly sweepDueAt: Date | null;
  /** True if nothing of the stream is open: no failure, no missing item, no doubt, no review (`isSettled`). */
  readonly isSettled: boolean;
  /** Start of the present read, by the database's clock. */
  readonly takenAt: Date;
  /** The poll that an earlier attempt left unfinished; null if there is none. */
  readonly poll: OpenWalk | null;
  readonly sweep: OpenWalk | null;
}

/**
 * Replaces the set of streams that are read in a pigeonhole. Adds missing streams, which are due immediately. Streams
 * that are no longer wanted are not read any more. A stream that is wanted again, for example because its session
 * exists again, is due now, even if it counted as gone.
 */
export async function ensureStreams(
  ledger: Ledger,
  pigeonholeNumber: number,
  wanted: readonly StreamName[],
): Promise<void> {
  const lists = wanted.map(({ list }) => list);
  const sessions = wanted.map(({ sessionId }) => sessionId);
  await ledger.db.transaction(async (tx) => {
    await tx.query(
      // `differs` is false, because the ledger holds no item of a new stream. `where not exists`, because the serial id
      // advances even for a row that conflicts.
      `insert into streams (pigeonhole_number, list, session_id, differs)
       select $1, n.list, n.session_id, false from unnest($2::text[], $3::int8[]) as n (list, session_id)
       where not exists (select 1 from streams s where s.pigeonhole_number = $1 and s.list = n.list
         and s.session_id = n.session_id)
       on conflict (pigeonhole_number, list, session_id) do nothing`,
      [pigeonholeNumber, lists, sessions],
    );
    await tx.query(
      `update streams s set wanted = not s.wanted,
         due_at = case when s.wanted then s.due_at else now() end,
         gone_count = case when s.wanted then s.gone_count else 0 end,
         gone_since = case when s.wanted then s.gone_since end, gone_at = case when s.wanted then s.gone_at end
       where s.pigeonhole_number = $1 and s.wanted <> exists
         (select 1 from unnest($2::text[], $3::int8[]) as n (list, session_id)
          where n.list = s.list and n.session_id = s.session_id)`,
      [pigeonholeNumber, lists, sessions],
    );
  });
}

const isSweepDue = `(coalesce(sweep_due_at <= now(), false) or ${isInFuture('swept_at')})`;

/** Returns the streams that are read in a pigeonhole, and when they are due, by the database's clock. */
export async function wantedStreams(ledger: Ledger, pigeonholeNumber: number): Promise<WantedStream[]> {
  return await ledger.db.query<WantedStream>(
    `select id, list, session_id as "sessionId", swept_at is null or ${isSweepDue} as walking, polled_at is null as "isNew",
       case when ${isInFuture('polled_at')} then 0 else (extract(epoch from due_at - now()) * 1000)::float8 end as "inMs"
     from streams where pigeonhole_number = $1 and wanted order by "inMs", id`,
    [pigeonholeNumber],
  );
}

/**
 * SQL condition: nothing of the stream is open, so that a page which equals the one of the last sweep or poll has no
 * consequence (reading/remembered-stream.ts).
 */
const isSettled = `failures = 0 and sweep_failures = 0 and cursors_discarded = 0 and gone_count = 0 and gone_at is null
  and doubt_since is null and not differs and set_aside = 0 and foreign_rows = 0
  and not exists (select 1 from missing m where m.stream_id = streams.id)
  and not exists (select 1 from pigeonholes p where p.pigeonhole_number = streams.pigeonhole_number
    and p.gone_at is not null)
  and not exists (select 1 from visibility_reviews r where r.pigeonhole_number = streams.pigeonhole_number)`;

/** The columns of a lease, apart from its walks. */
const leaseColumns = `id as "streamId", pigeonhole_number as "pigeonholeNumber", list, session_id as "sessionId",
  epoch, item_order as "order",
  clean_walks as "cleanWalks", clean_direction as "cleanDirection", promote_at as "promoteAt",
  ${isSweepDue} as "sweepDue", failures, checkpoint, checkpoint_key as "checkpointKey", head_id as "headId",
  per_page as "perPage", highest_id as "highestId", sweeps, page_count as "pageCount", swept_at as "sweptAt",
  item_count as "itemCount", doubt_since as "doubtSince", doubt_keys as "doubtKeys",
  changed_at as "changedAt", quiet_reads as "quietReads", sweep_failures as "sweepFailures",
  cursors_discarded as "cursorsDiscarded", differs, due_at as "dueAt", sweep_due_at as "sweepDueAt",
  ${isSettled} as "isSettled", clock_timestamp() as "takenAt"`;

type LeaseRow = Omit<StreamLease, 'poll' | 'sweep'>;

/**
 * Acquires the leases of streams immediately. The next commit of their previous holders is refused.
 * @param fence the stay for which they are acquired; null: none
 * @throws {LedgerError} kind `stale` if a stream is no longer in the ledger, another stay has taken the group, or the
 * pigeonhole has left it
 */
export async function acquireStreams(
  ledger: Ledger,
  ids: readonly number[],
  fence: ReaderFence | null,
): Promise<StreamLease[]> {
  const askedAt = ledger.clock.monotonic();
  const rows = await ledger.db.query<LeaseRow>(
    `with places as materialized ( -- locked before the streams, as everywhere
       select pigeonhole_number as place from pigeonholes where pigeonhole_number in (select pigeonhole_number
         from streams where id = any($1::int8[]))
         and ($2::int4 is null or reader = $2) order by pigeonhole_number for no key update)
     update streams set epoch = epoch + 1,
       due_at = case when ${isInFuture('polled_at')} then clock_timestamp() else due_at end,
       polled_at = case when ${isInFuture('polled_at')} then clock_timestamp() else polled_at end
     from places where pigeonhole_number = place and id = any($1::int8[]) and ${isCurrentStay('$2', '$3')}
     returning ${leaseColumns}`,
    [ids, fence?.number ?? null, fence?.epoch ?? null],
  );
  return await withWalks(ledger, ids, { rows, askedAt });
}

/**
 * Reads streams again whose leases the caller holds.
 * @throws {LedgerError} kind `stale` if a stream has a newer reader
 */
export async function heldStreams(
  ledger: Ledger,
  held: readonly Pick<StreamLease, 'streamId' | 'epoch'>[],
): Promise<StreamLease[]> {
  const askedAt = ledger.clock.monotonic();
  const ids = held.map(({ streamId }) => streamId);
  const rows = await ledger.db.query<LeaseRow>(
    `select ${leaseColumns} from streams where (id, epoch) in (select * from unnest($1::int8[], $2::int8[]))`,
    [ids, held.map(({ epoch }) => epoch)],
  );
  return await withWalks(ledger, ids, { rows, askedAt });
}

async function withWalks(
  ledger: Ledger,
  ids: readonly number[],
  { rows, askedAt }: { readonly rows: readonly LeaseRow[]; readonly askedAt: number },
): Promise<StreamLease[]> {
  if (rows[0] !== undefined) ledger.clock.adjust(rows[0].takenAt, askedAt);
  const missing = ids.find((id) => rows.every(({ streamId }) => streamId !== id));
  if (missing !== undefined) throw stale({ streamId: missing });
  const walks = await openWalks(ledger.db, ids);
  return rows.map((row) => {
    const walk = (kind: WalkKind): OpenWalk | null =>
      walks.find((each) => each.streamId === row.streamId && each.kind === kind) ?? null;
    const sweep = walk('sweep');
    // The end of a sweep that showed nothing new leaves its position (`writeProgress`).
    return { ...row, poll: walk('poll'), sweep: sweep !== null && sweep.number > row.sweeps ? sweep : null };
  });
}

/**
 * Discards a stream's checkpoint and its poll, because the stream showed another order than the recorded one or the
 * checkpoint cannot be used. Only a sweep can read the stream then.
 */
export async function distrustStream(
  ledger: Ledger,
  lease: StreamLease,
  order: Pick<StreamLease, 'order' | 'cleanWalks' | 'cleanDirection' | 'promoteAt'>,
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await commit(
      tx,
      lease,
      `item_order = $3, clean_walks = $4, clean_direction = $5, promote_at = $6, checkpoint = null,
       checkpoint_key = null, head_id = null`,
      [order.order, order.cleanWalks, order.cleanDirection, order.promoteAt],
    );
    await dropWalk(tx, lease.streamId, 'poll');
  });
}

/**
 * Discards the cursor of a stream's walk, because the service refuses it and answers requests without it. A poll's
 * cursor may come from the checkpoint, so a sweep has to find the place of the next poll. The position of a sweep is
 * replaced when the first page of the next one is stored.
 */
export async function discardCursor(ledger: Ledger, lease: StreamLease, walk: WalkKind): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await commit(
      tx,
      lease,
      `cursors_discarded = cursors_discarded + 1, sweep_failures = 0,
       checkpoint = case when $3::boolean then null else checkpoint end,
       checkpoint_key = case when $3::boolean then null else checkpoint_key end`,
      [walk === 'poll'],
    );
    if (walk === 'poll') await dropWalk(tx, lease.streamId, 'poll');
  });
}

/**
 * Discards a stream's walks in progress, so that the next read starts them again. Also sets `differs`, because the next
 * sweep finds no difference in rows that the abandoned sweep has already stored.
 */
export async function abandonWalks(ledger: Ledger, lease: StreamLease): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    const rows = await tx.query('update streams set differs = true where id = $1 and epoch = $2 returning id', [
      lease.streamId,
      lease.epoch,
    ]);
    if (rows.length > 0) await dropWalks(tx, lease.streamId);
  });
}

/** The time of a stream's next read. */
export interface NextRead {
  readonly dueInMs: number;
  /**
   * The polling interval in force. `reason` is the reason for it, and `wantedMs` the interval before the quota
   * lengthens it.
   */
  readonly everyMs: number;
  readonly reason: string;
  readonly wantedMs: number;
  /** Milliseconds until the next sweep is due, if a sweep ends with this read. */
  readonly sweepInMs: number;
}

/**
 * The next read, depending on whether this read found something: a stream that has just changed is likely to change
 * again soon.
 */
export type NextReads = Readonly<Record<'afterNews' | 'afterNothing', NextRead>>;

/**
 * Stores the end of a read, and when the stream is due again. A read that other lists requested does not
 * count as a quiet one, because it says nothing about how often the stream changes.
 */
export async function scheduleStream(
  tx: Queryable,
  lease: StreamLease,
  next: NextReads,
  foundNews: boolean,
): Promise<void> {
  const { dueInMs, everyMs, reason, wantedMs } = foundNews ? next.afterNews : next.afterNothing;
  await commit(
    tx,
    lease,
    `polled_at = clock_timestamp(), failures = 0, failure = null, gone_count = 0, gone_since = null,
     gone_at = null, every_ms = $5, every_reason = $6, wanted_ms = $7,
     changed_at = case when $4::boolean then clock_timestamp() else changed_at end,
     quiet_reads = case when $4::boolean then 0 when $8::boolean then quiet_reads else quiet_reads + 1 end,
     due_at = case when sweep_due_at <= clock_timestamp() then clock_timestamp()
       else clock_timestamp() + $3 * interval '1 millisecond' end`,
    [dueInMs, foundNews, everyMs, reason, wantedMs, lease.isForOthers ?? false],
  );
}

/**
 * Records that reading a stream failed, and when to try again. Its walks keep their positions.
 * @param failure.detail null: the service may be down. The stored failure is kept; a stream without one does not count
 *   as failing yet. failure.failedSweep true: the request was for a later page of the sweep in progress.
 */
export async function failStream(
  ledger: Ledger,
  lease: StreamLease,
  failure: { detail: string | null; retryInMs: number; failedSweep: boolean },
): Promise<void> {
  await commit(
    ledger.db,
    lease,
    `failures = failures + 1, failure = coalesce($3, failure),
     sweep_failures = sweep_failures + (case when $5::boolean then 1 else 0 end),
     due_at = clock_timestamp() + $4 * interval '1 millisecond'`,
    [failure.detail, failure.retryInMs, failure.failedSweep],
  );
}

/**
 * Postpones a stream without counting a failure, for example if the quota has no permit. A walk in progress keeps its
 * position.
 */
export async function postponeStream(ledger: Ledger, lease: StreamLease, waitMs: number): Promise<void> {
  await commit(ledger.db, lease, `due_at = clock_timestamp() + $3 * interval '1 millisecond'`, [waitMs]);
}

/**
 * Postpones a stream because the quota has no request for it now. The interval in force becomes the time from the last
 * read to the next: like any interval that the quota lengthens, it does not make the list late.
 */
export async function postponeForQuota(ledger: Ledger, lease: StreamLease, waitMs: number): Promise<void> {
  await commit(
    ledger.db,
    lease,
    `due_at = clock_timestamp() + $3 * interval '1 millisecond',
     every_ms = greatest(every_ms, (extract(epoch from clock_timestamp() - polled_at) * 1000 + $3)::int8)`,
    [waitMs],
  );
}

/**
 * Stores that a page of a stream was doubtful (reading/doubt.ts), and when to request it again. Does nothing if the
 * stream has a newer reader.
 * @param doubt.failure null: the doubt does not count as a failure yet
 */
export async function doubtStream(
  tx: Queryable,
  lease: StreamLease,
  doubt: { since: Date; keys: readonly string[]; retryInMs: number; failure: string | null },
): Promise<void> {
  await tx.query(
    `update streams set due_at = clock_timestamp() + $3 * interval '1 millisecond',
       doubt_since = $4, doubt_keys = $5::text[], failures = failures + case when $6::text is null then 0 else 1 end,
       failure = coalesce($6, failure)
     where id = $1 and epoch = $2`,
    [lease.streamId, lease.epoch, doubt.retryInMs, doubt.since, doubt.keys, doubt.failure],
  );
}

/** Ends the doubt about a stream after a page of it was stored. */
export async function endDoubt(tx: Queryable, lease: StreamLease): Promise<void> {
  await tx.query('update streams set doubt_since = null, doubt_keys = null where id = $1 and epoch = $2', [
    lease.streamId,
    lease.epoch,
  ]);
}

async function commit(
  tx: Queryable,
  lease: StreamLease,
  set: string,
  values: readonly (string | number | boolean | null)[],
): Promise<void> {
  const rows = await tx.query(`update streams set ${set} where id = $1 and epoch = $2 returning id`, [
    lease.streamId,
    lease.epoch,
    ...values,
  ]);
  if (rows.length === 0) throw stale(lease);
}

export function stale(lease: Pick<StreamLease, 'streamId'>): LedgerError {
  return new LedgerError('stale', `stream ${lease.streamId} has a newer reader: this attempt is over`);
}
