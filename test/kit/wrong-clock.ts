import { AsyncLocalStorage } from 'node:async_hooks';

const RealDate = Date;
const wrong = new AsyncLocalStorage<{ aheadMs: number }>();

/**
 * Runs `work` with a wall clock that is wrong by `aheadMs`: in `work`, `Date` returns another time. Monotonic clocks,
 * the database's clock, and the clocks of servers that were started outside `work` stay correct. `work` may call `jump`
 * to move the wall clock further.
 */
export async function withWallClock<Result>(
  aheadMs: number,
  work: (jump: (byMs: number) => void) => Promise<Result>,
): Promise<Result> {
  const clock = { aheadMs };
  const present = (): number => RealDate.now() + (wrong.getStore()?.aheadMs ?? 0);
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: [], newTarget) =>
      args.length === 0 ? new RealDate(present()) : (Reflect.construct(target, args, newTarget) as Date),
    get: (target, name, receiver) => (name === 'now' ? present : (Reflect.get(target, name, receiver) as unknown)),
  });
  const jump = (byMs: number): void => {
    clock.aheadMs += byMs;
  };
  try {
    return await wrong.run(clock, () => work(jump));
  } finally {
    globalThis.Date = RealDate;
  }
}
