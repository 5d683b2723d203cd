import { createServer } from 'node:net';

/**
 * Start of the range of ports to choose from. The range lies below the ports of outgoing connections (32768 and above
 * on Linux, 49152 on macOS), because an outgoing connection could take a port before the caller listens on it.
 */
const lowestPort = 20_000;
const highestPort = 32_000;
const maxTries = 100;

/** Returns a port of the loopback interface that is free now and that no outgoing connection will take. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${lowestPort} to ${highestPort} is free on 127.0.0.1: end what listens there`);
}

/**
 * Ports to which every browser refuses to send requests, whatever the page, scheme or host name (the "bad ports" of the
 * Fetch standard). Only those that a program may use without privileges and that nobody is likely to need here.
 */
const portsClosedToBrowsers = [1719, 1720, 1723, 3659, 4190, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697] as const;

/**
 * Returns a free port of the loopback interface that no page in a browser can reach, for a server that cannot check
 * `Host` and `Origin` itself. If all of them are in use, it returns another free port.
 * @param taken ports that the caller has already chosen
 */
export async function freePortClosedToBrowsers(taken: readonly number[] = []): Promise<number> {
  const first = Math.floor(Math.random() * portsClosedToBrowsers.length); // so that processes rarely try the same port
  for (const port of [...portsClosedToBrowsers.slice(first), ...portsClosedToBrowsers.slice(0, first)]) {
    if (!taken.includes(port) && (await isFree(port))) return port;
  }
  return await freePort();
}

/** Returns true if nothing listens on a port of the loopback interface at this moment. */
export async function isFree(port: number): Promise<boolean> {
  return (await whyNotFree('127.0.0.1', port)) === null;
}

/**
 * Returns true if another socket listens on an address at this moment. Also returns false if it cannot find out, for
 * example without permission to use the port.
 */
export async function isTaken(host: string, port: number): Promise<boolean> {
  return (await whyNotFree(host, port)) === 'EADDRINUSE';
}

/** Listens on an address for a moment. @returns the code of the error; null if there was none */
function whyNotFree(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer().once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}
