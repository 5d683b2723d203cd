import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { raiseAsked, raiseAskedOfWorkspace } from './pigeonholes-asked.js';
import type { StreamLease } from './streams.js';

/*
 * Makes streams due for a reason that is not their own last read: a request of an operator, the end of a failure, a
 * larger quota, or what another stream showed. The ends of reads are in `streams.ts`. A request from outside also raises
 * `asked` of the pigeonhole, which its reader notices. It raises it first, because a transaction that stores a page holds
 * the lock on the pigeonhole's row and may then update the same streams. A stream that is due already gets the present
 * instant as well: by it, `writeProgress` recognizes a request that is later than the read.
 */

/** Factors by which the quota lengthens polling intervals, and the ms after which it lengthens none (`Stretch`). */
interface Lengthening {
  readonly live: number;
  readonly idle: number;
  readonly untilMs: number;
}

/**
 * Plans the streams of a workspace again that were planned with a smaller quota: those whose interval was lengthened,
 * and those that were postponed. Each becomes due as its last read would plan it now, or immediately if that time has
 * passed. No stream becomes due later. Streams that failed or rest after a long walk are left alone.
 * @returns the number of streams that become due earlier
 */
export async function replanStreams(ledger: Ledger, workspace: string, stretch: Lengthening): Promise<number> {
  return await ledger.db.transaction(async (tx) => {
    // Most workspaces have nothing to plan again.
    const places = await tx.query<{ pigeonholeNumber: number }>(
      `select pigeonhole_number as "pigeonholeNumber" from pigeonholes p where workspace = $1 and exists (select 1
         from streams s where s.pigeonhole_number = p.pigeonhole_number
         and ${isPlannedLate})`,
      [workspace, stretch.live, stretch.idle, stretch.untilMs],
    );
    if (places.length === 0) return 0;
    await raiseAsked(
      tx,
      places.map(({ pigeonholeNumber }) => pigeonholeNumber),
    );
    const rows = await tx.query(
      `update streams s set due_at = greatest(now(), ${plannedNow})
       where s.pigeonhole_number = any($1::int4[]) and ${isPlannedLate} returning s.id`,
      [places.map(({ pigeonholeNumber }) => pigeonholeNumber), stretch.live, stretch.idle, stretch.untilMs],
    );
    return rows.length;
  });
}

/**
 * Instant at which a stream would be due if its last read had known the factors $2 (live polls), $3 (idle polls) and
 * $4. The same rule as `stretched` in reading/cadence.ts; the reasons are those with priority `live`.
 */
const plannedNow = `coalesce(s.polled_at + least(
    s.wanted_ms * case when s.every_reason in ('live', 'found', 'rehearsal') then $2::float8 else $3::float8 end,
    greatest(s.wanted_ms, $4::float8)) * interval '1 millisecond', now())`;
/** Reads start at ticks, up to a quarter of the interval after they are due (`untilNextRead`). */
const isPlannedLate = `s.wanted and s.gone_at is null and s.failures = 0 and s.due_at > now()
  and s.every_reason is distinct from 'whole-walk'
  and s.due_at > ${plannedNow} + coalesce(s.wanted_ms, 0) / 4 * interval '1 millisecond'`;

/** Makes every stream of a pigeonhole due immediately. */
export async function pollNow(ledger: Ledger, pigeonholeNumber: number): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await raiseAsked(tx, [pigeonholeNumber]);
    await tx.query('update streams set due_at = now() where pigeonhole_number = $1 and wanted', [pigeonholeNumber]);
  });
}

/**
 * Makes sweeps of a pigeonhole's streams due now. If a sweep is in progress, another one follows it, since the rows in
 * question may be on pages that it has already read.
 * @param list only this list; null: all lists
 * @returns the number of streams
 */
export async function sweepNow(ledger: Ledger, pigeonholeNumber: number, list: string | null): Promise<number> {
  return await ledger.db.transaction((tx) => requestSweeps(tx, pigeonholeNumber, list));
}

/** Does the same as `sweepNow`, in the caller's transaction. */
export async function requestSweeps(tx: Queryable, pigeonholeNumber: number, list: string | null): Promise<number> {
  await raiseAsked(tx, [pigeonholeNumber]);
  const rows = await tx.query(
    `update streams set sweep_due_at = now(), due_at = now()
     where pigeonhole_number = $1 and wanted and ($2::text is null or list = $2) returning id`,
    [pigeonholeNumber, list],
  );
  return rows.length;
}

/** Makes every stream of a workspace due immediately: its own lists and those of its pigeonholes. */
export async function pollWorkspaceNow(ledger: Ledger, name: string): Promise<void> {
  await updateWorkspace(
    ledger,
    name,
    `update streams set due_at = now() where wanted
       and pigeonhole_number in (select pigeonhole_number from pigeonholes where workspace = $1)`,
  );
}

/** Makes sweeps of every stream of a workspace due immediately. @param list only this list; null: all lists */
export async function sweepWorkspaceNow(ledger: Ledger, name: string, list: string | null): Promise<void> {
  await updateWorkspace(
    ledger,
    name,
    `update streams set sweep_due_at = now(), due_at = now() where wanted
       and ($2::text is null or list = $2) and pigeonhole_number in (select pigeonhole_number from pigeonholes
         where workspace = $1)`,
    [list],
  );
}

/** Runs an update of a workspace's streams, whose first parameter is the workspace, and tells the readers. */
async function updateWorkspace(
  ledger: Ledger,
  workspace: string,
  sql: string,
  params: readonly (string | null)[] = [],
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await raiseAskedOfWorkspace(tx, workspace);
    await tx.query(sql, [workspace, ...params]);
  });
}

