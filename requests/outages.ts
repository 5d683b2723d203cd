import { formatInstant } from '../base/words.js';
import type { Ledger } from '../ledger/ledger.js';
import { isUnanswered, markAnswering, markUnanswered, retryAfterOutage } from '../ledger/workspaces.js';
import type { ApiError } from '../pigeonhole/api-error.js';
import type { Log } from '../base/log.js';

/**
 * Number of consecutive failures that are an outage if they concern more than one list; otherwise only that list fails,
 * perhaps because of its cursor. Requests that were in progress at the same time count as one, because a restart of the
 * service ends all of them.
 */
const outageAfter = 3;
/**
 * A request that has no response for this long shows an outage, if no other request got one since it was sent. With the
 * default live interval of 5 s, an outage is noticed at most 10 s after it starts. The request itself continues until
 * its deadline of 30 s, because a slow service may still answer it.
 */
export const silentAfterMs = 5000;
/** Interval between requests that check, during an outage, whether the service answers again. */
export const askBackEveryMs = 10_000;
/** Minimum time between two outage log lines, so that a service that responds intermittently does not fill the log. */
const quietMs = 10 * 60_000;
/** Last part of `silentAfterMs`. */
const lastStepMs = 500;
/** Interval at which a response clears the stored outage, in case it was stored by a process that has ended since. */
const confirmEveryMs = 60_000;

type FailedRequest = Pick<ApiError, 'message' | 'path' | 'problem' | 'status' | 'requestId'>;

interface Outage {
  failures: number;
  /** Paths of the failed requests. */
  readonly paths: Set<string>;
  /** Instant of the last failure that was counted. */
  failedAt: number;
  /** Instant at which the first unanswered request was sent. */
  since: number;
  /** True if a request had no response for `silentAfterMs`. */
  isSilent: boolean;
  isLogged: boolean;
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

/** The clocks of `Outages`. */
export interface OutageClock {
  /** Monotonic clock, ms. */
  readonly now: () => number;
  /** Epoch ms, by the database's clock. */
  readonly wallNow: () => number;
  /** Calls a function after this number of ms. Returns a function that prevents the call. */
  readonly after: (ms: number, then: () => void) => () => void;
}

/** Sets a timer that keeps no process alive. */
export function afterMs(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms).unref();
  return () => clearTimeout(timer);
}

/**
 * Detects from a workspace's requests whether the service responds. An outage is one incident with one start, however
 * many streams notice it: three consecutive failures of more than one list, or one request
 * without a response. It is logged when it starts and
 * when it ends.
 */
export class Outages {
  readonly #workspaces = new Map<string, Watched>();

  constructor(
    private readonly log: Log,
    private readonly notes: OutageNotes,
    private readonly clock: OutageClock,
  ) {}

  /**
   * Notes that a request is sent.
   * @returns a function to call when the request has ended
   */
  sent(workspace: string): () => void {
    const watched = this.#of(workspace);
    const sentAt = this.clock.now();
    const judge = (): void => {
      if (watched.answeredAt < sentAt) this.#silent(workspace, sentAt).catch(() => undefined); // the next failure retries
    };
    // In two steps: a process that was suspended reads the responses that have arrived meanwhile before it judges.
    let cancel = this.clock.after(silentAfterMs - lastStepMs, () => {
      cancel = this.clock.after(lastStepMs, judge);
    });
    return () => cancel();
  }

  /** Notes a request that got no response, or only a server error. */
  async failed(workspace: string, error: FailedRequest, startedAt = this.clock.now()): Promise<void> {
    const outage = this.#outageOf(workspace, startedAt);
    outage.paths.add(error.path);
    if (outage.failures > 0 && startedAt <= outage.failedAt) return;
    outage.failures += 1;
    outage.failedAt = this.clock.now();
    await this.#note(workspace, outage, error);
  }

  async #silent(workspace: string, sentAt: number): Promise<void> {
    const outage = this.#outageOf(workspace, sentAt);
    outage.isSilent = true;
    const problem = `no answer within ${silentAfterMs / 1000} s`;
    await this.#note(workspace, outage, { message: problem, path: '', problem, status: null, requestId: null });
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
    watched.outage ??= { failures: 0, paths: new Set(), failedAt: since, since, isSilent: false, isLogged: false };
    watched.outage.since = Math.min(watched.outage.since, since);
    return watched.outage;
  }

  async #note(workspace: string, outage: Outage, error: FailedRequest): Promise<void> {
    const now = this.clock.now();
    if (!isOutage(outage)) return;
    this.#of(workspace).confirmedAt = Number.NEGATIVE_INFINITY;
    this.#report(workspace, outage, error);
    const reason = error.status === null ? error.problem : `${error.problem} (HTTP ${error.status})`;
    await this.notes.unanswered(workspace, { forMs: now - outage.since, reason });
  }

  /** Notes a response. */
  async answered(workspace: string): Promise<void> {
    const now = this.clock.now();
    const watched = this.#of(workspace);
    const { outage } = watched;
    watched.answeredAt = now;
    watched.outage = undefined;
    if (outage !== undefined) {
      if (isOutage(outage)) {
        watched.backAt = now;
        watched.ended += 1;
      }
      if (outage.isLogged) {
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
    return outage !== undefined && isOutage(outage);
  }

  /** Returns the workspaces whose service is down. */
  down(): string[] {
    return [...this.#workspaces.keys()].filter((workspace) => this.isDown(workspace));
  }

  /**
   * Whether a stream's failures may be the beginning of an outage: none of the workspace's requests has been answered
   * since the first of them, and they are too few for an outage.
   * @param failures number of the stream's consecutive failures
   */
  mayBegin(workspace: string, failures: number): boolean {
    const { outage } = this.#of(workspace);
    return failures < outageAfter && outage !== undefined && !isOutage(outage) && outage.failures >= failures;
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
    return this.clock.now() - this.#of(workspace).backAt < quietMs;
  }

  #report(workspace: string, outage: Outage, error: FailedRequest): void {
    const now = this.clock.now();
    const watched = this.#of(workspace);
    if (outage.isLogged || now < watched.quietUntil) return;
    const { failures } = outage;
    const since = new Date(this.clock.wallNow() - (now - outage.since)).toISOString();
    const seconds = Math.round((now - outage.since) / 1000);
    this.log.warn(
      { workspace, failures, seconds, requestId: error.requestId, error: error.message },
      serviceSilent(workspace, since),
    );
    outage.isLogged = true;
    watched.quietUntil = now + quietMs;
  }
}

function isOutage({ failures, paths, isSilent }: Outage): boolean {
  return isSilent || (failures >= outageAfter && paths.size > 1);
}

/** Returns the sentence about a service that does not answer, the same in the log, the status and alerts. Pure. */
export function serviceSilent(workspace: string, since: string | number | null | undefined): string {
  return `The service has not answered workspace ${workspace} since ${formatInstant(since)}`;
}
