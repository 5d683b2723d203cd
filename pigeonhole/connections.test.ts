import tls from 'node:tls';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { whileOldTlsIsAllowed } from '../test/kit/old-tls.js';
import { createPigeonholeClient } from './client.js';
import { type ClientOptions, readBaseUrl } from './connections.js';
import { ClientOptionsError } from './api-error.js';
import { answerJson, collection, makeCertificate, startTlsService, type TestService } from './service.test-kit.js';

const list = { list: 'subscriptions' } as const;
const certificate = makeCertificate();
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function startSecure(tls: object = {}): Promise<TestService> {
  const service = await startTlsService({ ...certificate, ...tls }, (_, response) =>
    answerJson(response, 200, collection([{ id: 1 }])),
  );
  closers.push(() => service.close());
  return service;
}

function open(service: TestService, options: Partial<ClientOptions> = {}) {
  const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k', ca: certificate.cert, ...options });
  closers.unshift(() => client.close());
  return client;
}

/** An HTTP proxy that opens or refuses tunnels and records its requests. */
async function startProxy(refuseWith?: number) {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    asked.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    sockets.add(socket.on('error', () => undefined));
    if (refuseWith !== undefined) {
      socket.end(`HTTP/1.1 ${refuseWith} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const [host, port] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { asked, port: (server.address() as AddressInfo).port };
}

describe('a connection', () => {
  it('is opened to a service whose certificate the configured authority has signed', async () => {
    const service = await startSecure();
    expect((await open(service).page(list)).items).toEqual([{ id: 1 }]);
  });

  it('is refused for an untrusted certificate, before the key is sent', async () => {
    const service = await startSecure();
    await expect(open(service, { ca: '' }).page(list)).rejects.toMatchObject({
      kind: 'transient',
      mayHaveTakenEffect: false,
      message: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT') as string,
    });
    expect(service.requests).toEqual([]);
  });

  it('is refused to a service that supports at most TLS 1.1, even if Node.js is configured to allow it', async () => {
    await whileOldTlsIsAllowed(async () => {
      const service = await startSecure({ maxVersion: 'TLSv1.1' });
      const anybody = tls.connect({ port: service.port, host: '127.0.0.1', ca: certificate.cert });
      await once(anybody, 'secureConnect');
      expect(anybody.getProtocol()).toBe('TLSv1.1');
      anybody.destroy();
      await expect(open(service).page(list)).rejects.toMatchObject({ kind: 'transient', mayHaveTakenEffect: false });
      expect(service.requests).toEqual([]);
    });
  });

  it('is opened to a service that supports at most TLS 1.2', async () => {
    const service = await startSecure({ maxVersion: 'TLSv1.2' });
    expect((await open(service).page(list)).hasMore).toBe(false);
  });
});

describe('a proxy', () => {
  it('opens a tunnel to the service and receives its own credentials, but never the key', async () => {
    const service = await startSecure();
    const proxy = await startProxy();
    const client = open(service, { proxy: `http://us%40er:pa%3Ass@127.0.0.1:${proxy.port}` });
    expect((await client.page(list)).items).toEqual([{ id: 1 }]);
    expect(proxy.asked).toEqual([
      {
        target: `127.0.0.1:${service.port}`,
        authorization: `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`,
      },
    ]);
  });

  it('does not make an untrusted certificate acceptable', async () => {
    const service = await startSecure();
    const proxy = await startProxy();
    const client = open(service, { ca: '', proxy: `http://127.0.0.1:${proxy.port}` });
    await expect(client.page(list)).rejects.toMatchObject({ kind: 'transient' });
    expect(service.requests).toEqual([]);
  });

  it('is not used for hosts in noProxy', async () => {
    const service = await startSecure();
    const proxy = await startProxy();
    const client = open(service, { proxy: `http://127.0.0.1:${proxy.port}`, noProxy: 'example.com,127.0.0.1' });
    await client.page(list);
    expect(proxy.asked).toEqual([]);
  });

  it.each([
    ['HTTPS_PROXY', 'http://127.0.0.1:9', undefined],
    ['NO_PROXY', '*', 1],
  ])('is set by the options, regardless of %s', async (variable, value, tunnels) => {
    const service = await startSecure();
    const proxy = await startProxy();
    const before = process.env[variable];
    process.env[variable] = value;
    try {
      await open(service, tunnels === undefined ? {} : { proxy: `http://127.0.0.1:${proxy.port}` }).page(list);
    } finally {
      if (before === undefined) delete process.env[variable];
      else process.env[variable] = before;
    }
    expect(proxy.asked).toHaveLength(tunnels ?? 0);
  });

  it('that refuses the tunnel causes a transient error without its credentials', async () => {
    const service = await startSecure();
    const proxy = await startProxy(407);
    const client = open(service, { proxy: `http://user:hidden@127.0.0.1:${proxy.port}` });
    const error: Error = await client.page(list).then(
      () => Promise.reject(new Error('the tunnel was opened')),
      (reason: Error) => reason,
    );
    expect(error).toMatchObject({ kind: 'transient', status: null, mayHaveTakenEffect: false });
    expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port} refuses the user and password`);
    expect(`${error.stack}${String(error.cause)}${JSON.stringify(error)}`).not.toContain('hidden');
  });

  it('that is down is named, and not the service', async () => {
    const service = await startSecure();
    const client = open(service, { proxy: 'http://127.0.0.1:1' });
    await expect(client.page(list)).rejects.toMatchObject({
      kind: 'transient',
      message: expect.stringContaining('the proxy 127.0.0.1:1 cannot be reached (ECONNREFUSED)') as string,
    });
  });

  it('that does not answer fails at the request’s deadline, and closing does not wait much longer', async () => {
    const service = await startSecure();
    const tunnels = new Set<Socket>();
    const silent = createServer().on('connect', (_request, socket: Socket) => {
      tunnels.add(socket.on('error', () => undefined));
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      for (const socket of tunnels) socket.destroy();
      return new Promise((resolve) => silent.close(() => resolve()));
    });
    const proxy = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k', proxy, requestTimeoutMs: 1000 });
    await expect(client.page(list)).rejects.toMatchObject({
      kind: 'transient',
      message: expect.stringContaining('no complete answer arrived within 1 s; ') as string,
    });
    expect(tunnels.size).toBe(1);
    await client.close(); // without a deadline for the tunnel, this takes 300 s and the test fails
  });
});

describe('a base URL', () => {
  it('may have a leading path and a trailing slash', () => {
    expect(readBaseUrl('https://example.com/engagement/')).toEqual({
      origin: 'https://example.com',
      prefix: '/engagement',
      isSecure: true,
    });
  });

  it.each(['http://localhost:1', 'http://127.0.0.1:1', 'http://127.9.9.9', 'http://[::1]:1', 'http://api.localhost'])(
    'may be plain http on loopback: %s',
    (url) => {
      expect(readBaseUrl(url).isSecure).toBe(false);
    },
  );

  it.each([
    'http://example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://10.0.0.1',
    'ftp://localhost',
    'example.com',
    '',
    'https://user:hidden@example.com',
    'https://example.com?key=hidden',
    'https://example.com/#hidden',
    'https://example.com/v2/',
  ])('is rejected without being repeated in the message: %s', (url) => {
    const refuse = (): unknown => readBaseUrl(url);
    expect(refuse).toThrow(ClientOptionsError);
    expect(refuse).toThrow(/^baseUrl (?!.*hidden)/);
  });
});
