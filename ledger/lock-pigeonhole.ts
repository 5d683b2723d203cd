import type { Queryable } from './drivers/database.js';
import { type StreamLease, stale } from './streams.js';
import type { PageScope, PageWrite } from './write-changes.js';
import type { Ledger } from './ledger.js';

/** A page of a stream that is being written under the stream's lease, which `lockPigeonhole` has checked. */
export interface StreamWrite extends PageWrite {
  readonly lease: StreamLease;
}

/**
 * Checks the stream's lease and locks the pigeonhole's row until commit. Sequences are assigned under this lock, so
 * transactions commit in the order of their sequences.
 *
 * Locks the pigeonhole's row before the stream's, as all code does (PostgreSQL locks rows in the order of the FROM
 * clause). Otherwise the transaction of a page of the list `sessions`, which revises items of other streams, could
 * deadlock with that of a page of such a stream.
 *
 * The caller is about to store an answer of the service about this stream. If the stream was suspected to be gone, this
 * function therefore records that it exists.
 * @throws {LedgerError} kind `stale` if the stream has a newer reader
 */
export async function lockPigeonhole(tx: Queryable, lease: StreamLease): Promise<PageScope> {
  const [row] = await tx.query<LockedRow>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId", p.next_sequence as "nextSequence",
       s.gone_count > 0 or s.gone_at is not null or p.gone_at is not null as doubted,
       exists (select 1 from forgotten f where f.workspace = p.workspace)
         or exists (select 1 from forgotten_codes f where f.ref = p.ref) as "hasForgottenPeople"
     from pigeonholes p join streams s on s.ref = p.ref
     where s.id = $1 and s.epoch = $2 for no key update`,
    [lease.streamId, lease.epoch],
  );
  if (row === undefined) throw stale(lease);
  const { doubted, ...scope } = row;
  if (doubted) await existsAgain(tx, lease);
  return { ...scope, ref: lease.ref, list: lease.list, streamId: lease.streamId };
}

interface LockedRow extends Pick<PageScope, 'workspace' | 'pigeonholeId' | 'nextSequence'> {
  readonly doubted: boolean;
  readonly hasForgottenPeople: boolean;
}

/**
 * A session counts as gone after the service has reported at least `times` times, over at least `overMs`, that it does
 * not exist. A pigeonhole counts as gone if this holds for one of its streams, and no other stream was answered.
 */
const goneAfter = { times: 3, overMs: 10 * 60_000 };

/**
 * Records that the service reports, with its own error code, that the stream's pigeonhole or session does not exist.
 * The service may report this for a moment while it is being deployed, so one report is not enough. It may also report
 * it only for one list of a pigeonhole. Then that stream fails like any other, and the pigeonhole exists.
 * @returns true if the session or pigeonhole counts as gone now
 */
export async function markGone(
  ledger: Ledger,
  lease: StreamLease,
  failure: { detail: string; what: 'pigeonhole' | 'session'; retryInMs: number; retryGoneInMs: number },
): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    await tx.query('select 1 from pigeonholes where ref = $1 for no key update', [lease.ref]); // locked before the stream, as everywhere
    const marked = await tx.query(
      `update streams set owner = null, failures = failures + 1, failure = $3, gone_count = gone_count + 1,
         gone_since = coalesce(gone_since, clock_timestamp()) where id = $1 and epoch = $2 returning id`,
      [lease.streamId, lease.epoch, failure.detail],
    );
    if (marked.length === 0) throw stale(lease);
    if (failure.what === 'pigeonhole') await markPigeonhole(tx, lease);
    else
      await tx.query(`update streams s set gone_at = clock_timestamp() where id = $1 and ${isReportedGone}`, [
        lease.streamId,
      ]);
    const [row] = await tx.query<{ gone: boolean }>(
      `update streams set due_at = clock_timestamp()
         + case when gone_at is null then $2::float8 else $3::float8 end * interval '1 millisecond'
       where id = $1 returning gone_at is not null as gone`,
      [lease.streamId, failure.retryInMs, failure.retryGoneInMs],
    );
    return row!.gone;
  });
}

/** SQL condition: the service has reported often and long enough that the stream `s` does not exist. */
const isReportedGone = `s.gone_at is null and s.gone_count >= ${goneAfter.times}
  and s.gone_since <= clock_timestamp() - ${goneAfter.overMs} * interval '1 millisecond'`;

/** SQL condition: the last read of the stream `o` was answered, or one was after the first report that `s` is gone. */
const isAnswered = `o.wanted and o.gone_at is null and o.gone_count = 0 and (o.failures = 0 or o.polled_at > s.gone_since)`;

/**
 * Marks the pigeonhole and its streams as gone if the service answers about none of them. Otherwise, makes the streams
 * due now that were not read after the first report, and after the third report all of them: their answers decide.
 */
async function markPigeonhole(tx: Queryable, { ref, streamId }: StreamLease): Promise<void> {
  await tx.query(
    `with lost as (update streams s set gone_at = clock_timestamp() where s.ref = $1 and s.wanted and ${isReportedGone}
       and not exists (select 1 from streams o where o.ref = s.ref and o.id <> s.id and ${isAnswered}) returning id)
     update pigeonholes set gone_at = coalesce(gone_at, clock_timestamp()) where ref = $1 and exists (select 1 from lost)`,
    [ref],
  );
  await tx.query(
    `update streams o set due_at = least(o.due_at, now()) from streams s
     where s.id = $2 and ${isReportedGone} and o.ref = $1 and o.id <> s.id and ${isAnswered}
       and (s.gone_count = ${goneAfter.times} or o.polled_at is null or o.polled_at < s.gone_since)`,
    [ref, streamId],
  );
}

/**
 * Records that a stream exists, because the service answers requests for it again. If the stream or its pigeonhole
 * counted as gone, the other streams that count as gone may exist again too. pigeonpost rarely reads such streams, so
 * they are made due now. The caller holds the pigeonhole's lock.
 *
 * If the pigeonhole counted as gone, its other streams no longer do. Otherwise, a stream that does not exist would mark
 * the pigeonhole as gone with its next failure, and each answer about another stream would make it due again.
 */
async function existsAgain(tx: Queryable, lease: StreamLease): Promise<void> {
  await tx.query(
    `with before as (select s.gone_at, p.gone_at as pigeonhole_gone_at from streams s join pigeonholes p on p.ref = s.ref
       where s.id = $1),
     pigeonhole as (update pigeonholes set gone_at = null where ref = $2 and gone_at is not null),
     others as (update streams s set due_at = least(s.due_at, now()),
         gone_count = case when b.pigeonhole_gone_at is null then s.gone_count else 0 end,
         gone_since = case when b.pigeonhole_gone_at is null then s.gone_since end,
         gone_at = case when b.pigeonhole_gone_at is null then s.gone_at end
       from before b where s.ref = $2 and s.id <> $1 and s.wanted and s.gone_at is not null
         and (b.gone_at is not null or b.pigeonhole_gone_at is not null))
     update streams set gone_count = 0, gone_since = null, gone_at = null where id = $1`,
    [lease.streamId, lease.ref],
  );
}
