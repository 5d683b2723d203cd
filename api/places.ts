import { Refused } from './problem.js';

/** Time for which a request waits for a place. Most work takes less. */
const waitMs = 5000;
const exportPatienceMs = 10 * 60_000;

/**
 * Places for work that takes much memory or time, so that requests together cannot exhaust the process that serves live
 * events. A request without a place waits for five seconds, and is then refused.
 */
export class Places {
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  /**
   * @param what completes "this server is already …"
   * @param max number of places
   */
  constructor(
    private readonly what: string,
    private readonly max: number,
    private readonly patienceMs = waitMs,
  ) {}

  /**
   * Takes a place. Call the returned function when the work has ended; a second call does nothing.
   * @throws {Refused} 503 if no place becomes free in time
   */
  async take(): Promise<() => void> {
    if (this.#taken >= this.max) await this.#untilFree();
    else this.#taken += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next(); // the place goes to the next request without becoming free
    };
  }

  /** Does the work in a place. @throws {Refused} as `take` */
  async in<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.take();
    try {
      return await work();
    } finally {
      release();
    }
  }

  async #untilFree(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        clearTimeout(overdue);
        resolve();
      };
      const overdue = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        const detail = `this server is already ${this.what}: try again in a few seconds`;
        reject(new Refused(503, detail, { headers: { 'retry-after': '5' } }));
      }, this.patienceMs);
      this.#waiting.push(start);
    });
  }
}

/** Places of one process, by kind of work. */
export function createPlaces(patienceMs = waitMs) {
  return {
    /** Reading files of registrants: each thread may use 256 MB of heap, and as much again outside it. */
    files: new Places('reading two files of registrants', 2, patienceMs),
    /** Planning: previews, comparisons of a configuration, and event files. */
    plans: new Places('computing two previews or comparisons', 2, patienceMs),
    /** Parts of exports. An export that has started waits for its turn instead of ending in the middle. */
    exports: new Places('writing two exports', 2, exportPatienceMs),
  };
}
export type AllPlaces = ReturnType<typeof createPlaces>;
