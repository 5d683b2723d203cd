/** Time as a limiter or a schedule sees it; a test gives one of its own. */
export interface Clock {
  /** Milliseconds that only ever go forward, from any start. */
  now(): number;
  /** Calls once after so many milliseconds. @returns takes the call back */
  after(delayMs: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(), // monotonic: a set wall clock must not open or close a limit
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};
