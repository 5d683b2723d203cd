import type { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { runInThisContext } from 'node:vm';
import { guardedConnector, RefusedAddressError } from './guarded-connector.js';
import { localhostCertificate, localhostKey } from './localhost-certificate.test-kit.js';

let server: Server;
let port: string;
let accepted: Socket[];

beforeEach(async () => {
  accepted = [];
  server = createServer((socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = String((server.address() as AddressInfo).port);
});

afterEach(async () => {
  accepted.forEach((socket) => socket.destroy());
  server.close();
  await once(server, 'close');
});

/** A name server that knows one answer for every name. */
const resolvingTo = (...addresses: string[]) =>
  ((_name: string, _options: unknown, callback: (error: null, found: { address: string; family: number }[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )) as unknown as typeof lookup;

/** Connects, and gives the error or the address that was reached. */
async function outcomeOf(
  url: string,
  options: { allowPrivateAddresses: boolean; lookUp?: typeof lookup },
): Promise<Error | string> {
  const connect = guardedConnector({ connectTimeoutMs: 60_000, ...options });
  const { protocol, hostname } = new URL(url);
  return new Promise((resolve) => {
    connect({ protocol, hostname, host: hostname, port }, (error, socket) => {
      if (error) return resolve(error);
      resolve(socket.remoteAddress ?? 'nowhere');
      socket.destroy();
    });
  });
}

describe('a connection that may reach public addresses only', () => {
  it.each(['http://127.0.0.1', 'https://127.0.0.1', 'http://[::1]', 'http://0x7f.1', 'https://[::ffff:127.0.0.1]'])(
    'is refused to the address %s in the URL',
    async (url) => {
      expect(await outcomeOf(url, { allowPrivateAddresses: false })).toBeInstanceOf(RefusedAddressError);
      expect(accepted).toHaveLength(0);
    },
  );

  it.each([['127.0.0.1'], ['10.0.0.1', 'fd00::1'], ['::ffff:127.0.0.1']])(
    'is refused to a name that turns out to be %s',
    async (...addresses) => {
      const outcome = await outcomeOf('https://hooks.example.com', {
        allowPrivateAddresses: false,
        lookUp: resolvingTo(...addresses),
      });
      expect(outcome).toBeInstanceOf(RefusedAddressError);
      expect((outcome as Error).message).toContain('hooks.example.com has no public address');
      expect(accepted).toHaveLength(0);
    },
  );

  it('is refused to localhost', async () => {
    const outcome = await outcomeOf('https://localhost', { allowPrivateAddresses: false });
    expect(outcome).toBeInstanceOf(RefusedAddressError);
  });

  it('reports a name that does not exist as such', async () => {
    const lookUp = ((_name: string, _options: unknown, callback: (error: Error) => void) =>
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))) as unknown as typeof lookup;
    expect(await outcomeOf('https://hooks.example.com', { allowPrivateAddresses: false, lookUp })).toMatchObject({
      code: 'ENOTFOUND',
    });
  });
});

describe('a connection that may reach private addresses', () => {
  it('reaches them by address and by name', async () => {
    expect(await outcomeOf('http://127.0.0.1', { allowPrivateAddresses: true })).toBe('127.0.0.1');
    const lookUp = resolvingTo('127.0.0.1');
    expect(await outcomeOf('http://hooks.internal', { allowPrivateAddresses: true, lookUp })).toBe('127.0.0.1');
  });

  it('passes over the public addresses of a name without TLS', async () => {
    const lookUp = resolvingTo('8.8.8.8', '127.0.0.1');
    expect(await outcomeOf('http://hooks.internal', { allowPrivateAddresses: true, lookUp })).toBe('127.0.0.1');
  });

  it('is refused to a public address without TLS', async () => {
    const byAddress = await outcomeOf('http://8.8.8.8', { allowPrivateAddresses: true });
    expect(byAddress).toMatchObject({ message: expect.stringContaining('reaches over https only') });
    const byName = await outcomeOf('http://hooks.example.com', {
      allowPrivateAddresses: true,
      lookUp: resolvingTo('8.8.8.8'),
    });
    expect(byName).toMatchObject({ message: expect.stringContaining('reaches over https only') });
  });

  it('is refused to a certificate that nobody vouches for, whatever other tools have put into the environment', async () => {
    const secure = createTlsServer({ cert: localhostCertificate, key: localhostKey }).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    port = String((secure.address() as AddressInfo).port);
    const { env } = runInThisContext('process') as NodeJS.Process; // Node's own: Jest gives tests a copy
    env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const outcome = await outcomeOf('https://localhost', { allowPrivateAddresses: true });
      expect(outcome).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    } finally {
      delete env['NODE_TLS_REJECT_UNAUTHORIZED'];
      secure.close();
      await once(secure, 'close');
    }
  });
});
