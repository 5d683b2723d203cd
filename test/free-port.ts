import { freePort } from '../worker/embedded-temporal/free-port.js';

const given = new Set<number>();
/** Number of this Jest process, so that concurrent processes never choose the same port. */
const own = Number(process.env['JEST_WORKER_ID'] ?? 0);
const sharers = 8;

/**
 * Returns a free port for a program that a test starts later. Never returns a port that this process received before or
 * that another process of the same run may receive.
 */
export async function freeTestPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port % sharers !== own % sharers || given.has(port)) continue;
    given.add(port);
    return port;
  }
}
