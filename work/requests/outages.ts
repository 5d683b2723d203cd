import { formatInstant } from '../../base/words.js';
import type { Ledger } from '../../ledger/ledger.js';
import { isUnanswered, markAnswering, markUnanswered, retryAfterOutage } from '../../ledger/workspaces.js';
import type { ApiError } from '../../pigeonhole/api-error.js';
import type { Log } from '../collaborators.js';

/** Minimum number of consecutive failures in an outage, because fewer may concern only single streams. */
const outageAfter = 3;
/** Minimum duration of an outage, so that neither a restart nor the closing of all connections counts as one. */
const minOutageMs = 3000;
const hourMs = 3_600_000;
/** Minimum time between two outage log lines, so that a service that responds intermittently does not fill the log. */
const quietMs = 10 * 60_000;
/** Interval at which a response clears the stored outage, in case it was stored by a process that has ended since. */
const confirmEveryMs = 60_000;

type FailedRequest = Pick<ApiError, 'message' | 'problem' | 'status' | 'requestId'>;

interface Outage {
  failures: number;
  /** Instant at which the first unanswered request was sent. */
  since: number;
  /** True if requests in progress have had no response for seconds. */
  isSilent: boolean;
  /** Earliest instant of the next log line; null if none was written yet. */
  nextLineAt: number | null;
  /** Time from the next log line to the one after it; doubles with each line. */
  lineEveryMs: number;
}

/** The requests to a workspace's service so far. Instants are by the monotonic clock; `-Infinity`: never. */
interface Watched {
  /** The failed requests since the last response; undefined if there are none. */
  outage: Outage | undefined;
  answeredAt: number;
  /** End of the last outage that was worth a log line for each stream. */
  backAt: number;
  /** The last time that a response cleared the stored outage. */
  confirmedAt: number;
  /** No outage is logged before this instant. */
  quietUntil: number;
  /** Number of outages that have ended. */
  ended: number;
}

/** Stores outages for the other processes, the status and the alerts. */
interface OutageNotes {
  unanswered(workspace: string, outage: { readonly forMs: number; readonly reason: string }): Promise<void>;
  answering(workspace: string): Promise<void>;
}

/** Stores outages in the ledger. @param onDue called when lists become due because the service answers again */
export function storedOutages(ledger: Ledger, onDue: (workspace: string) => void): OutageNotes {
  return {
    unanswered: (workspace, outage) => markUnanswered(ledger, workspace, outage),
    async answering(workspace) {
      if (!(await isUnanswered(ledger, workspace))) return;
      // Streams that failed meanwhile may have to wait for minutes; make them due now. This comes before the removal of
      // the outage note: after a crash in between, the note is still there, and the next response repeats both.
      await retryAfterOutage(ledger, workspace);
      await markAnswering(ledger, workspace);
      onDue(workspace);
    },
  };
}

/**
 * Detects from a workspace's requests whether the service responds. An outage is one incident with one start, however
 * many streams notice it. It is logged when it starts, at doubling intervals from 1 h while it lasts, and when it ends.
 */
export class Outages {
  readonly #workspaces = new Map<string, Watched>();

  /** @param now monotonic clock, ms; @param wallNow epoch ms, by the database's clock */
  constructor(
    private readonly log: Log,
    private readonly notes: OutageNotes,
    private readonly now: () => number,
    private readonly wallNow: () => number,
  ) {}

  /** Notes a request that got no response, or only a server error. */
  async failed(workspace: string, error: FailedRequest, startedAt = this.now()): Promise<void> {
    const outage = this.#outageOf(workspace, startedAt);
    outage.failures += 1;
    await this.#note(workspace, outage, error);
  }

  /** Notes that several requests have been in progress for seconds without a response. */
  async silent(workspace: string, error: FailedRequest, startedAt: number): Promise<void> {
    const outage = this.#outageOf(workspace, startedAt);
    outage.isSilent = true;
    await this.#note(workspace, outage, error);
  }

