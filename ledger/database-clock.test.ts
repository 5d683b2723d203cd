import { until } from '../test/until.js';
import type { Queryable } from './drivers/database.js';
import { DatabaseClock } from './database-clock.js';

const noon = Date.UTC(2026, 10, 21, 12);

/** Creates a process with two clocks, and a database whose clock is right. */
function processWith({ wallAheadMs: startsAheadMs = 0 }: { readonly wallAheadMs?: number } = {}) {
  let wallAheadMs = startsAheadMs;
  let asked = 0;
  let answers = true;
  let elapsedMs = 0;
  let slept = 0;
  const clock = new DatabaseClock(
    () => 500 + elapsedMs,
    () => noon + elapsedMs + slept + wallAheadMs,
  );
  const trueNow = (): number => noon + elapsedMs + slept;
  return {
    clock,
    trueNow,
    pass: (ms: number) => void (elapsedMs += ms),
    sleep: (ms: number) => void (slept += ms),
    setWallClock: (ms: number) => void (wallAheadMs += ms),
    timesAsked: () => asked,
    answer: (whether: boolean) => void (answers = whether),
    /** The database of the process. Counts the queries for the time. */
    db: {
      query: async () => {
        asked += 1;
        if (!answers) throw new Error('the store is away');
        return [{ now: new Date(trueNow()) }];
      },
    } as unknown as Queryable,
    /** Runs a statement that starts after `outMs` and whose answer arrives `backMs` later. */
    ask: (outMs: number, backMs: number, databaseAheadMs = 0): void => {
      const askedAt = clock.monotonic();
      elapsedMs += outMs;
      const said = new Date(trueNow() + databaseAheadMs);
      elapsedMs += backMs;
      clock.adjust(said, askedAt);
    },
  };
}

describe('a process’s estimate of the database time', () => {
  it('equals the clock of the process until the database has answered', () => {
    const { clock, trueNow } = processWith();
    expect(clock.nowMs()).toBe(trueNow());
  });

  it.each([3_600_000, -3_600_000])('is not affected by a wall clock that is wrong by %s ms', (wallAheadMs) => {
    const { clock, ask, pass, trueNow } = processWith({ wallAheadMs });
    ask(2, 3);
    pass(10_000);
    expect(clock.nowMs()).toBe(trueNow() - 3);
  });

  it('is never ahead of the database, and uses the answer that arrived fastest', () => {
    const { clock, ask, trueNow } = processWith();
    ask(1, 80);
    expect(clock.nowMs()).toBe(trueNow() - 80);
    ask(50, 1);
    expect(clock.nowMs()).toBe(trueNow() - 1);
    ask(5, 40);
    expect(clock.nowMs()).toBe(trueNow() - 1);
  });

  it('is corrected by the next answer after a pause that the process’s own clock did not count', () => {
    const { clock, ask, sleep, trueNow } = processWith();
    ask(1, 1);
    sleep(60_000);
    expect(clock.nowMs()).toBe(trueNow() - 60_001);
    ask(1, 2);
    expect(clock.nowMs()).toBe(trueNow() - 2);
  });

  it('follows a database whose clock is set back', () => {
    const { clock, ask, trueNow } = processWith();
    ask(1, 1, 3_600_000);
    ask(1, 2);
    expect(clock.nowMs()).toBe(trueNow() - 2);
  });

  it('is queried again after a pause that the clock of an idle process did not count', async () => {
    const { clock, db, sleep, trueNow, timesAsked } = processWith();
    await clock.ask(db);
    sleep(3_600_000);
    clock.nowMs(); // notices the jump, but cannot wait for the database
    await until('the clock is right', () => clock.nowMs() === trueNow());
    clock.nowMs();
    expect(clock.confirm()).toBeUndefined();
    expect(timesAsked()).toBe(2);
  });

  it('is right after confirm()', async () => {
    const { clock, db, sleep, trueNow } = processWith();
    await clock.ask(db);
    sleep(3_600_000);
    await clock.confirm();
    expect(clock.nowMs()).toBe(trueNow());
  });

  it.each([3_600_000, -3_600_000])('does not change if the wall clock is moved by %s ms', async (ms) => {
    const { clock, db, setWallClock, trueNow, timesAsked } = processWith();
    await clock.ask(db);
    setWallClock(ms);
    expect(clock.nowMs()).toBe(trueNow());
    await clock.confirm();
    expect(clock.nowMs()).toBe(trueNow());
    expect(timesAsked()).toBe(2);
  });

  it('is queried again once an unreachable store answers', async () => {
    const { clock, db, sleep, trueNow, answer } = processWith();
    await clock.ask(db);
    sleep(3_600_000);
    answer(false);
    await clock.confirm();
    expect(clock.nowMs()).toBe(trueNow() - 3_600_000);
    answer(true);
    await until('the clock is right', () => clock.nowMs() === trueNow());
  });
});
