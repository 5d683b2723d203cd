import { serviceSilent } from '../../operations/problem-words.js';
import type { ApiError } from '../../pigeonhole/api-error.js';
import type { Log } from '../collaborators.js';

/** Fewer failures in a row concern single streams. */
const outageAfter = 3;
/** A service that is back sooner, after a restart or when all connections were closed at the same time, was not down. */
const silentAfterMs = 3000;
const hourMs = 3_600_000;
/** A service that answers now and then gets no more log lines than one that never answers. */
const quietMs = 10 * 60_000;
/** Another process may have noted an outage and ended: an answer is noted this often although this process knows of none. */
const confirmEveryMs = 60_000;

type FailedRequest = Pick<ApiError, 'message' | 'requestId'>;

interface Outage {
  failures: number;
  /** When the first request was sent that was not answered. */
  since: number;
  /** Requests in progress show it: they were not answered for seconds. */
  isSilent: boolean;
  /** Lines are written while it lasts: the next one then. Null: none was written yet. */
  nextLineAt: number | null;
  wait: number;
}

/** Stores what the other processes, the status and the alerts have to know. */
export interface OutageNotes {
  unanswered(workspace: string, outage: { readonly forMs: number; readonly reason: string }): Promise<void>;
  answering(workspace: string): Promise<void>;
}

/**
 * Judges by the requests to a workspace's service whether it answers: one incident with one start, whatever number of
 * streams find out. The log has one line when it begins, one now and then, and one when it is over.
 */
export class Outages {
  readonly #outages = new Map<string, Outage>();
  readonly #quietUntil = new Map<string, number>();
  readonly #backAt = new Map<string, number>();
  readonly #confirmedAt = new Map<string, number>();
  readonly #answeredAt = new Map<string, number>();

  /** @param now a clock that never jumps, ms; @param wallNow epoch ms, by the database's clock */
  constructor(
    private readonly log: Log,
    private readonly notes: OutageNotes,
    private readonly now: () => number,
    private readonly wallNow: () => number,
  ) {}

  /** Takes note of a request without an answer, or with one that only says that something is wrong over there. */
  async failed(workspace: string, error: FailedRequest, startedAt = this.now()): Promise<void> {
    const outage = this.#outageOf(workspace, startedAt);
    outage.failures += 1;
    await this.#note(workspace, outage, error);
  }

  /** Takes note that several requests have been in progress for seconds and none was answered. */
  async silent(workspace: string, error: FailedRequest, startedAt: number): Promise<void> {
    const outage = this.#outageOf(workspace, startedAt);
    outage.isSilent = true;
    await this.#note(workspace, outage, error);
  }

  #outageOf(workspace: string, startedAt: number): Outage {
    // A request that was sent before the last answer says nothing of the time after it.
    const since = Math.max(startedAt, this.#answeredAt.get(workspace) ?? Number.NEGATIVE_INFINITY);
    const known = this.#outages.get(workspace);
    const outage = known ?? { failures: 0, since, isSilent: false, nextLineAt: null, wait: hourMs };
    this.#outages.set(workspace, outage);
    outage.since = Math.min(outage.since, since);
    return outage;
  }

  async #note(workspace: string, outage: Outage, error: FailedRequest): Promise<void> {
    const now = this.now();
    if (!isOutage(outage, now)) return;
    this.#confirmedAt.delete(workspace);
    this.#report(workspace, outage, error);
    await this.notes.unanswered(workspace, { forMs: now - outage.since, reason: error.message });
  }

  /** Takes note of an answer. */
  async answered(workspace: string): Promise<void> {
    const now = this.now();
    this.#answeredAt.set(workspace, now);
    const outage = this.#outages.get(workspace);
    if (outage !== undefined) {
      this.#outages.delete(workspace);
      if (outage.isSilent || outage.failures >= outageAfter) this.#backAt.set(workspace, now);
      if (outage.nextLineAt !== null) {
        const seconds = Math.round((now - outage.since) / 1000);
        this.log.info(
          { workspace, failures: outage.failures, seconds },
          `The service answers workspace ${workspace} again`,
        );
      }
    }
    if (now - (this.#confirmedAt.get(workspace) ?? Number.NEGATIVE_INFINITY) < confirmEveryMs) return;
    this.#confirmedAt.set(workspace, now);
    await this.notes.answering(workspace);
  }

  /** Says whether the service as a whole does not answer, so that a line for each stream adds nothing. */
  isDown(workspace: string): boolean {
    const outage = this.#outages.get(workspace);
    return outage !== undefined && isOutage(outage, this.now());
  }

  /** Says whether requests failed since the last answer, too few of them to say that the service is down. */
  isSuspected(workspace: string): boolean {
    return this.#outages.has(workspace) && !this.isDown(workspace);
  }

  /** Says whether it answers again since a short while: that streams can be read again needs no line then. */
  wasDownLately(workspace: string): boolean {
    return this.now() - (this.#backAt.get(workspace) ?? Number.NEGATIVE_INFINITY) < quietMs;
  }

  #report(workspace: string, outage: Outage, error: FailedRequest): void {
    const now = this.now();
    if (now < (outage.nextLineAt ?? this.#quietUntil.get(workspace) ?? 0)) return;
    const { failures } = outage;
    const since = new Date(this.wallNow() - (now - outage.since)).toISOString();
    const seconds = Math.round((now - outage.since) / 1000);
    this.log.warn(
      { workspace, failures, seconds, requestId: error.requestId, error: error.message },
      serviceSilent(workspace, since),
    );
    outage.nextLineAt = now + outage.wait;
    outage.wait *= 2;
    this.#quietUntil.set(workspace, now + quietMs);
  }
}

function isOutage({ failures, since, isSilent }: Outage, now: number): boolean {
  return isSilent || (failures >= outageAfter && now - since >= silentAfterMs);
}
