import { evaluationLimits, StepCounter } from './evaluation-limits.js';

const late = evaluationLimits.timeMs + 1;

/** A counter with a controlled clock. */
function counterOn(meter: { nowMs: number; computedMs: number }): StepCounter {
  return new StepCounter({ now: () => meter.nowMs, computed: () => meter.computedMs });
}

describe('the time of an evaluation', () => {
  it.each([
    ['that was spent on computing is bounded', { nowMs: late, computedMs: late }, 'D1012'],
    ['that a machine slept or starved is not', { nowMs: 1_000_000, computedMs: 3 }, undefined],
    ['that other threads computed is not', { nowMs: late - 1, computedMs: 4 * late }, undefined],
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

  it('is its own: what earlier ones have taken does not count', () => {
    const meter = { nowMs: late, computedMs: late };
    const counter = counterOn(meter);
    Object.assign(meter, { nowMs: 3 * late, computedMs: 3 * late });
    counter.restart();
    expect(counter.options.stack).toBe(evaluationLimits.depth);
  });
});
