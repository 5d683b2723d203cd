import { Outages } from './outages.js';

const error = { message: 'GET /v2/pigeonholes: no connection was made', code: null, requestId: null };
const minute = 60_000;

function watched() {
  let now = 1_000_000;
  const lines: string[] = [];
  const write = (facts: Readonly<Record<string, unknown>>, event: string): void =>
    void lines.push(`${event} ${String(facts['failures'])}`);
  const outages = new Outages({ debug: write, info: write, warn: write, error: write }, () => now);
  return {
    outages,
    lines,
    pass: (ms: number): void => {
      now += ms;
    },
    fail: (times: number, everyMs = 1000): void => {
      for (let n = 0; n < times; n += 1) {
        outages.failed('acme', error);
        now += everyMs;
      }
    },
  };
}

describe('a service that cannot be reached', () => {
  it('is not said to be gone after a few failures', () => {
    const { outages, lines, fail } = watched();
    fail(4);
    expect(outages.isDown('acme')).toBe(false);
    outages.answered('acme');
    fail(4);
    expect(lines).toEqual([]);
  });

  it('is worth one line when it is gone and one when it is back', () => {
    const { outages, lines, fail, pass } = watched();
    fail(500);
    expect(outages.isDown('acme')).toBe(true);
    expect(outages.isDown('other')).toBe(false);
    outages.answered('acme');
    outages.answered('acme');
    expect(lines).toEqual(['service cannot be reached 5', 'service can be reached again 500']);
    expect([outages.isDown('acme'), outages.wasDownLately('acme'), outages.wasDownLately('other')]).toEqual([
      false,
      true,
      false,
    ]);
    pass(10 * minute);
    expect(outages.wasDownLately('acme')).toBe(false);
  });

  it('is worth a handful of lines in a day', () => {
    const { lines, fail } = watched();
    fail(24 * 60, minute);
    expect(lines).toHaveLength(5); // at once, after 1, 3, 7 and 15 hours
  });

  it('is worth no more lines when it comes and goes', () => {
    const { outages, lines, fail } = watched();
    for (let n = 0; n < 60; n += 1) {
      fail(10, 6000); // an hour of minutes, each down and up again
      outages.answered('acme');
    }
    expect(lines.length).toBeLessThanOrEqual(14);
  });
});
