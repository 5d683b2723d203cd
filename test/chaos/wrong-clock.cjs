'use strict';

const { readFileSync } = require('node:fs');

/**
 * Loaded before a program. Makes its wall clock wrong by the milliseconds in the file CHAOS_CLOCK_FILE, and lets it
 * jump when the file changes. The monotonic clock and timers stay correct.
 */
const readAhead = () => Number(readFileSync(process.env.CHAOS_CLOCK_FILE, 'utf8'));
const RealDate = Date;
const present = () => RealDate.now() + aheadMs;
let aheadMs = readAhead();

setInterval(() => {
  const before = aheadMs;
  aheadMs = readAhead();
  if (aheadMs !== before) process.stderr.write(`the wall clock jumps by ${aheadMs - before} ms\n`);
}, 50).unref();

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(present()).toString(),
  construct: (target, args, newTarget) =>
    args.length === 0 ? new RealDate(present()) : Reflect.construct(target, args, newTarget),
  get: (target, name, receiver) => (name === 'now' ? present : Reflect.get(target, name, receiver)),
});
