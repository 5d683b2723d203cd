import { setImmediate } from 'node:timers/promises';
/**
 * What one expression may take for one item. A mapping needs a hundredth of it; what goes beyond is a mistake, and
 * everything else in the process waits while it runs, since JSONata computes on the event loop.
 */
export const evaluationLimits = {
  /** Parts of an expression evaluated, repeats counted. A count and not a time: the same item always gets the same answer. */
  steps: 20_000,
  /** Calls within calls, and parentheses within parentheses. */
  depth: 200,
  /** Entries of a list that an expression makes. */
  entries: 10_000,
  /** Of computing, the last resort for steps that are slow by themselves. */
  timeMs: 2_000,
  /** Characters of all texts of a result. */
  characters: 1_000_000,
} as const;

/** Milliseconds, each from any start. */
export interface TimeMeter {
  /** On the clock; cheap to ask. */
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
   * For `jsonata(text, options)`. JSONata reads `stack` before each step, to compare its depth with it, and has no
   * count of steps of its own: so the reading counts. It looks at the time as well. JSONata's own `timeout` is the time
   * on the clock, which a machine that sleeps or starves uses up by itself; a healthy item must not become a dead
   * letter by that.
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

/** After so much computing in one go, timers and sockets of the process get their turn. */
const longestWithoutPauseMs = 20;

let last: Promise<unknown> = Promise.resolve();
let pausedAtMs = performance.now();

/**
 * Evaluations one after another, whoever asks. JSONata never waits for anything, so evaluations that are begun together
 * end no sooner than in turn, and thousands of them would keep the process from answering until all have ended.
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