/** Makes every stream of these pigeonholes due immediately. The caller's transaction holds the lock on their rows. */
export async function pollPlaces(tx: Queryable, pigeonholeNumbers: readonly number[]): Promise<void> {
  await raiseAsked(tx, pigeonholeNumbers);
  await tx.query('update streams set due_at = now() where pigeonhole_number = any($1::int4[])', [pigeonholeNumbers]);
}

/** Makes those streams of a workspace due immediately that wait after a failure. */
export async function retryFailed(ledger: Ledger, workspace: string): Promise<void> {
  await updateWorkspace(
    ledger,
    workspace,
    `update streams set due_at = now() where wanted and failures > 0
       and pigeonhole_number in (select pigeonhole_number from pigeonholes where workspace = $1)`,
  );
}

/**
 * Makes those streams of a workspace due immediately that wait after a failure, and forgets their failures, apart from
 * those that say that the service no longer has a stream.
 */
export async function forgetFailures(ledger: Ledger, workspace: string): Promise<void> {
  await updateWorkspace(
    ledger,
    workspace,
    `update streams set due_at = now(), failures = case when gone_count = 0 then 0 else failures end,
       failure = case when gone_count = 0 then null else failure end
     where wanted and failures > 0 and pigeonhole_number in (select pigeonhole_number from pigeonholes
       where workspace = $1)`,
  );
}

/** Makes sweeps of these streams due immediately. */
export async function sweepStreams(tx: Queryable, streamIds: readonly number[]): Promise<void> {
  await tx.query('update streams set sweep_due_at = now(), due_at = now() where id = any($1::int4[])', [streamIds]);
}

/** Makes a sweep of a stream due in `inMs`, and does not change when the stream is read next. */
export async function sweepAgain(tx: Queryable, streamId: number, inMs: number): Promise<void> {
  await tx.query(`update streams set sweep_due_at = clock_timestamp() + $2 * interval '1 millisecond' where id = $1`, [
    streamId,
    inMs,
  ]);
}

/** Makes a sweep of a pigeonhole's sessions due immediately, unless one started after `since` or they cannot be read. */
export async function sweepSessions(tx: Queryable, pigeonholeNumber: number, since: Date): Promise<void> {
  await tx.query(
    `update streams set due_at = now(), sweep_due_at = now()
     where pigeonhole_number = $1 and list = 'sessions' and wanted and failures = 0
       and (swept_from is null or swept_from <= $2)`,
    [pigeonholeNumber, since],
  );
}

/**
 * Makes the other lists of the pigeonhole due for a sweep if this stream has lost a large part, so that the losses of
 * all lists are known when this one is confirmed (`whyHeld`). Has no effect on lists that were swept since the loss
 * became evident, and on those that cannot be read.
 */
export async function sweepOtherLists(tx: Queryable, lease: StreamLease): Promise<void> {
  await tx.query(
    `update streams s set due_at = now(), sweep_due_at = now()
     from (select count(*) as lost, min(evident_at) as evident_at from missing
       where stream_id = $2 and state = 'open') m
     where s.pigeonhole_number = $1 and s.list <> $3 and wanted and gone_at is null and failures = 0
       and foreign_rows = 0 and set_aside = 0 and swept_from <= m.evident_at and m.lost * 3
         >= (select count(*) from items where pigeonhole_number = $1 and list = $3 and stream_id = $2
         and payload is not null)`,
    [lease.pigeonholeNumber, lease.streamId, lease.list],
  );
}

/**
 * Makes sweeps of the other streams of the list due, unless one started after `since`. Does not bring forward the next
 * read of a stream that fails, or whose walks prove nothing (`doubtAboutWalk`).
 */
export async function sweepOtherStreams(tx: Queryable, lease: StreamLease, since: Date): Promise<void> {
  await tx.query(
    `update streams set sweep_due_at = now(),
       due_at = case when failures = 0 and foreign_rows = 0 and set_aside = 0 then now() else due_at end
     where pigeonhole_number = $1 and list = $2 and wanted and gone_at is null and id <> $3
       and (swept_from is null or swept_from <= $4)`,
    [lease.pigeonholeNumber, lease.list, lease.streamId, since],
  );
}

/** An item younger than this may exist on one server of the service and not yet on another. */
const settledAfterMs = 60_000;

/**
 * Makes a stream due for the read that confirms its missing items: immediately, or at the time from which a response
 * can confirm them.
 *
 * If `walksAgain` is true (each read of the stream includes all its pages), the stream is also due immediately after
 * the first walk that showed an item's neighbours but not the item. A second such walk proves the absence. An item that
 * the ledger has held for less than `settledAfterMs` does not make the stream due. Each item causes only one such
 * repeat: if walks cannot prove its absence, they would otherwise follow each other without end.
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
       select m.stream_id, min(case when m.confirm_at is null then interval '0' else greatest(m.confirm_at - now(), interval '0') end) as wait,
         bool_or(m.confirm_at is not null) as confirms
       from missing m
         cross join lateral (select foreign_rows + set_aside as unusable, swept_from from streams where id = m.stream_id limit 1) w
         cross join lateral (select last_sequence from items
           where pigeonhole_number = m.pigeonhole_number and list = m.list and key = m.key and payload is not null
             limit 1) i
         cross join lateral (select kind, found_at from changes
           where pigeonhole_number = m.pigeonhole_number and sequence = i.last_sequence limit 1) c
       where m.stream_id = $1 and m.state = 'open' and w.unusable = 0
         and (m.confirm_at >= w.swept_from
           or ($4 and m.walks = 1 and m.since = w.swept_from
             and (c.kind <> 'created' or c.found_at < now() - $3 * interval '1 millisecond')))
       group by m.stream_id) next
     where s.id = $1 and s.epoch = $2`,
    [lease.streamId, lease.epoch, settledAfterMs, walksAgain],
  );
}
