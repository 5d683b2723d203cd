import type { Ledger } from '../ledger.js';
import { LedgerError } from '../ledger-error.js';
import type { WalkProgress } from './record-page.js';

export type ItemOrder = 'unknown' | 'ascending' | 'unordered';

export interface StreamName {
  readonly list: string;
  /** 0: the list of the whole pigeonhole. */
  readonly sessionId: number;
}

export interface DueStream extends StreamName {
  readonly id: number;
  /** A walk is under way or about to be: it may take many pages. */
  readonly walking: boolean;
  /** No walk over it has ended yet. */
  readonly isNew: boolean;
}

/** A stream as its reader holds it: the lease, and where it stands. */
export interface StreamLease extends StreamName {
  readonly streamId: number;
  readonly ref: number;
  readonly epoch: number;
  readonly order: ItemOrder;
  readonly sweepDue: boolean;
  readonly failures: number;
  readonly checkpoint: string | null;
  readonly checkpointKey: string | null;
  /** Null when no page was ever stored. */
  readonly perPage: number | null;
  /** Of all items that this stream ever stored; null when it has none, or its list has no ids. */
  readonly highestId: number | null;
  /** The walk that an earlier attempt left unfinished. */
  readonly walk: OpenWalk | null;
}

export interface OpenWalk extends WalkProgress {
  readonly kind: 'poll' | 'sweep';
  readonly startedAt: Date;
}

/** Makes the streams of a pigeonhole exactly these: missing ones are added and due, others are read no more. */
export async function ensureStreams(ledger: Ledger, ref: number, wanted: readonly StreamName[]): Promise<void> {
  const lists = wanted.map(({ list }) => list);
  const sessions = wanted.map(({ sessionId }) => sessionId);
  await ledger.db.transaction(async (tx) => {
    await tx.query(
      `insert into streams (ref, list, session_id)
       select $1, n.list, n.session_id from unnest($2::text[], $3::int8[]) as n (list, session_id)
       on conflict (ref, list, session_id) do nothing`,
      [ref, lists, sessions],
    );
    await tx.query(
      `update streams s set wanted = not s.wanted where s.ref = $1 and s.wanted <> exists
         (select 1 from unnest($2::text[], $3::int8[]) as n (list, session_id)
          where n.list = s.list and n.session_id = s.session_id)`,
      [ref, lists, sessions],
    );
  });
}

/** Streams that are due so soon behind the next one are waited for, so that one turn reads them all. */
const togetherMs = 100;

/**
 * The streams whose time has come, and the milliseconds until the next turn is worth its while, by the database's
 * clock.
 */
export async function dueStreams(
  ledger: Ledger,
  ref: number,
): Promise<{ due: DueStream[]; nextDueInMs: number | null }> {
  const rows = await ledger.db.query<DueStream & { session_id: number; is_new: boolean; in_ms: number }>(
    `select id, list, session_id, walk is not null or sweep_due_at <= now() as walking, polled_at is null as is_new,
       (extract(epoch from due_at - now()) * 1000)::float8 as in_ms
     from streams where ref = $1 and wanted order by due_at, id`,
    [ref],
  );
  const due = rows.filter((row) => row.in_ms <= 0);
  const next = rows.find((row) => row.in_ms > 0);
  const last = rows.findLast((row) => next !== undefined && row.in_ms <= next.in_ms + togetherMs);
  return {
    due: due.map(({ id, list, session_id: sessionId, walking, is_new: isNew }) => ({
      id,
      list,
      sessionId,
      walking,
      isNew,
    })),
    nextDueInMs: next === undefined || last === undefined ? null : Math.ceil(last.in_ms),
  };
}

interface StreamRow {
  ref: number;
  list: string;
  session_id: number;
  epoch: number;
  item_order: ItemOrder;
  sweep_due: boolean;
  failures: number;
  checkpoint: string | null;
  checkpoint_key: string | null;
  per_page: number | null;
  highest_id: number | null;
  walk: 'poll' | 'sweep' | null;
  walk_started_at: Date;
  walk_cursor: string | null;
  walk_checkpoint: string | null;
  walk_check_key: string | null;
  walk_last_id: number | null;
  walk_ascending: boolean;
  walk_pages: number;
  walk_items: number;
}

/** Takes the right to read a stream. At once: whoever held it before is refused at its next commit. */
export async function takeStream(ledger: Ledger, streamId: number, owner: string): Promise<StreamLease> {
  const [row] = await ledger.db.query<StreamRow>(
    `update streams set epoch = epoch + 1, owner = $2 where id = $1
     returning ref, list, session_id, epoch, item_order, sweep_due_at <= now() as sweep_due, failures, checkpoint,
       checkpoint_key, per_page, highest_id, walk, walk_started_at, walk_cursor, walk_checkpoint, walk_check_key, walk_last_id,
       walk_ascending, walk_pages, walk_items`,
    [streamId, owner],
  );
  if (row === undefined) throw new LedgerError('stale', `stream ${streamId} is no longer in the ledger`);
  return {
    streamId,
    ref: row.ref,
    list: row.list,
    sessionId: row.session_id,
    epoch: row.epoch,
    order: row.item_order,
    sweepDue: row.sweep_due,
    failures: row.failures,
    checkpoint: row.checkpoint,
    checkpointKey: row.checkpoint_key,
    perPage: row.per_page,
    highestId: row.highest_id,
    walk: row.walk === null ? null : openWalk(row, row.walk),
  };
}

