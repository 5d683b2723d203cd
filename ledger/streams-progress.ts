import type { Queryable } from './drivers/database.js';

/** A stay of an activity with a group of pigeonholes (decision 0088): what it writes counts only under the newest epoch. */
export interface ReaderFence {
  /** The number of the group. */
  readonly number: number;
  readonly epoch: number;
}

/**
 * What the reads of a stream since its last stored progress have shown: nothing new. All values are absolute, so that a
 * later one contains an earlier one that was lost.
 */
export interface StreamProgress {
  readonly streamId: number;
  /** The epoch of the stream's lease. */
  readonly epoch: number;
  /** First request and end of the last read, by the database's clock (`DatabaseClock`). */
  readonly askedAt: Date;
  readonly polledAt: Date;
  readonly dueAt: Date;
  readonly everyMs: number;
  readonly reason: string;
  readonly wantedMs: number;
  readonly quietReads: number;
  /** The last sweep that ended; null: none did. */
  readonly swept: SweepProgress | null;
}

/** A sweep whose pages were all those of the sweep before. */
export interface SweepProgress {
  /** Number of finished sweeps. */
  readonly sweeps: number;
  readonly startedAt: Date;
  /** Instant of its first request. */
  readonly firstAt: Date;
  readonly sweptAt: Date;
  readonly sweepDueAt: Date;
}

/**
 * Stores the progress of streams that were read and have not changed, in one statement. A read or a sweep that was
 * requested after the stored one started stays due.
 * @returns the streams whose progress was refused, because they have another reader or have changed
 */
export async function writeProgress(
  tx: Queryable,
  _fence: ReaderFence | null,
  rows: readonly StreamProgress[],
): Promise<number[]> {
  if (rows.length === 0) return [];
  const written = await tx.query<{ id: number }>(
    `update streams s set polled_at = r.polled_at, quiet_reads = r.quiet_reads, every_ms = r.every_ms,
       every_reason = r.every_reason, wanted_ms = r.wanted_ms,
       due_at = case when s.due_at <= r.asked_at then r.due_at else least(s.due_at, r.due_at) end,
       sweeps = coalesce(r.sweeps, s.sweeps), swept_from = coalesce(r.first_at, s.swept_from),
       swept_at = coalesce(r.swept_at, s.swept_at),
       sweep_due_at = case when r.sweeps is null or (s.sweep_due_at > r.started_at and s.sweep_due_at <= clock_timestamp())
         then s.sweep_due_at else r.sweep_due_at end
     from unnest($1::int8[], $2::int4[], $3::timestamptz[], $4::timestamptz[], $5::int8[], $6::text[], $7::int8[],
         $8::int4[], $9::int8[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[])
       as r (id, epoch, polled_at, due_at, every_ms, every_reason, wanted_ms, quiet_reads, sweeps, started_at, first_at,
         swept_at, sweep_due_at, asked_at)
     where s.id = r.id and s.epoch = r.epoch and s.failures = 0 and s.gone_count = 0 and s.doubt_since is null
       and not s.differs
     returning s.id`,
    [
      rows.map(({ streamId }) => streamId),
      rows.map(({ epoch }) => epoch),
      rows.map(({ polledAt }) => polledAt),
      rows.map(({ dueAt }) => dueAt),
      rows.map(({ everyMs }) => everyMs),
      rows.map(({ reason }) => reason),
      rows.map(({ wantedMs }) => wantedMs),
      rows.map(({ quietReads }) => quietReads),
      rows.map(({ swept }) => swept?.sweeps ?? null),
      rows.map(({ swept }) => swept?.startedAt ?? null),
      rows.map(({ swept }) => swept?.firstAt ?? null),
      rows.map(({ swept }) => swept?.sweptAt ?? null),
      rows.map(({ swept }) => swept?.sweepDueAt ?? null),
      rows.map(({ askedAt }) => askedAt),
    ],
  );
  const accepted = new Set(written.map(({ id }) => id));
  return rows.map(({ streamId }) => streamId).filter((id) => !accepted.has(id));
}
