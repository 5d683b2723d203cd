export interface ThrottleOptions {
  /** Units that a request adds; 1 by default. Canvas measures processor and database seconds instead. */
  readonly requestCost?: number;
  /** Above it requests are refused; 600 by default. */
  readonly highWaterMark?: number;
  /** Units that leave the bucket each second; 10 by default. */
  readonly outflowPerSecond?: number;
}

/** Canvas allows a bucket to be fuller than its mark, by this much. */
const MAXIMUM_ABOVE_MARK = 200;

/** A token's bucket: each request adds its cost, time takes some out. Documented: "Throttling". */
export class LeakyBucket {
  readonly requestCost: number;
  private readonly highWaterMark: number;
  private readonly outflowPerSecond: number;
  private level = 0;
  private touchedAtMs = 0;

  constructor(options: ThrottleOptions) {
    this.requestCost = options.requestCost ?? 1;
    this.highWaterMark = options.highWaterMark ?? 600;
    this.outflowPerSecond = options.outflowPerSecond ?? 10;
  }

  isFull(nowMs: number): boolean {
    this.leak(nowMs);
    return this.level >= this.highWaterMark;
  }

  add(cost: number, nowMs: number): void {
    this.leak(nowMs);
    this.level = Math.min(this.level + cost, this.highWaterMark + MAXIMUM_ABOVE_MARK);
  }

  remaining(nowMs: number): number {
    this.leak(nowMs);
    return this.highWaterMark - this.level;
  }

  private leak(nowMs: number): void {
    this.level = Math.max(0, this.level - ((nowMs - this.touchedAtMs) / 1000) * this.outflowPerSecond);
    this.touchedAtMs = nowMs;
  }
}
