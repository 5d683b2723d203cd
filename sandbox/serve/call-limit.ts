/** Decides from earlier calls when the next call may pass. */
export interface LimitRule {
  /** Wait in ms before a call at this instant may pass; 0 or less if it may pass now. */
  waitMs(nowMs: number): number;
  pass(nowMs: number): void;
}

/** At most `max` calls in any window of `windowMs`: the least that a documented "50+ per minute" grants. */
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

/** One call each `everyMs` in the long run, and up to `burst` at once after a quiet time. */
export function leakingBucket(burst: number, everyMs: number): LimitRule {
  let emptyAtMs = 0;
  return {
    waitMs: (nowMs) => Math.max(emptyAtMs, nowMs) - nowMs - (burst - 1) * everyMs,
    pass: (nowMs) => {
      emptyAtMs = Math.max(emptyAtMs, nowMs) + everyMs;
    },
  };
}

/** One call that was refused for its rate. */
interface RateViolation {
  readonly atMs: number;
  /** True when it came before the `Retry-After` of an earlier refusal was over: the caller did not listen. */
  readonly ignoredRetryAfter: boolean;
}

/**
 * A limit that, after a refusal, refuses every call until the stated time is over, as Slack's limits do. Every call that was
 * let through is remembered, so that a test can ask how close to the limit a caller went.
 */
export class CallLimit {
  readonly passed: number[] = [];
  readonly violations: RateViolation[] = [];
  private closedUntilMs = 0;

  constructor(private readonly rule: LimitRule) {}

  /** Undefined when the call may pass; else the whole seconds of `Retry-After`. */
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
    if (closedMs <= 0) this.closedUntilMs = nowMs + seconds * 1000; // a caller that does not listen makes it no longer
    return seconds;
  }

  /** Most calls that passed in any window of this length. */
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
 * So many in any window of a length, as vendors count that say "rolling". What is refused does not count.
 * The clock is the caller's, so that a test can move it.
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
