import { setImmediate } from 'node:timers/promises';
/**
 * Limits of one expression for one item. A mapping needs a hundredth of them. More is a mistake, and delays everything
 * else in the process, because JSONata computes on the event loop.
 */
export const evaluationLimits = {
  /**
   * Evaluated parts of an expression, including repeats. A count, not a time: the same item always has the same
   * result.
   */
  steps: 20_000,
  /** Calls within calls, and parentheses within parentheses. */
  depth: 200,
  /** Entries of a list that an expression creates. */
  entries: 10_000,
  /** Computing time, the last resort for slow steps. */
  timeMs: 2_000,
  /** Characters of all texts of a result. */
  characters: 1_000_000,
} as const;

/** Milliseconds, each from any start. */
interface TimeMeter {
  /** Time limit, which is cheap to check. */
  now(): number;
  /** That this process has computed, on all of its threads: no less than the evaluation has. */
  computed(): number;
}

const processMeter: TimeMeter = {
  now: () => performance.now(),
  computed() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Counts the steps of one evaluation after another. */
export class StepCounter {
  #left: number = evaluationLimits.steps;
  #startedAt: number;
  #computedBefore: number;
  readonly #meter: TimeMeter;

  /**
   * Options for `jsonata(text, options)`. JSONata reads `stack` before each step, to compare its depth, and has no
   * step count: so reading the property counts. It also checks the time. JSONata's own `timeout` measures elapsed
   * time, which passes while a machine sleeps or is overloaded; a healthy item must not become a dead letter for that.
   */
  readonly options: { readonly stack: number; readonly sequence: number };

  constructor(meter: TimeMeter = processMeter) {
    this.#meter = meter;
    this.#startedAt = meter.now();
    this.#computedBefore = meter.computed();
    const countStep = (): number => {
      if (this.#left === 0) throw Object.assign(new Error('too many steps'), { code: 'too-many-steps' });
      if (this.#isOutOfTime()) throw Object.assign(new Error('too much time'), { code: 'D1012' }); // as JSONata calls it
      this.#left -= 1;
      return evaluationLimits.depth;
    };
    this.options = {
      sequence: evaluationLimits.entries,
      get stack() {
        return countStep();
      },
    };
  }

  /** Evaluations of one counter must not overlap. */
  restart(): void {
    this.#left = evaluationLimits.steps;
    this.#startedAt = this.#meter.now();
    this.#computedBefore = this.#meter.computed();
  }

  #isOutOfTime(): boolean {
    return (
      this.#meter.now() - this.#startedAt > evaluationLimits.timeMs &&
      this.#meter.computed() - this.#computedBefore > evaluationLimits.timeMs
    );
  }
}

/** After this much computing, timers and sockets of the process run. */
const longestWithoutPauseMs = 20;

let last: Promise<unknown> = Promise.resolve();
let pausedAtMs = performance.now();

/**
 * Runs evaluations one after another, for all callers. JSONata never waits for anything, so concurrent evaluations
 * finish no sooner, and thousands of them would block the process until all are done.
 */
export function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const mine = last.then(async () => {
    if (performance.now() - pausedAtMs > longestWithoutPauseMs) {
      await setImmediate();
      pausedAtMs = performance.now();
    }
    return await work();
  });
  last = mine.catch(() => undefined);
  return mine;
}
