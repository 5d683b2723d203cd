import { DatabaseClock } from './database-clock.js';

const noon = Date.UTC(2026, 10, 21, 12);

/** A process, its two clocks, and a database whose clock is right. */
function processWith({ wallAheadMs = 0 }: { readonly wallAheadMs?: number } = {}) {
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
    /** A statement that takes so long until it runs, and until its answer has come. */
    ask: (outMs: number, backMs: number, databaseAheadMs = 0): void => {
      const askedAt = clock.monotonic();
      elapsedMs += outMs;
      const said = new Date(trueNow() + databaseAheadMs);
      elapsedMs += backMs;
      clock.heard(said, askedAt);
    },
  };
}

describe('the clock of the database, as a process knows it', () => {
  it('is that of the process until the database has said something', () => {
    const { clock, trueNow } = processWith();
    expect(clock.nowMs()).toBe(trueNow());
  });

  it.each([3_600_000, -3_600_000])('is not moved by a wall clock that is wrong by %s ms', (wallAheadMs) => {
    const { clock, ask, pass, trueNow } = processWith({ wallAheadMs });
    ask(2, 3);
    pass(10_000);
    expect(clock.nowMs()).toBe(trueNow() - 3);
  });

  it('is never ahead of the database, and best by the answer that arrived fastest', () => {
    const { clock, ask, trueNow } = processWith();
    ask(1, 80);
    expect(clock.nowMs()).toBe(trueNow() - 80);
    ask(50, 1);
    expect(clock.nowMs()).toBe(trueNow() - 1);
    ask(5, 40);
    expect(clock.nowMs()).toBe(trueNow() - 1);
  });

  it('follows after a pause that its own clock did not count', () => {
    const { clock, ask, sleep, trueNow } = processWith();
    ask(1, 1);
    sleep(60_000);
    expect(clock.nowMs()).toBe(trueNow() - 60_001);
    ask(1, 2);
    expect(clock.nowMs()).toBe(trueNow() - 2);
  });

  it('follows a database whose clock was set back', () => {
    const { clock, ask, trueNow } = processWith();
    ask(1, 1, 3_600_000);
    ask(1, 2);
    expect(clock.nowMs()).toBe(trueNow() - 2);
  });
});
