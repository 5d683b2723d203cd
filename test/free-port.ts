import { freePort } from '../worker/embedded-temporal/free-port.js';

const given = new Set<number>();
/** Number of this Jest process, so that processes that look for a port at the same time never find the same one. */
const own = Number(process.env['JEST_WORKER_ID'] ?? 0);
const sharers = 8;

/**
 * A port that nothing listens on, for a program that a test starts a while after: none that this process has been
 * given before, and none that another process of the same run is given meanwhile.
 */
export async function freeTestPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port % sharers !== own % sharers || given.has(port)) continue;
    given.add(port);
    return port;
  }
}
