/*
 * How often the page asks. While the operator uses it, each part has an interval of its own. After a minute without a key, a
 * click or a movement, everything is asked for rarely, because a page that stays open all day should cost little.
 */

const idleAfterMs = 60_000;
/** Four parts of a page, and the caller once a minute, are 13 requests a minute. */
const idleEveryMs = 20_000;

/** Returns the time from an answer to the next request. @param sinceInputMs time since the last input. Pure */
export function pauseAfter(everyMs: number, sinceInputMs: number): number {
  return sinceInputMs < idleAfterMs ? everyMs : Math.max(everyMs, idleEveryMs);
}

let lastInputAt = 0;
const returned = new EventTarget();

export function sinceInputMs(): number {
  return performance.now() - lastInputAt;
}

/** Calls the listener when the operator uses the page again after a pause. @returns a function that stops it */
export function onReturn(listener: () => void): () => void {
  returned.addEventListener('return', listener);
  return () => returned.removeEventListener('return', listener);
}

/** Starts to notice the input of this window. The page calls this once. */
export function noticeInput(): void {
  const note = (): void => {
    const wasIdle = sinceInputMs() >= idleAfterMs;
    lastInputAt = performance.now();
    if (wasIdle) returned.dispatchEvent(new Event('return'));
  };
  for (const kind of ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart', 'focus']) {
    addEventListener(kind, note, { passive: true, capture: true });
  }
}
