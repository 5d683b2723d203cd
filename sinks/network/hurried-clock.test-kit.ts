import type { Clock } from './rolling-limiter.js';

/** Goes a hundred times as fast: what takes seconds of waiting is over in some milliseconds. */
export const hurriedClock: Clock = {
  now: () => performance.now() * 100,
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs / 100);
    return () => clearTimeout(timer);
  },
};
