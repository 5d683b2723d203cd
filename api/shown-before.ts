const againAfterMs = 10 * 60_000;
/** Maximum number of kinds that are remembered; of older ones, the next request is recorded again. */
const maxKinds = 1000;

/**
 * Decides which of many similar requests get a line in the audit log: the first that succeeds, and again after ten minutes.
 * An author's page sends a request for each pause in typing.
 */
export class ShownBefore {
  readonly #shown = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Carries out a request. One that failed may have shown nothing, so that the next one is recorded, too.
   * @param kind caller and what is shown
   * @param record carries it out with a line in the audit log
   * @param repeat carries it out without one
   */
  async run<Result>(
    kind: string,
    { record, repeat }: { readonly record: () => Promise<Result>; readonly repeat: () => Promise<Result> },
  ): Promise<Result> {
    const last = this.#shown.get(kind);
    if (last !== undefined && this.#now() - last < againAfterMs) return await repeat();
    const result = await record();
    this.#shown.delete(kind);
    this.#shown.set(kind, this.#now());
    for (const [each, at] of this.#shown) {
      if (this.#shown.size <= maxKinds && this.#now() - at < againAfterMs) break; // the others are newer
      this.#shown.delete(each);
    }
    return result;
  }
}
