import { evaluationLimits, StepCounter } from './evaluation-limits.js';

const late = evaluationLimits.timeMs + 1;

/** Returns a counter with a controlled clock. */
function counterOn(meter: { nowMs: number; computedMs: number }): StepCounter {
  return new StepCounter({ now: () => meter.nowMs, computed: () => meter.computedMs });
}

describe('the time of an evaluation', () => {
  it.each([
    ['is limited if it was spent on computing', { nowMs: late, computedMs: late }, 'D1012'],
    ['is not limited if the machine slept or was busy', { nowMs: 1_000_000, computedMs: 3 }, undefined],
    ['does not include the time of other threads', { nowMs: late - 1, computedMs: 4 * late }, undefined],
  ])('%s', (_, passed, code) => {
    const meter = { nowMs: 0, computedMs: 0 };
    const { options } = counterOn(meter);
    expect(options.stack).toBe(evaluationLimits.depth);
    Object.assign(meter, passed);
    let failure: unknown;
    try {
      void options.stack;
    } catch (error) {
      failure = error;
    }
    expect((failure as { code?: string } | undefined)?.code).toBe(code);
  });

  it('is measured for each evaluation separately', () => {
    const meter = { nowMs: late, computedMs: late };
    const counter = counterOn(meter);
    Object.assign(meter, { nowMs: 3 * late, computedMs: 3 * late });
    counter.restart();
    expect(counter.options.stack).toBe(evaluationLimits.depth);
  });
});
