import type { Server } from 'node:http';

/**
 * @param at.key of pigeonpost.yaml, under which host and port are set
 * @throws {ListenError}
 */
export async function listen(
  server: Server,
  { host, port, key }: { readonly host: string; readonly port: number; readonly key: string },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? `another program listens there: choose another ${key}.port, or end it`
          : `${error.code ?? error.message}: check ${key}.host and ${key}.port`;
      reject(new ListenError(`cannot listen on ${host}:${port}: ${why}`));
    });
    server.listen(port, host, resolve);
  });
}

/** The port is in use, or the host is not an address of this machine. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}
