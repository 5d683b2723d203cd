/** Decides from earlier calls when the next call may pass. */
export interface LimitRule {
  /** Wait in ms before a call at this instant may pass; 0 or less if it may pass now. */
  waitMs(nowMs: number): number;
  pass(nowMs: number): void;
}

/** Allows at most `max` calls in any window of `windowMs`, the minimum that a documented "50+ per minute" grants. */
export function rollingWindow(max: number, windowMs: number): LimitRule {
  const passed: number[] = [];
  return {
    waitMs: (nowMs) => (passed.length < max ? 0 : passed[0]! + windowMs - nowMs),
    pass: (nowMs) => {
      passed.push(nowMs);
      if (passed.length > max) passed.shift();
    },
  };
}

/** Allows one call every `everyMs` on average, and bursts of up to `burst` calls after a quiet period. */
export function leakingBucket(burst: number, everyMs: number): LimitRule {
  let emptyAtMs = 0;
  return {
    waitMs: (nowMs) => Math.max(emptyAtMs, nowMs) - nowMs - (burst - 1) * everyMs,
    pass: (nowMs) => {
      emptyAtMs = Math.max(emptyAtMs, nowMs) + everyMs;
    },
  };
}

/** A call refused because of its rate. */
interface RateViolation {
  readonly atMs: number;
  /** Whether the caller ignored the `Retry-After` of an earlier refusal. */
  readonly ignoredRetryAfter: boolean;
}

/**
 * A limit that, after a refusal, refuses every call until `Retry-After` has passed, as Slack's limits do. It records
 * the calls that passed, so that a test can check how close a caller came to the limit.
 */
export class CallLimit {
  readonly passed: number[] = [];
  readonly violations: RateViolation[] = [];
  private closedUntilMs = 0;

  constructor(private readonly rule: LimitRule) {}

  /** Returns undefined if the call may pass; otherwise `Retry-After` in whole seconds. */
  take(nowMs: number): number | undefined {
    const closedMs = this.closedUntilMs - nowMs;
    const waitMs = Math.max(this.rule.waitMs(nowMs), closedMs);
    if (waitMs <= 0) {
      this.rule.pass(nowMs);
      this.passed.push(nowMs);
      return undefined;
    }
    this.violations.push({ atMs: nowMs, ignoredRetryAfter: closedMs > 0 });
    const seconds = Math.ceil(waitMs / 1000);
    if (closedMs <= 0) this.closedUntilMs = nowMs + seconds * 1000; // calls in the meantime do not extend it
    return seconds;
  }

  /** Returns the maximum number of calls that passed in any window of this length. */
  maxWithin(windowMs: number): number {
    let most = 0;
    let from = 0;
    this.passed.forEach((at, index) => {
      while (at - this.passed[from]! >= windowMs) from += 1;
      most = Math.max(most, index - from + 1);
    });
    return most;
  }
}

/**
 * A rolling limit: a fixed number of permits in any window of a given length. Refused calls do not count. The caller
 * passes the time, so that a test can control it.
 */
export class RollingLimit {
  private taken: number[] = [];

  constructor(
    readonly max: number,
    readonly windowMs: number,
  ) {}

  /** Takes a permit if one is free; returns whether it did. */
  take(nowMs: number): boolean {
    this.taken = this.taken.filter((at) => at > nowMs - this.windowMs);
    if (this.taken.length >= this.max) return false;
    this.taken.push(nowMs);
    return true;
  }

  remaining(nowMs: number): number {
    return this.max - this.taken.filter((at) => at > nowMs - this.windowMs).length;
  }
}
