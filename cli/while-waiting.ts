/** Delay before anything is shown. */
const shownAfterMs = 1000;

/**
 * Waits for work that may take long. Meanwhile, shows its name and the seconds so far on a terminal, and removes the
 * line at the end. Standard output is reserved for the result.
 */
export async function whileWaiting<Result>(
  what: string,
  work: () => Promise<Result>,
  screen: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<Result> {
  if (!screen.isTTY) return await work();
  const startedAt = performance.now();
  let isShown = false;
  const timer = setInterval(() => {
    isShown = true;
    screen.write(`\r\x1b[2K${what}… ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, shownAfterMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (isShown) screen.write('\r\x1b[2K');
  }
}
