import type { DoubleAnswer } from '../serve/double-request.js';
import { RollingLimit } from '../serve/call-limit.js';

export interface LimitOptions {
  /** Requests in any ten seconds: 100 by default, as in free accounts; 190 in professional ones. */
  readonly per10s?: number;
  /** Length of that window: ten seconds by default, shorter in tests. */
  readonly windowMs?: number;
  /** Requests per day in the account's time zone: 250,000 by default. */
  readonly perDay?: number;
  /** IANA name of the time zone in which the day of the daily limit starts; UTC by default. */
  readonly timeZone?: string;
}

type Policy = 'TEN_SECONDLY_ROLLING' | 'DAILY';

/** An account's limits. A refused request does not count. Documented: "Usage guidelines". */
export class RateLimits {
  private readonly rolling: RollingLimit;
  private readonly perDay: number;
  private readonly days: Intl.DateTimeFormat;
  private day = '';
  private usedToday = 0;

  constructor(options: LimitOptions) {
    this.rolling = new RollingLimit(options.per10s ?? 100, options.windowMs ?? 10_000);
    this.perDay = options.perDay ?? 250_000;
    this.days = new Intl.DateTimeFormat('en-CA', { timeZone: options.timeZone ?? 'UTC', dateStyle: 'short' });
  }

  /** Counts one request, or returns the limit that it exceeds. */
  take(nowMs: number): Policy | undefined {
    const day = this.dayOf(nowMs);
    if (day !== this.day) [this.day, this.usedToday] = [day, 0];
    if (this.usedToday >= this.perDay) return 'DAILY';
    if (!this.rolling.take(nowMs)) return 'TEN_SECONDLY_ROLLING';
    this.usedToday += 1;
    return undefined;
  }

  /** Counts requests that other programs sent for the same account. The double does not list them. */
  useFromElsewhere(requests: number, nowMs: number): void {
    for (let used = 0; used < requests; used += 1) this.take(nowMs);
  }

  headers(nowMs: number): Record<string, string> {
    return {
      'X-HubSpot-RateLimit-Daily': String(this.perDay),
      'X-HubSpot-RateLimit-Daily-Remaining': String(this.dailyRemaining(nowMs)),
      'X-HubSpot-RateLimit-Interval-Milliseconds': String(this.rolling.windowMs),
      'X-HubSpot-RateLimit-Max': String(this.rolling.max),
      'X-HubSpot-RateLimit-Remaining': String(this.rolling.remaining(nowMs)),
    };
  }

  private dailyRemaining(nowMs: number): number {
    return this.perDay - (this.dayOf(nowMs) === this.day ? this.usedToday : 0);
  }

  private dayOf(atMs: number): string {
    return this.days.format(atMs);
  }
}

const MESSAGES: Readonly<Record<Policy, string>> = {
  TEN_SECONDLY_ROLLING: 'You have reached your ten_secondly_rolling limit.',
  DAILY: 'You have reached your daily limit.',
};

/** Builds the answer to a request over a limit. HubSpot sends no Retry-After with it. */
export function overLimit(policyName: Policy, correlationId: string): DoubleAnswer {
  return {
    status: 429,
    json: {
      status: 'error',
      message: MESSAGES[policyName],
      errorType: 'RATE_LIMIT',
      correlationId,
      policyName,
      requestId: correlationId,
    },
  };
}
