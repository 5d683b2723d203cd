/**
 * Waits until a condition holds, looking every 20 ms. Tests wait for conditions and never for a time; the limit only
 * turns a condition that never comes into a failure that names it. It costs nothing where the condition comes, so it is
 * long enough for a machine that is busy with something else: give another one only to say that so late is too late.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
