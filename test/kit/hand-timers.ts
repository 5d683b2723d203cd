/** Timers that fire only when the test lets time pass. */
export class HandTimers {
  #now = 0;
  readonly #timers = new Map<number, { readonly at: number; readonly fire: () => void }>();
  #next = 0;

  /** The `after` of a `ServiceGate`. */
  readonly after = (ms: number, then: () => void): (() => void) => {
    const id = (this.#next += 1);
    this.#timers.set(id, { at: this.#now + ms, fire: then });
    return () => void this.#timers.delete(id);
  };

  /** Fires the timers that are due within the next ms, in their order. */
  pass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(([, { at }]) => at <= until).toSorted(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due[0]);
      this.#now = due[1].at;
      due[1].fire();
    }
    this.#now = until;
  }
}
