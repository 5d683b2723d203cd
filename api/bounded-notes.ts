const againAfterMs = 10 * 60_000;
const hourMs = 60 * 60_000;
/** The audit log keeps its rows for ever: what anybody can cause must not fill it. */
const maxPerHour = 120;

/** Decides which of many like events gets a line of the audit log: one of a kind in ten minutes, and 120 in an hour. */
export class BoundedNotes {
  readonly #noted = new Map<string, number>();
  readonly #now: () => number;
  #hourEnds = 0;
  #left = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Whether an event gets a line; if so, it is counted as noted. @param kind events that are alike */
  take(kind: string): boolean {
    const now = this.#now();
    if (now >= this.#hourEnds) {
      this.#hourEnds = now + hourMs;
      this.#left = maxPerHour;
      for (const [known, at] of this.#noted) if (now - at >= againAfterMs) this.#noted.delete(known);
    }
    const last = this.#noted.get(kind);
    if (this.#left === 0 || (last !== undefined && now - last < againAfterMs)) return false;
    this.#left -= 1;
    this.#noted.set(kind, now); // at most as many as lines of two hours
    return true;
  }
}
