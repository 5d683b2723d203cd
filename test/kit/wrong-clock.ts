const RealDate = Date;

/**
 * Runs work as a process does whose wall clock is wrong by so much: all that asks `Date` for the present hears another
 * time. Clocks that never jump, and those of the database, are right.
 */
export async function withWallClock<Result>(aheadMs: number, work: () => Promise<Result>): Promise<Result> {
  const present = (): number => RealDate.now() + aheadMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: [], newTarget) =>
      args.length === 0 ? new RealDate(present()) : (Reflect.construct(target, args, newTarget) as Date),
    get: (target, name, receiver) => (name === 'now' ? present : (Reflect.get(target, name, receiver) as unknown)),
  });
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}
