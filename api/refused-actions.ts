import { Refused } from './problem.js';

const hourMs = 60 * 60_000;
const maxPerHour = 120;

interface Counted {
  count: number;
  endsAt: number;
}

/**
 * Bounds the lines that a limited token can add to the audit log with requests that change nothing. An action is noted
 * before it is done, so each such request costs two lines. After 120 of one action within an hour, the token's further
 * requests for that action are refused before they are noted. Other actions of the token are not affected.
 */
export class RefusedActions {
  readonly #counted = new Map<string, Counted>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** @param kind token and action. @throws {Refused} 429 */
  admit(kind: string): void {
    const found = this.#current(kind);
    if (found === undefined || found.count < maxPerHour) return;
    const waitMs = found.endsAt - this.#now();
    throw new Refused(
      429,
      `${maxPerHour} requests of this kind were refused within the last hour: correct the request, and send it again in ${Math.ceil(waitMs / 60_000)} min`,
      { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } },
    );
  }

  /** Counts a request that changed nothing. */
  count(kind: string): void {
    const found = this.#current(kind);
    if (found === undefined) this.#counted.set(kind, { count: 1, endsAt: this.#now() + hourMs });
    else found.count += 1;
  }

  #current(kind: string): Counted | undefined {
    const found = this.#counted.get(kind);
    if (found === undefined || this.#now() < found.endsAt) return found;
    this.#counted.delete(kind);
    return undefined;
  }
}