  #of(workspace: string): Watched {
    let watched = this.#workspaces.get(workspace);
    if (watched === undefined) {
      const never = Number.NEGATIVE_INFINITY;
      watched = {
        outage: undefined,
        answeredAt: never,
        backAt: never,
        confirmedAt: never,
        quietUntil: never,
        ended: 0,
      };
      this.#workspaces.set(workspace, watched);
    }
    return watched;
  }

  #outageOf(workspace: string, startedAt: number): Outage {
    const watched = this.#of(workspace);
    // The outage starts after the last response, even if the unanswered request was sent before that response.
    const since = Math.max(startedAt, watched.answeredAt);
    watched.outage ??= { failures: 0, since, isSilent: false, nextLineAt: null, lineEveryMs: hourMs };
    watched.outage.since = Math.min(watched.outage.since, since);
    return watched.outage;
  }

  async #note(workspace: string, outage: Outage, error: FailedRequest): Promise<void> {
    const now = this.now();
    if (!isOutage(outage, now)) return;
    this.#of(workspace).confirmedAt = Number.NEGATIVE_INFINITY;
    this.#report(workspace, outage, error);
    const reason = error.status === null ? error.problem : `${error.problem} (HTTP ${error.status})`;
    await this.notes.unanswered(workspace, { forMs: now - outage.since, reason });
  }

  /** Notes a response. */
  async answered(workspace: string): Promise<void> {
    const now = this.now();
    const watched = this.#of(workspace);
    const { outage } = watched;
    watched.answeredAt = now;
    watched.outage = undefined;
    if (outage !== undefined) {
      if (outage.isSilent || outage.failures >= outageAfter) watched.backAt = now;
      if (isOutage(outage, now)) watched.ended += 1;
      if (outage.nextLineAt !== null) {
        const { failures, since } = outage;
        const seconds = Math.round((now - since) / 1000);
        this.log.info({ workspace, failures, seconds }, `The service answers workspace ${workspace} again`);
      }
    }
    if (now - watched.confirmedAt < confirmEveryMs) return;
    watched.confirmedAt = now;
    await this.notes.answering(workspace);
  }

  /** Whether the whole service is down, so that a log line for each stream is unnecessary. */
  isDown(workspace: string): boolean {
    const { outage } = this.#of(workspace);
    return outage !== undefined && isOutage(outage, this.now());
  }

  /** Whether requests have failed since the last response, but too few to call the service down. */
  isSuspected(workspace: string): boolean {
    return this.mayBegin(workspace, 0);
  }

  /**
   * Whether a stream's failures may be the beginning of an outage: none of the workspace's requests has been answered
   * since the first of them, and the outage is not certain yet.
   * @param failures number of the stream's consecutive failures
   */
  mayBegin(workspace: string, failures: number): boolean {
    const { outage } = this.#of(workspace);
    return outage !== undefined && !isOutage(outage, this.now()) && outage.failures >= failures;
  }

  /**
   * Returns the number of outages that have ended. If the number rises between the start and the failure of a request,
   * the failure says nothing about the service as it is now.
   */
  endedOf(workspace: string): number {
    return this.#of(workspace).ended;
  }

  /** Whether an outage ended recently, so that log lines about recovered streams are unnecessary. */
  wasDownLately(workspace: string): boolean {
    return this.now() - this.#of(workspace).backAt < quietMs;
  }

  #report(workspace: string, outage: Outage, error: FailedRequest): void {
    const now = this.now();
    const watched = this.#of(workspace);
    if (now < (outage.nextLineAt ?? watched.quietUntil)) return;
    const { failures } = outage;
    const since = new Date(this.wallNow() - (now - outage.since)).toISOString();
    const seconds = Math.round((now - outage.since) / 1000);
    this.log.warn(
      { workspace, failures, seconds, requestId: error.requestId, error: error.message },
      serviceSilent(workspace, since),
    );
    outage.nextLineAt = now + outage.lineEveryMs;
    outage.lineEveryMs *= 2;
    watched.quietUntil = now + quietMs;
  }
}

function isOutage({ failures, since, isSilent }: Outage, now: number): boolean {
  return isSilent || (failures >= outageAfter && now - since >= minOutageMs);
}

/** Returns the sentence about a service that does not answer, the same in the log, the status and alerts. Pure. */
export function serviceSilent(workspace: string, since: string | number | null | undefined): string {
  return `The service has not answered workspace ${workspace} since ${formatInstant(since)}`;
}
