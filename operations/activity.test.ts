import { seriesOf } from './activity.js';

const minute = 60_000;
const from = Date.parse('2026-11-21T10:00:00Z');
const times = { fromMs: from, stepMs: minute, fineMs: minute, steps: 4, nowMs: from + 3.5 * minute };
const at = (minutes: number): number => from + minutes * minute;

describe('the series of a chart', () => {
  it('say what waited at the end of each step, and how long ago the oldest of it was found', () => {
    const found = [
      { atMs: at(-30), changes: 2 },
      { atMs: at(0), changes: 10 },
      { atMs: at(2), changes: 5 },
    ];
    const steps = [
      { atMs: at(0), delivered: 6, settled: 8 },
      { atMs: at(3), delivered: 6, settled: 6 },
    ];
    expect(seriesOf({ found, sinks: [{ waiting: 3, steps }] }, times)).toEqual({
      found: [10, 0, 5, 0],
      delivered: [6, 0, 0, 6],
      waiting: [4, 4, 9, 3],
      // 4 of the 10 found in the first minute, then also the 5 of the third, of which 3 are left
      lagSeconds: [0, 60, 120, 30],
    });
  });

  it('show the sink that is furthest behind, of several that receive the same changes', () => {
    const found = [{ atMs: at(0), changes: 10 }];
    const sinks = [
      { waiting: 0, steps: [{ atMs: at(0), delivered: 10, settled: 10 }] },
      { waiting: 10, steps: [] },
    ];
    const { delivered, waiting, lagSeconds } = seriesOf({ found, sinks }, times);
    expect([delivered, waiting, lagSeconds]).toEqual([
      [10, 0, 0, 0],
      [10, 10, 10, 10],
      [0, 60, 120, 150],
    ]);
  });

  it('count what was found before the chart, when it still waits', () => {
    const found = [{ atMs: at(-120), changes: 7 }];
    const { waiting, lagSeconds } = seriesOf({ found, sinks: [{ waiting: 7, steps: [] }] }, times);
    expect([waiting.at(-1), lagSeconds.at(-1)]).toEqual([7, (119 + 3.5) * 60]);
  });
});
