import type { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { runInThisContext } from 'node:vm';
import { guardedConnector, isPublicAddress, RefusedAddressError } from './address-policy.js';
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

/** Returns a resolver that answers every name with these addresses. */
const resolvingTo = (...addresses: string[]) =>
  ((_name: string, _options: unknown, callback: (error: null, found: { address: string; family: number }[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )) as unknown as typeof lookup;

/** Connects, and returns the error or the remote address. */
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

describe('a connector for public addresses only', () => {
  it.each(['http://127.0.0.1', 'https://127.0.0.1', 'http://[::1]', 'http://0x7f.1', 'https://[::ffff:127.0.0.1]'])(
    'refuses the address %s in the URL',
    async (url) => {
      expect(await outcomeOf(url, { allowPrivateAddresses: false })).toBeInstanceOf(RefusedAddressError);
      expect(accepted).toHaveLength(0);
    },
  );

  it.each([['127.0.0.1'], ['10.0.0.1', 'fd00::1'], ['::ffff:127.0.0.1']])(
    'refuses a name that resolves to %s',
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

  it('refuses localhost', async () => {
    const outcome = await outcomeOf('https://localhost', { allowPrivateAddresses: false });
    expect(outcome).toBeInstanceOf(RefusedAddressError);
  });

  it('reports an unknown name as such', async () => {
    const lookUp = ((_name: string, _options: unknown, callback: (error: Error) => void) =>
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))) as unknown as typeof lookup;
    expect(await outcomeOf('https://hooks.example.com', { allowPrivateAddresses: false, lookUp })).toMatchObject({
      code: 'ENOTFOUND',
    });
  });
});

describe('a connector for private addresses', () => {
  it('connects by address and by name', async () => {
    expect(await outcomeOf('http://127.0.0.1', { allowPrivateAddresses: true })).toBe('127.0.0.1');
    const lookUp = resolvingTo('127.0.0.1');
    expect(await outcomeOf('http://hooks.internal', { allowPrivateAddresses: true, lookUp })).toBe('127.0.0.1');
  });

  it('skips the public addresses of a name without TLS', async () => {
    const lookUp = resolvingTo('8.8.8.8', '127.0.0.1');
    expect(await outcomeOf('http://hooks.internal', { allowPrivateAddresses: true, lookUp })).toBe('127.0.0.1');
  });

  it('refuses a public address without TLS', async () => {
    const byAddress = await outcomeOf('http://8.8.8.8', { allowPrivateAddresses: true });
    expect(byAddress).toMatchObject({ message: expect.stringContaining('reaches over https only') });
    const byName = await outcomeOf('http://hooks.example.com', {
      allowPrivateAddresses: true,
      lookUp: resolvingTo('8.8.8.8'),
    });
    expect(byName).toMatchObject({ message: expect.stringContaining('reaches over https only') });
  });

  it('refuses an untrusted certificate, regardless of NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    const secure = createTlsServer({ cert: localhostCertificate, key: localhostKey }).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    port = String((secure.address() as AddressInfo).port);
    const { env } = runInThisContext('process') as NodeJS.Process; // Node's own object. Jest gives tests a copy.
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

describe('the check for a public address', () => {
  it.each(['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0'])(
    'accepts %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each(['192.0.1.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '2606:4700::1111', '2a00:1450::1'])(
    'accepts %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ['unspecified', '0.0.0.0'],
    ['private', '10.255.0.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT', '100.127.255.255'],
    ['loopback', '127.0.0.53'],
    ['the metadata service', '169.254.169.254'],
    ['private', '172.31.255.255'],
    ['protocol assignments', '192.0.0.8'],
    ['private', '192.168.178.1'],
    ['benchmarking', '198.19.255.255'],
    ['multicast', '224.0.0.1'],
    ['class E', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['v4-mapped loopback', '::ffff:127.0.0.1'],
    ['v4-mapped, in hex', '::ffff:7f00:1'],
    ['v4-mapped public', '::ffff:1.1.1.1'],
    ['v4-compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::1'],
    ['discard-only', '100::1'],
    ['Teredo', '2001:0:1::1'],
    ['documentation', '2001:db8::1'],
    ['6to4', '2002:7f00:1::1'],
    ['unique local', 'fd12:3456::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['public with a zone', '2606:4700::1111%1'],
    ['multicast', 'ff02::1'],
    ['no address', 'example.com'],
    ['empty', ''],
  ])('rejects an address that is %s: %s', (_, address) => expect(isPublicAddress(address)).toBe(false));
});
