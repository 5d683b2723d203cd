const RealDate = Date;

/**
 * Runs `work` with a wall clock that is wrong by `aheadMs`: whatever asks `Date` for the present gets another time.
 * Monotonic clocks and the database's clock stay right. `work` may call `jump` to move the wall clock further.
 */
export async function withWallClock<Result>(
  aheadMs: number,
  work: (jump: (byMs: number) => void) => Promise<Result>,
): Promise<Result> {
  let ahead = aheadMs;
  const present = (): number => RealDate.now() + ahead;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: [], newTarget) =>
      args.length === 0 ? new RealDate(present()) : (Reflect.construct(target, args, newTarget) as Date),
    get: (target, name, receiver) => (name === 'now' ? present : (Reflect.get(target, name, receiver) as unknown)),
  });
  try {
    return await work((byMs) => {
      ahead += byMs;
    });
  } finally {
    globalThis.Date = RealDate;
  }
}
