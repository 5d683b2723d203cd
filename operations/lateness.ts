import type { CadenceReason } from '../reading/cadence.js';

/**
 * When a list counts as late, and which hindrances excuse a late read. docs/operations.md#freshness describes it.
 */

/** One list of a pigeonhole, or of one of its sessions. */
export interface ListReading {
  readonly list: string;
  readonly sessionId: number | null;
  readonly reason: CadenceReason | null;
  readonly everyMs: number | null;
  /** The interval according to the configuration, which the quota may lengthen; null: not read yet by this version. */
  readonly wantedMs: number | null;
  readonly readAt: Date | null;
  readonly dueAt: Date;
}

/** A list is late when it has been due for longer than its own interval. This time is at least 15 s and at most 5 min. */
const graceMs = { least: 15_000, most: 5 * 60_000 };

/**
 * Within this time after a start, a list that was not read since the start is not late: if pigeonpost was stopped for
 * long, all lists are overdue, and they are read one after the other.
 */
const startGraceMs = 2 * 60_000;

/** No list can be late before this time, so lists that were read or due more recently are not loaded one by one. */
export const shortestGraceMs = graceMs.least;

/** A time in which a pigeonhole could not be read: how many ms ago it started and ended. */
export interface Hindrance {
  readonly startedMsAgo: number;
  readonly endedMsAgo: number;
}

/** Facts that excuse a late read, apart from failures of single lists. */
export interface Obstacles {
  /** Milliseconds since the process started; by default long ago. */
  readonly upMs?: number | undefined;
  /** From `HindranceMemory`, in the order of time; by default none. */
  readonly hindrances?: readonly Hindrance[] | undefined;
}

/**
 * Returns the milliseconds since a list should have been read; 0 while it is in time. Failures and retries do not move
 * that instant, so a list that the service refuses becomes late. A list that was never read should have been read when
 * it was due. Hindrances that are over do not make a list late: only the time in which it could have been read counts.
 */
export function latenessMs(
  reading: Pick<ListReading, 'reason' | 'everyMs' | 'readAt' | 'dueAt'>,
  now: Date,
  { upMs = Infinity, hindrances = [] }: Obstacles = {},
): number {
  if (reading.reason === 'dormant') return 0;
  const long = hindrances.findLast(({ startedMsAgo, endedMsAgo }) => startedMsAgo - endedMsAgo >= startGraceMs);
  const readableMs = Math.min(upMs, long?.endedMsAgo ?? Infinity);
  const isReadSince = reading.readAt !== null && reading.readAt.getTime() > now.getTime() - readableMs;
  if (readableMs < startGraceMs && !isReadSince) return 0;
  const overdueMs = now.getTime() - expectedAt(reading).getTime();
  const hinderedMs = hindrances.reduce(
    (sum, { startedMsAgo, endedMsAgo }) => sum + Math.max(0, Math.min(startedMsAgo, overdueMs) - endedMsAgo),
    0,
  );
  const grace = Math.min(Math.max(reading.everyMs ?? 0, graceMs.least), graceMs.most);
  return overdueMs - hinderedMs > grace ? overdueMs : 0;
}

function expectedAt({ everyMs, readAt, dueAt }: Pick<ListReading, 'everyMs' | 'readAt' | 'dueAt'>): Date {
  // Before the first read by this version, the ledger has no interval, only the time at which the list is due.
  return readAt === null || everyMs === null ? dueAt : new Date(readAt.getTime() + everyMs);
}

/** Hindrances that ended longer ago are forgotten: since then, each list has had its grace. */
const rememberedMs = 2 * graceMs.most;

/**
 * Remembers when each pigeonhole could not be read because of a pause, a quota or a service that does not answer. When
 * such a hindrance ends, all lists are overdue, and they are read one after the other. Its time therefore does not
 * count when their lateness is judged. After a hindrance of at least two minutes, the lists also get the same time as
 * after a start before they count as late. After a shorter one, they do not. Otherwise a service that often requests a
 * wait could hide lists that are never read.
 */
export class HindranceMemory {
  readonly #seen = new Map<string, { fromMs: number; toMs: number; isOver: boolean }[]>();

  /** @param nowMs of a clock that only rises */
  constructor(private readonly nowMs: () => number) {}

  /**
   * Records the current state of a pigeonhole.
   * @param hinderedMs milliseconds for which it has certainly been hindered; null: it is not
   * @returns the hindrances that are over, in the order of time; none while one lasts
   */
  note(pigeonhole: string, hinderedMs: number | null): readonly Hindrance[] {
    const now = this.nowMs();
    const seen = (this.#seen.get(pigeonhole) ?? []).filter(({ toMs, isOver }) => !isOver || now - toMs < rememberedMs);
    const last = seen.at(-1);
    if (hinderedMs === null) {
      // It may have ended any time since the last call, so lists certainly can be read from now on.
      if (last?.isOver === false) Object.assign(last, { toMs: now, isOver: true });
    } else if (last?.isOver === false) {
      last.toMs = now;
    } else {
      seen.push({ fromMs: Math.max(now - hinderedMs, last?.toMs ?? -Infinity), toMs: now, isOver: false });
    }
    if (seen.length === 0) this.#seen.delete(pigeonhole);
    else this.#seen.set(pigeonhole, seen);
    return hinderedMs === null ? this.over(pigeonhole) : [];
  }

  /** Returns the hindrances that `note` would return if the state of the pigeonhole had not changed since its last call. */
  over(pigeonhole: string): readonly Hindrance[] {
    const now = this.nowMs();
    const seen = this.#seen.get(pigeonhole) ?? [];
    if (seen.at(-1)?.isOver === false) return [];
    return seen.map(({ fromMs, toMs }) => ({ startedMsAgo: now - fromMs, endedMsAgo: now - toMs }));
  }
}
