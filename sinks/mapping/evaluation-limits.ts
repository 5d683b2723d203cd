import { setImmediate } from 'node:timers/promises';
import { RE2JS } from 're2js';

/**
 * Limits for the evaluation of one expression for one item. A usual mapping needs a hundredth of them. An expression
 * that needs more is a mistake, and would delay everything else in the process, because JSONata computes on the event
 * loop.
 */
export const evaluationLimits = {
  /**
   * Number of evaluated parts of the expression, including repeats. It is a count and not a time, so that the same item
   * always has the same result.
   */
  steps: 20_000,
  /** Depth of nested calls and parentheses. */
  depth: 200,
  /** Number of entries in a list that an expression creates. */
  entries: 10_000,
  /** Computing time, for expressions with few but slow steps. */
  timeMs: 2_000,
  /** Number of characters in all texts of a result together. */
  characters: 1_000_000,
} as const;

/** Two clocks in milliseconds, each of which starts at any value. */
const processMeter = {
  /** Elapsed time, which is cheap to read. */
  now: () => performance.now(),
  /** Time for which this process has computed, on all its threads: an upper bound for the time of the evaluation. */
  computed() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

type TimeMeter = typeof processMeter;

/** Counts the steps of an evaluation. One counter serves many evaluations, one after another. */
export class StepCounter {
  #left: number = evaluationLimits.steps;
  #startedAt: number;
  #computedBefore: number;
  readonly #meter: TimeMeter;

  /**
   * Options for `jsonata(text, options)`. JSONata has no limit for steps, but it reads `stack` before each step, to
   * compare the depth. The getter of `stack` therefore counts the steps, and also checks the time. JSONata's own
   * `timeout` is not used, because it measures elapsed time, which also passes while the machine sleeps or is
   * overloaded. A valid item must not become a dead letter because of that.
   */
  readonly options: { readonly stack: number; readonly sequence: number };

  constructor(meter: TimeMeter = processMeter) {
    this.#meter = meter;
    this.#startedAt = meter.now();
    this.#computedBefore = meter.computed();
    const countStep = (): number => {
      if (this.#left === 0) throw Object.assign(new Error('too many steps'), { code: 'too-many-steps' });
      if (this.#isOutOfTime()) throw Object.assign(new Error('too much time'), { code: 'D1012' }); // JSONata's code for a timeout
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

  /** Starts the count of the next evaluation. Evaluations with the same counter must not overlap. */
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

/** After evaluations have computed for this time, they pause, so that timers and sockets of the process run. */
const longestWithoutPauseMs = 20;

let last: Promise<unknown> = Promise.resolve();
let pausedAtMs = performance.now();

/**
 * Runs the evaluations of all callers one after another. JSONata computes without waiting for I/O, so concurrent
 * evaluations would not finish sooner, and thousands of them would block the process until all are done.
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

/**
 * Compiled patterns, by the RegExp object in the expression, which is the same in all evaluations. They are cached
 * because compiling takes a hundred times as long as matching.
 */
const compiledPatterns = new WeakMap<RegExp, RE2JS>();

/**
 * Replaces RegExp in JSONata. It matches in time proportional to the length of the text. With JavaScript's own RegExp,
 * the pattern `^(a+)+$` and a question of thirty letters stop the process for minutes. The disadvantages are: no
 * look-ahead, look-behind or back-references, at most 1000 repeats, and `\s`, `\w`, `\d` and `\b` cover only ASCII. An
 * emoji is one character, as with JavaScript's flag `u`. Source: RE2, "Syntax".
 */
export class LinearRegExp {
  /** The position at which `exec` starts, and after a match, the match's end, as in RegExp. */
  lastIndex = 0;
  readonly #compiled: RE2JS;

  /** @throws {SyntaxError} if the pattern needs a feature that linear matching does not support */
  constructor(written: RegExp) {
    this.#compiled = compiledPatterns.get(written) ?? compilePattern(written);
    compiledPatterns.set(written, this.#compiled);
  }

  /**
   * Returns the first match at or after `lastIndex`, as RegExp does: the whole match, then the groups; null if there is
   * none.
   */
  exec(text: string): (readonly (string | undefined)[] & { readonly index: number }) | null {
    const matcher = this.#compiled.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, n) => matcher.group(n) ?? undefined);
    return Object.assign(groups, { index: matcher.start() });
  }
}

function compilePattern({ source, flags }: RegExp): RE2JS {
  try {
    // RE2 would silently read `\k` as the letter k
    if ([...source.matchAll(/\\(.)/gs)].some(([, escaped]) => escaped === 'k'))
      throw new SyntaxError('a back-reference');
    return RE2JS.compile(RE2JS.translateRegExp(source), flagsOf(flags));
  } catch (cause) {
    throw new SyntaxError(
      'a regular expression here has no look-ahead, look-behind or back-reference and at most 1000 repeats',
      { cause },
    );
  }
}

function flagsOf(flags: string): number {
  return (
    (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes('m') ? RE2JS.MULTILINE : 0) |
    (flags.includes('s') ? RE2JS.DOTALL : 0)
  );
}
