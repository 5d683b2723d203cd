/** Maximum share of the time spent on checks, which may read a whole archive or call a busy program. */
const checkingShare = 1 / 6;
const minPauseMs = 20;
const maxPauseMs = 500;

/**
 * Waits until a condition is true. Checks it every 20 ms, or less often if a check takes long, because the tested
 * program runs on the same machine. Tests wait for conditions and never for a time. The limit only makes a test fail
 * with the name of a condition that never becomes true, so it is long enough for a busy machine. Pass a different limit
 * only to assert that the condition becomes true in time.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const checkedAt = performance.now();
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    const pauseMs = (performance.now() - checkedAt) * (1 / checkingShare - 1);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(pauseMs, minPauseMs), maxPauseMs)));
  }
}
