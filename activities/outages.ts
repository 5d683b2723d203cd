import type { ApiError } from '../pigeonhole/api-error.js';
import type { Log } from './collaborators.js';

/** Fewer failures in a row are a matter of single streams. */
const outageAfter = 5;
const hourMs = 3_600_000;
/** A source that comes and goes is not worth more lines than one that is gone. */
const quietMs = 10 * 60_000;

interface Outage {
  failures: number;
  since: number;
  /** Lines are written while it lasts: the next one then. Null: it was never said. */
  nextLineAt: number | null;
  wait: number;
}

/**
 * Whether the service of a workspace can be reached, as its requests went: a source that is down for hours costs a line
 * when it goes, one now and then, and one when it is back, whatever number of streams find out.
 */
export class Outages {
  readonly #now: () => number;
  readonly #outages = new Map<string, Outage>();
  readonly #quietUntil = new Map<string, number>();
  readonly #backAt = new Map<string, number>();

  constructor(
    private readonly log: Log,
    now: () => number = Date.now,
  ) {
    this.#now = now;
  }

  /** No answer, or none that says more than that something is wrong over there. */
  failed(workspace: string, error: Pick<ApiError, 'message' | 'code' | 'requestId'>): void {
    const now = this.#now();
    const outage = this.#outages.get(workspace) ?? { failures: 0, since: now, nextLineAt: null, wait: hourMs };
    this.#outages.set(workspace, outage);
    outage.failures += 1;
    if (outage.failures < outageAfter || now < (outage.nextLineAt ?? this.#quietUntil.get(workspace) ?? 0)) return;
    const { failures } = outage;
    const what = outage.nextLineAt === null ? 'service cannot be reached' : 'service can still not be reached';
    const seconds = Math.round((now - outage.since) / 1000);
    this.log.warn({ workspace, failures, seconds, requestId: error.requestId, error: error.message }, what);
    outage.nextLineAt = now + outage.wait;
    outage.wait *= 2;
    this.#quietUntil.set(workspace, now + quietMs);
  }

  answered(workspace: string): void {
    const outage = this.#outages.get(workspace);
    if (outage === undefined) return;
    this.#outages.delete(workspace);
    if (outage.failures >= outageAfter) this.#backAt.set(workspace, this.#now());
    if (outage.nextLineAt === null) return;
    const seconds = Math.round((this.#now() - outage.since) / 1000);
    this.log.info({ workspace, failures: outage.failures, seconds }, 'service can be reached again');
  }

  /** So many requests in a row have failed that a line for each stream says nothing more. */
  isDown(workspace: string): boolean {
    return (this.#outages.get(workspace)?.failures ?? 0) >= outageAfter;
  }

  /** It is back since a while ago at most: that streams can be read again goes without saying. */
  wasDownLately(workspace: string): boolean {
    return this.#now() - (this.#backAt.get(workspace) ?? Number.NEGATIVE_INFINITY) < quietMs;
  }
}
