import { type Clock, type Permit, RollingLimiter } from '../network/rolling-limiter.js';
import type { CallBudget, RestAnswer } from '../rest/rest-client.js';
import type { SinkEnvironment } from '../sink.js';
import { type Limited, type Reply, withCorrelationId } from './classify.js';
import type { HubSpotConfig } from './config.js';
import { DailyLimit } from './daily-limit.js';

/**
 * The limit of every account, whatever its plan. If the account has a higher limit, HubSpot reports it in answer
 * headers. Source: HubSpot, "Usage guidelines".
 */
const DEFAULT_LIMIT = { limit: 100, windowMs: 10_000 };

export interface LimitTuning {
  /** The account's limit until an answer reports one. */
  readonly limit?: { readonly limit: number; readonly windowMs: number };
  /** The clock of the limit and of the time for one `send`. */
  readonly clock?: Clock;
}

/** The limits of an account, in ten seconds and in a day. All sinks with this account share them. */
export class AccountLimits {
  readonly #limiter: RollingLimiter;
  readonly #daily: DailyLimit;

  constructor({ baseUrl, token }: HubSpotConfig, { accounts, limits, now }: SinkEnvironment, tuning: LimitTuning) {
    const account = { type: 'hubspot', baseUrl, credential: token, limits };
    const { per10s, perDay } = limits ?? {};
    this.#limiter = accounts.share(
      account,
      'requests',
      () =>
        new RollingLimiter(
          tuning.limit ?? { ...DEFAULT_LIMIT, limit: per10s ?? DEFAULT_LIMIT.limit },
          per10s,
          tuning.clock,
        ),
    );
    this.#daily = accounts.share(account, 'day', () => new DailyLimit(perDay, now));
  }

  get knowsTimeZone(): boolean {
    return this.#daily.knowsTimeZone;
  }

  /** Sets the account's time zone, in which its day starts. */
  set timeZone(timeZone: string) {
    this.#daily.timeZone = timeZone;
  }

  /** Waits for the permit of a request and counts the request. Returns the reply to give instead if there is none in time. */
  async take(budget: CallBudget): Promise<Permit | Reply> {
    if (this.#daily.closedForMs() > 0) return limited(this.#daily.reason, this.#daily.closedForMs());
    const remainingMs = budget.remainingMs();
    const pausedForMs = this.#limiter.closedForMs;
    // If HubSpot requested a longer pause than this call may wait, the outcome names it, so that the status does too.
    if (remainingMs > 0 && pausedForMs > Math.max(remainingMs, this.#limiter.windowMs)) {
      return limited(accountLimitExceeded, pausedForMs);
    }
    const permit = remainingMs > 0 ? await this.#limiter.take(budget.signal, remainingMs) : undefined;
    if (permit === undefined) return { kind: 'failed', processed: 'no', result: { kind: 'unsent' } };
    this.#daily.spend();
    return permit;
  }

  /** Stops requests after HubSpot refused one because of a limit. Returns that request's reply. */
  refused({ limit, retryAfterMs, correlationId }: Limited): Reply {
    if (limit === 'daily') {
      this.#daily.refused(retryAfterMs);
      return limited(this.#daily.reason, this.#daily.closedForMs(), correlationId);
    }
    const waitMs = retryAfterMs ?? this.#limiter.windowMs;
    this.#limiter.close(waitMs);
    return limited(accountLimitExceeded, waitMs, correlationId);
  }

  /** Reads the account's limits from the headers. Source: HubSpot, "Usage guidelines", "Rate limit headers". */
  learn(headers: RestAnswer['headers']): void {
    const number = (name: string): number | undefined => {
      const text = headers[`x-hubspot-ratelimit-${name}`];
      return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
    };
    const [limit, remaining] = [number('max'), number('remaining')];
    const interval = number('interval-milliseconds') ?? this.#limiter.windowMs;
    // The headers can describe a window that has a different length from the limiter's.
    if (limit !== undefined && interval === this.#limiter.windowMs) {
      this.#limiter.learn({ limit, ...(remaining !== undefined && { used: limit - remaining }) });
    }
    const [daily, left] = [number('daily'), number('daily-remaining')];
    if (daily !== undefined && left !== undefined) this.#daily.learnUsed(daily - left);
  }

  /** Ends the waits that HubSpot requested. */
  reopen(): void {
    this.#limiter.reopen();
    this.#daily.reopen();
  }
}

const accountLimitExceeded = "HubSpot's rate limit for this account was exceeded (HTTP 429)";

function limited(detail: string, afterMs: number, correlationId?: string): Reply {
  const result = { kind: 'retry', afterMs, detail: withCorrelationId(detail, correlationId) } as const;
  return { kind: 'failed', processed: 'no', result };
}
