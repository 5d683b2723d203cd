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
