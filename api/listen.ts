import { createServer, type Server } from 'node:http';
import { isIPv6 } from 'node:net';
import type { ApiContext } from './api-app.js';

/**
 * @param at.key the key of pigeonpost.yaml under which host and port are set
 * @throws {ListenError}
 */
export async function listen(
  server: Server,
  { host, port, key }: { readonly host: string; readonly port: number; readonly key: string },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const why = isTaken
        ? `another process, perhaps pigeonpost itself, already listens there: stop it, or choose another ${key}.port`
        : `${error.code ?? error.message}: check ${key}.host and ${key}.port`;
      reject(new ListenError(`cannot listen on ${host}:${port}: ${why}`, isTaken));
    });
    server.listen(port, host, resolve);
  });
}

/**
 * Listens for a moment where a process would listen.
 * @throws {ListenError} as `listen`
 */
export async function tryToListen(at: Parameters<typeof listen>[1]): Promise<void> {
  const server = createServer();
  await listen(server, at);
  await new Promise((resolve) => server.close(resolve));
}

/** The port is in use, or the host is not an address of this machine. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(
    message: string,
    /** Whether another process listens there. */
    readonly isTaken: boolean,
  ) {
    super(message);
  }
}

/** Maximum number of connections of a server, enough for hundreds of open pages. Further connections are closed. */
const maxConnections = 1000;

/**
 * Closes a connection immediately if its address has reached the limit. Otherwise one client that opens connections and
 * sends nothing would use all of them.
 */
export function limitConnections(server: Server, perAddress: number): void {
  const open = new Map<string, number>();
  server.maxConnections = maxConnections;
  server.on('connection', (socket) => {
    const address = addressGroup(socket.remoteAddress);
    const count = open.get(address) ?? 0;
    if (count >= perAddress) {
      socket.destroy();
      return;
    }
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

/**
 * Returns the address that limits are counted by: an IPv4 address, or the /64 network of an IPv6 address, because a
 * single host has a whole network. Behind a proxy it is the address of the proxy, because anyone can invent the headers
 * that proxies add.
 */
export function addressGroup(remoteAddress: string | undefined): string {
  const address = (remoteAddress ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(address) || address === '::1') return address;
  const [head = '', tail = ''] = address.split('::');
  const parts = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const all = address.includes('::') ? [...parts, ...Array(8 - parts.length - rest.length).fill('0'), ...rest] : parts;
  return `${all.slice(0, 4).join(':')}::/64`;
}

/** Returns the address group of a request's connection. */
export function addressOf(c: ApiContext): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined;
  return addressGroup(env?.incoming?.socket?.remoteAddress);
}
