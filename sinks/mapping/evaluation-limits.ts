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
  /** The last resort, for steps that are slow by themselves. */
  timeMs: 2_000,
  /** Characters of all texts of a result. */
  characters: 1_000_000,
} as const;

/** Counts the steps of one evaluation after another. */
export class StepCounter {
  #left: number = evaluationLimits.steps;

  /**
   * For `jsonata(text, options)`. JSONata reads `stack` before each step, to compare its depth with it, and has no
   * count of steps of its own: so the reading counts. Its `timeout` is the time on the clock, which a machine that
   * sleeps or starves uses up as well; a healthy item must not become a dead letter by that.
   */
  readonly options: { readonly timeout: number; readonly stack: number; readonly sequence: number };

  constructor() {
    const countStep = (): number => {
      if (this.#left === 0) throw Object.assign(new Error('too many steps'), { code: 'too-many-steps' });
      this.#left -= 1;
      return evaluationLimits.depth;
    };
    this.options = {
      timeout: evaluationLimits.timeMs,
      sequence: evaluationLimits.entries,
      get stack() {
        return countStep();
      },
    };
  }

  /** Evaluations of one counter must not overlap. */
  restart(): void {
    this.#left = evaluationLimits.steps;
  }
}