function openWalk(row: StreamRow, kind: 'poll' | 'sweep'): OpenWalk {
  return {
    kind,
    startedAt: row.walk_started_at,
    cursor: row.walk_cursor,
    checkpoint: row.walk_checkpoint,
    checkpointKey: row.walk_check_key,
    lastId: row.walk_last_id,
    ascending: row.walk_ascending,
    pages: row.walk_pages,
    items: row.walk_items,
    perPage: row.per_page ?? 0,
  };
}

/** Begins a walk, replacing one under way: a poll at the checkpoint, a sweep at the first page. */
export async function beginWalk(ledger: Ledger, lease: StreamLease, kind: 'poll' | 'sweep'): Promise<OpenWalk> {
  const cursor = kind === 'poll' ? lease.checkpoint : null;
  const [row] = await ledger.db.query<{ walk_started_at: Date }>(
    `update streams set walk = $3, walk_started_at = clock_timestamp(), walk_cursor = $4, walk_checkpoint = $4,
       walk_check_key = null, walk_last_id = null, walk_ascending = true, walk_pages = 0, walk_items = 0
     where id = $1 and epoch = $2 returning walk_started_at`,
    [lease.streamId, lease.epoch, kind, cursor],
  );
  if (row === undefined) throw stale(lease);
  return {
    kind,
    startedAt: row.walk_started_at,
    cursor,
    checkpoint: cursor,
    checkpointKey: null,
    lastId: null,
    ascending: true,
    pages: 0,
    items: 0,
    perPage: 0,
  };
}

/** The stream showed another order than the recorded one: three clean walks are needed before it is trusted again. */
export async function demoteStream(ledger: Ledger, lease: StreamLease): Promise<void> {
  await commit(
    ledger,
    lease,
    `item_order = 'unordered', clean_walks = 0, promote_at = 3, checkpoint = null, checkpoint_key = null`,
    [],
  );
}

/** A sweep was asked for while a walk was under way: what it is wanted for may stand on pages already read. */
const askedMeanwhile = '(sweep_due_at > walk_started_at and sweep_due_at <= clock_timestamp())';

/**
 * Ends a walk that reached its last page: keeps the checkpoint where the order allows one, counts whole walks in
 * ascending order towards it, and says when the stream is due again.
 */
export async function finishWalk(
  ledger: Ledger,
  lease: StreamLease,
  walk: { kind: 'poll' | 'sweep'; ascending: boolean; items: number },
  next: { dueInMs: number; sweepInMs: number },
): Promise<void> {
  await commit(
    ledger,
    lease,
    `owner = null, walk = null, polled_at = clock_timestamp(), failures = 0, failure = null,
     due_at = case when ${askedMeanwhile} then clock_timestamp()
       else clock_timestamp() + $3 * interval '1 millisecond' end,
     swept_at = case when $5 then clock_timestamp() else swept_at end,
     item_count = case when $5 then $6::int else item_count end,
     sweep_due_at = case when $5 and not ${askedMeanwhile} then clock_timestamp() + $4 * interval '1 millisecond'
       else sweep_due_at end,
     clean_walks = case when not $5 then clean_walks when $7 then clean_walks + 1 else 0 end,
     item_order = case when not $7 then 'unordered' when not $5 then item_order
       when clean_walks + 1 >= promote_at then 'ascending' else 'unordered' end,
     promote_at = case when $7 then promote_at else 3 end,
     checkpoint = case when $7 then walk_checkpoint end,
     checkpoint_key = case when $7 then walk_check_key end`,
    [next.dueInMs, next.sweepInMs, walk.kind === 'sweep', walk.items, walk.ascending],
  );
}

/** The stream could not be read on: noted, with the time of the next try; its walk stays where it is. */
export async function failStream(
  ledger: Ledger,
  lease: StreamLease,
  failure: { detail: string; retryInMs: number },
): Promise<void> {
  await commit(
    ledger,
    lease,
    `owner = null, failures = failures + 1, failure = $3, due_at = clock_timestamp() + $4 * interval '1 millisecond'`,
    [failure.detail, failure.retryInMs],
  );
}

/** Makes every stream of a pigeonhole due at once. */
export async function pollNow(ledger: Ledger, ref: number): Promise<void> {
  await ledger.db.query('update streams set due_at = now() where ref = $1 and wanted and due_at > now()', [ref]);
}

async function commit(
  ledger: Ledger,
  lease: StreamLease,
  set: string,
  values: readonly (string | number | boolean | null)[],
): Promise<void> {
  const rows = await ledger.db.query(`update streams set ${set} where id = $1 and epoch = $2 returning id`, [
    lease.streamId,
    lease.epoch,
    ...values,
  ]);
  if (rows.length === 0) throw stale(lease);
}

function stale(lease: StreamLease): LedgerError {
  return new LedgerError('stale', `stream ${lease.streamId} has a newer reader: this attempt is over`);
}
