import type { Queryable } from './drivers/database.js';
import { isInFuture } from './database-clock.js';

/** A stay of an activity with a group of pigeonholes (decision 0088): what it writes counts only under the newest epoch. */
export interface ReaderFence {
  /** The number of the group. */
  readonly number: number;
  readonly epoch: number;
}

/** SQL condition: no other stay has taken the group; true without a fence. */
export const isCurrentStay = (number: string, epoch: string): string =>
  `(${number}::int4 is null or exists (select 1 from readers g where g.number = ${number} and g.epoch = ${epoch}::int8))`;

/**
 * What the reads of a stream since its last stored progress have shown: nothing new. All values are absolute, so that a
 * later one contains an earlier one that was lost.
 */
export interface StreamProgress {
  readonly streamId: number;
  /** The epoch of the stream's lease. */
  readonly epoch: number;
  /** End of the last read. All instants are by the database's clock (`DatabaseClock`). */
  readonly polledAt: Date;
  readonly dueAt: Date;
  /** A stored due time after this instant was requested since the read started, and is kept. */
  readonly askedAfter: Date;
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
  /**
   * Start of the sweep. A stored due time after it, if it has come, was requested since, unless it is the planned one.
   */
  readonly startedAt: Date;
  /** The due time that was stored when the sweep started, in whole milliseconds; null: none was. */
  readonly plannedAt: Date | null;
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
  fence: ReaderFence | null,
  rows: readonly StreamProgress[],
): Promise<number[]> {
  if (rows.length === 0) return [];
  const written = await tx.query<{ id: number }>(
    `with read as (
       select * from unnest($1::int8[], $2::int8[], $3::timestamptz[], $4::timestamptz[], $5::int8[], $6::text[],
           $7::int8[], $8::int4[], $9::int4[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[],
           $13::timestamptz[], $14::timestamptz[], $15::timestamptz[])
         as r (id, epoch, polled_at, due_at, every_ms, every_reason, wanted_ms, quiet_reads, sweeps, sweep_started_at,
           first_at, swept_at, sweep_due_at, asked_after, sweep_planned_at)),
     free as ( -- waits for nobody, so that it cannot deadlock with a transaction that locks several streams
       select s.id from streams s join read r on r.id = s.id
       where s.epoch = r.epoch and ${isCurrentStay('$16', '$17')} and s.failures = 0 and s.gone_count = 0 and s.doubt_since is null and not s.differs
         and (s.polled_at is null or s.polled_at < r.polled_at or ${isInFuture('s.polled_at')}) -- otherwise something later is stored
       for no key update of s skip locked)
     update streams s set polled_at = r.polled_at, quiet_reads = r.quiet_reads, every_ms = r.every_ms,
       every_reason = r.every_reason, wanted_ms = r.wanted_ms,
       due_at = case when s.due_at <= r.asked_after then r.due_at else least(s.due_at, r.due_at) end,
       sweeps = coalesce(r.sweeps, s.sweeps), swept_from = coalesce(r.first_at, s.swept_from),
       swept_at = coalesce(r.swept_at, s.swept_at),
       sweep_due_at = case when r.sweeps is null
           or (s.sweep_due_at > r.sweep_started_at and s.sweep_due_at <= clock_timestamp()
             and date_trunc('milliseconds', s.sweep_due_at) is distinct from r.sweep_planned_at)
         then s.sweep_due_at else r.sweep_due_at end
     from read r join free f on f.id = r.id
     where s.id = r.id
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
      rows.map(({ askedAfter }) => askedAfter),
      rows.map(({ swept }) => swept?.plannedAt ?? null),
      fence?.number ?? null,
      fence?.epoch ?? null,
    ],
  );
  const accepted = new Set(written.map(({ id }) => id));
  return rows.map(({ streamId }) => streamId).filter((id) => !accepted.has(id));
}
