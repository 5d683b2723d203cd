import { pigeonholeOf, sinkOf, statusOf, workspaceOf } from '../status/status.test-kit.js';
import type { DemoView } from '../demo/demo-screen.js';
import { viewOf } from '../demo/demo-view.test-kit.js';
import { isSettled, untilSettled } from './demo.js';

const all = workspaceOf({ pigeonholes: [0, 101, 102, 103].map((id) => pigeonholeOf({ id })) });
const settled = viewOf({ status: statusOf({ workspaces: [all] }) });
const working = (delivered: number): DemoView =>
  viewOf({ status: statusOf({ settled: false, workspaces: [all], sinks: [sinkOf({ delivered })] }) });

/** A clock that each poll advances by a minute. */
function minutes(views: readonly DemoView[]): {
  look: () => Promise<DemoView>;
  clock: { now: () => number; pauseMs: number };
} {
  let looks = 0;
  return {
    look: () => Promise.resolve(views[Math.min(looks++, views.length - 1)]!),
    clock: { now: () => looks * 60_000, pauseMs: 0 },
  };
}

describe('a demo', () => {
  it('is settled if the API reports so for every pigeonhole of the source', () => {
    expect(isSettled(settled)).toBe(true);
  });

  it('is not settled before every pigeonhole of the source is found', () => {
    const found = workspaceOf({ pigeonholes: [0, 101, 102].map((id) => pigeonholeOf({ id })) });
    expect(isSettled(viewOf({ status: statusOf({ workspaces: [found] }) }))).toBe(false);
  });

  it('is not settled while a pigeonhole counts as not selected', () => {
    const status = statusOf({ workspaces: [all], sinks: [sinkOf({ withheld: { 'not-selected': 1 } })] });
    expect(isSettled(viewOf({ status }))).toBe(false);
  });

  it('is not settled before the API answers', () => {
    expect(isSettled(viewOf({ status: null }))).toBe(false);
    expect(isSettled({ ...settled, source: null })).toBe(false);
  });
});

describe('waiting for a demo to settle', () => {
  it('continues while something changes', async () => {
    const views = [...Array.from({ length: 20 }, (_, n) => working(n)), settled];
    const { look, clock } = minutes(views);
    expect(await untilSettled(look, clock)).toBe(settled);
  });

  it('counts a new start step as a change', async () => {
    const building = Array.from({ length: 20 }, (_, n) => viewOf({ status: null, note: `building: ${n} s so far` }));
    const { look, clock } = minutes([...building, settled]);
    expect(await untilSettled(look, clock)).toBe(settled);
  });

  it('gives up after five minutes without a change, and names the obstacle', async () => {
    const stuck = statusOf({
      settled: false,
      workspaces: [all],
      sinks: [sinkOf({ state: 'failing', reason: 'refused', backlog: 3 })],
    });
    const { look, clock } = minutes([viewOf({ status: stuck })]);
    await expect(untilSettled(look, clock)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/nothing changed for 5 minutes .*\(hooks is failing: refused\)/),
    });
  });
});
