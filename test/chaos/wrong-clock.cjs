'use strict';

/** Loaded before a program: its wall clock is wrong by CHAOS_CLOCK_AHEAD_MS. Its monotonic clock and timers are right. */
const aheadMs = Number(process.env.CHAOS_CLOCK_AHEAD_MS ?? 0);
const RealDate = Date;
const present = () => RealDate.now() + aheadMs;

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(present()).toString(),
  construct: (target, args, newTarget) =>
    args.length === 0 ? new RealDate(present()) : Reflect.construct(target, args, newTarget),
  get: (target, name, receiver) => (name === 'now' ? present : Reflect.get(target, name, receiver)),
});
