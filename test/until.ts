/** Part of the waiting time that is spent on checking: a check may read a whole archive, or ask a busy program. */
const checkingShare = 1 / 6;
const minPauseMs = 20;
const maxPauseMs = 500;

/**
 * Waits until a condition holds. Checks it every 20 ms; less often if checking takes long, since what is waited for
 * runs on the same machine. Tests wait for conditions and never for a time; the limit only turns a condition that never
 * comes into a failure that names it. It costs nothing where the condition comes, so it is long enough for a machine
 * that is busy with something else: give another one only to say that so late is too late.
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
