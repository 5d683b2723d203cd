import type { Queryable } from './drivers/database.js';
import { raiseAsked } from './pigeonholes-asked.js';
import type { Ledger } from './ledger.js';
import { lockPlace } from './lock-order.js';
import { markPlaceGone } from './pigeonholes.js';
import { stale, type StreamLease } from './streams.js';

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
    await lockPlace(tx, lease.pigeonholeNumber); // locked before the stream, as everywhere
    const marked = await tx.query(
      `update streams set failures = failures + 1, failure = $3, gone_count = gone_count + 1,
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
async function markPigeonhole(tx: Queryable, { pigeonholeNumber, streamId }: StreamLease): Promise<void> {
  const lost = await tx.query(
    `update streams s set gone_at = clock_timestamp() where s.pigeonhole_number = $1 and s.wanted and ${isReportedGone}
       and not exists (select 1 from streams o where o.pigeonhole_number = s.pigeonhole_number and o.id <> s.id
         and ${isAnswered}) returning id`,
    [pigeonholeNumber],
  );
  if (lost.length > 0) await markPlaceGone(tx, pigeonholeNumber, true);
  await tx.query(
    `update streams o set due_at = now() from streams s
     where s.id = $2 and ${isReportedGone} and o.pigeonhole_number = $1 and o.id <> s.id and ${isAnswered}
       and (s.gone_count = ${goneAfter.times} or o.polled_at is null or o.polled_at < s.gone_since)`,
    [pigeonholeNumber, streamId],
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
export async function existsAgain(
  tx: Queryable,
  lease: Pick<StreamLease, 'streamId' | 'pigeonholeNumber'>,
  wasGone: { readonly stream: boolean; readonly pigeonhole: boolean },
): Promise<void> {
  if (wasGone.pigeonhole) await markPlaceGone(tx, lease.pigeonholeNumber, false);
  if (wasGone.stream || wasGone.pigeonhole) {
    await tx.query(
      `update streams set due_at = now(), gone_count = case when $3::boolean then 0 else gone_count end,
         gone_since = case when $3::boolean then null else gone_since end,
         gone_at = case when $3::boolean then null else gone_at end
       where pigeonhole_number = $2 and id <> $1 and wanted and gone_at is not null`,
      [lease.streamId, lease.pigeonholeNumber, wasGone.pigeonhole],
    );
  }
  await tx.query('update streams set gone_count = 0, gone_since = null, gone_at = null where id = $1', [
    lease.streamId,
  ]);
}

/** Marks the streams of deleted sessions as gone, so that their items are kept and not reported as deleted. */
export async function markSessionsGone(
  tx: Queryable,
  pigeonholeNumber: number,
  sessionIds: readonly number[],
): Promise<void> {
  await tx.query(
    `update streams set gone_at = coalesce(gone_at, clock_timestamp()), gone_since = coalesce(gone_since, clock_timestamp())
     where pigeonhole_number = $1 and session_id = any($2::int8[])`,
    [pigeonholeNumber, sessionIds],
  );
}

/**
 * Makes one stream due in each pigeonhole that counts as gone although the service shows it. An answer about this stream
 * shows that the pigeonhole exists again (`lockPigeonhole`), which would otherwise be noticed a day later.
 * @param restMs the ms until a stream that counts as gone is due again (`retryGoneInMs`)
 * @param everyMs minimum ms between two such reads of a pigeonhole
 * @returns the ids of the pigeonholes
 */
export async function probeGone(
  ledger: Ledger,
  workspace: string,
  ids: readonly number[],
  { restMs, everyMs }: { readonly restMs: number; readonly everyMs: number },
): Promise<number[]> {
  return await ledger.db.transaction(async (tx) => {
    const rows = await tx.query<{ pigeonholeNumber: number; pigeonhole_id: number }>(
      `with shown as (
         select pigeonhole_number, pigeonhole_id from pigeonholes
         where workspace = $1 and pigeonhole_id = any($2::int8[]) and gone_at is not null
         order by pigeonhole_number for no key update), -- locked before the streams, as everywhere
       probed as (
         select g.pigeonhole_number, g.pigeonhole_id, (array_agg(s.id order by s.due_at, s.id))[1] as id
         from shown g join streams s on s.pigeonhole_number = g.pigeonhole_number and s.wanted and s.gone_at is not null
         group by g.pigeonhole_number, g.pigeonhole_id having min(s.due_at) > now()
           and max(s.due_at) <= now() + ($3::float8 - $4) * interval '1 millisecond')
       update streams s set due_at = now() from probed p where s.id = p.id
         returning p.pigeonhole_number as "pigeonholeNumber", p.pigeonhole_id`,
      [workspace, ids, restMs, everyMs],
    );
    await raiseAsked(
      tx,
      rows.map(({ pigeonholeNumber }) => pigeonholeNumber),
    );
    return rows.map((row) => row.pigeonhole_id);
  });
}
