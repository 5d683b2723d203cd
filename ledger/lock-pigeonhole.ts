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
       s.gone_count > 0 or s.gone_at is not null as doubted,
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
 * A stream counts as gone after the service has reported at least `times` times, over at least `overMs`, that it does
 * not exist.
 */
const goneAfter = { times: 3, overMs: 10 * 60_000 };

/**
 * Records that the service reports, with its own error code, that the stream's pigeonhole or session does not exist.
 * The service may report this for a moment while it is being deployed, so one report is not enough.
 * @returns true if the stream counts as gone now
 */
export async function markGone(
  ledger: Ledger,
  lease: StreamLease,
  failure: { detail: string; what: 'pigeonhole' | 'session'; retryInMs: number; retryGoneInMs: number },
): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    await tx.query('select 1 from pigeonholes where ref = $1 for no key update', [lease.ref]); // locked before the stream, as everywhere
    const [row] = await tx.query<{ gone: boolean }>(
      `update streams set owner = null, failures = failures + 1, failure = $3, gone_count = gone_count + 1,
         gone_since = coalesce(gone_since, clock_timestamp()),
         gone_at = coalesce(gone_at, case when gone_count + 1 >= $4
           and gone_since <= clock_timestamp() - $5 * interval '1 millisecond' then clock_timestamp() end)
       where id = $1 and epoch = $2 returning gone_at is not null as gone`,
      [lease.streamId, lease.epoch, failure.detail, goneAfter.times, goneAfter.overMs],
    );
    if (row === undefined) throw stale(lease);
    await tx.query(`update streams set due_at = clock_timestamp() + $2 * interval '1 millisecond' where id = $1`, [
      lease.streamId,
      row.gone ? failure.retryGoneInMs : failure.retryInMs,
    ]);
    if (row.gone && failure.what === 'pigeonhole') {
      await tx.query('update pigeonholes set gone_at = coalesce(gone_at, clock_timestamp()) where ref = $1', [
        lease.ref,
      ]);
    }
    return row.gone;
  });
}

/**
 * Records that a stream exists, because the service answers requests for it again. If the stream counted as gone, its
 * pigeonhole and the other streams may exist again too. pigeonpost rarely reads streams that count as gone, so they are
 * made due now. The caller holds the pigeonhole's lock.
 */
async function existsAgain(tx: Queryable, lease: StreamLease): Promise<void> {
  await tx.query(
    `with before as (select gone_at from streams where id = $1),
     pigeonhole as (update pigeonholes set gone_at = null where ref = $2 and gone_at is not null
       and exists (select 1 from before where gone_at is not null)),
     others as (update streams set due_at = now() where ref = $2 and id <> $1 and wanted and gone_at is not null
       and due_at > now() and exists (select 1 from before where gone_at is not null))
     update streams set gone_count = 0, gone_since = null, gone_at = null where id = $1`,
    [lease.streamId, lease.ref],
  );
}
