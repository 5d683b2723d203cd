import { isFree } from '../worker/embedded-temporal/free-port.js';

/**
 * Range of the ports for tests. It lies below the range of `freePort`, because a program that another test runs could
 * take the port before the program that it was chosen for.
 */
const lowestPort = 10_000;
const highestPort = 20_000;

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
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    if (port % sharers !== own % sharers || given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}
