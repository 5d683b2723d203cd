import type { Clock } from './rolling-limiter.js';

/** Runs a hundred times as fast, so that waits of seconds take milliseconds. */
export const hurriedClock: Clock = {
  now: () => performance.now() * 100,
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs / 100);
    return () => clearTimeout(timer);
  },
};
