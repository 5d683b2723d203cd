/** Nothing is shown of what is done sooner. */
const shownAfterMs = 1000;

/**
 * Does something that may take long, and shows meanwhile, on a terminal, what it is and for how many seconds; the line is
 * gone when it is done. Standard output stays for the result.
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
