import { failureCode } from '../network/failure-sentence.js';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDeferred } from '../../base/deferred.js';
import { stopTimers } from '../../test/kit/stop-timers.js';
import type { SecureContextOptions } from 'node:tls';
import { whileOldTlsIsAllowed } from '../../test/kit/old-tls.js';
import { Webhook } from 'standardwebhooks';
import { Secret } from '../../config/secret.js';
import { localhostCertificate, localhostKey } from '../network/localhost-certificate.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { NetworkSettings, Outcome, Sink } from '../sink.js';
import { operationsFor } from '../plan-of.test-kit.js';
import type { WebhookOperation } from './deliver.js';
import { createWebhookSink } from './webhook.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const lane = laneOf();
const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const resource of opened.splice(0).reverse()) await resource.close();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
  };
  opened.push({ close });
  return (server.address() as AddressInfo).port;
}

/** Starts a receiver on loopback with scripted responses that records the requests. */
async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { request: IncomingMessage; body: string }[] = [];
  const sockets = new Set<Socket>();
  const listener: RequestListener = (request, response) => {
    sockets.add(request.socket);
    text(request).then(
      (body) => {
        requests.push({ request, body });
        answer(request, response);
      },
      () => response.destroy(),
    );
  };
  const port = await listening(createServer(listener));
  return { requests, sockets, url: `http://127.0.0.1:${port}/in?token=t0ken` };
}

function sinkFor(
  url: string,
  options: {
    network?: Partial<NetworkSettings>;
    allowPrivateAddresses?: boolean;
    requestTimeoutMs?: number;
    now?: () => number;
  } = {},
): Sink<WebhookOperation> {
  const sink = createWebhookSink(
    { url, secret: [new Secret(secret)], allowPrivateAddresses: options.allowPrivateAddresses ?? true },
    environmentOf('hooks', {
      network: { allowHosts: [], ...options.network },
      ...(options.now && { now: options.now }),
      ...(options.requestTimeoutMs !== undefined && { requestTimeoutMs: options.requestTimeoutMs }),
    }),
  );
  opened.push(sink);
  return sink;
}

async function outcomeOf(sink: Sink<WebhookOperation>, signal = new AbortController().signal): Promise<Outcome> {
  const { outcomes } = await sink.send(await operationsFor(sink, [sampleChange()]), lane, signal);
  expect(outcomes).toHaveLength(1);
  return outcomes[0]!;
}

const detailOf = (outcome: Outcome): string => ('detail' in outcome ? (outcome.detail ?? '') : '');

describe('a webhook', () => {
  it('posts the signed change as JSON, with its id and the time of the attempt', async () => {
    const { url, requests } = await receiver((_, response) => response.end('ok'));
    const now = Date.parse('2026-11-21T09:30:05.999Z');
    const sink = sinkFor(url, { now: () => now });
    expect(await outcomeOf(sink)).toEqual({ kind: 'delivered', detail: 'HTTP 200' });

    const [{ request, body } = { request: undefined, body: '' }] = requests;
    expect(request).toMatchObject({ method: 'POST', url: '/in?token=t0ken' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': sampleChange().id,
      'webhook-timestamp': String(Math.floor(now / 1000)),
    });
    expect(JSON.parse(body)).toEqual(sampleChange());
    const signature = new Webhook(secret).sign(sampleChange().id, new Date(now), body);
    expect(request?.headers['webhook-signature']).toBe(signature);
  });

  it('sends a test as a signed event of its own type', async () => {
    const { url, requests } = await receiver((_, response) => response.end('ok'));
    const sink = sinkFor(url);
    expect(await sink.sendTest!(new AbortController().signal)).toEqual({ kind: 'delivered', detail: 'HTTP 200' });

    const [{ request, body } = { request: undefined, body: '' }] = requests;
    const event = new Webhook(secret).verify(body, request!.headers as Record<string, string>);
    expect(event).toEqual({
      id: request!.headers['webhook-id'],
      type: 'pigeonpost.test',
      timestamp: expect.any(String),
      data: { message: expect.stringContaining('test') },
    });
  });

  it('keeps what the receiver says about a refusal, and nothing that was sent', async () => {
    const { data, key } = sampleChange({ data: { name: 'Zoe Quillfeather', text: 'zoe.quill@example.org' } });
    const { url } = await receiver((request, response) => {
      response.statusCode = 422;
      response.end(
        `the field "data.text" is too long: zoe.quill@example.org (Zoe Quillfeather) ${secret} ${request.url}`,
      );
    });
    const sink = sinkFor(url);
    const operations = await operationsFor(sink, [sampleChange({ data, key })]);
    const { outcomes } = await sink.send(operations, lane, new AbortController().signal);
    expect(outcomes).toEqual([
      {
        kind: 'rejected',
        cause: 'http:422',
        detail: 'the receiver refused this change (HTTP 422)',
        answer: expect.stringMatching(/^the field "data\.text" is too long: \(hidden\)/),
      },
    ]);
    expect(JSON.stringify(outcomes)).not.toMatch(/zoe|quill|t0ken|whsec/i);
  });

  it('keeps the first words of an answer that is too long to read', async () => {
    const { url } = await receiver((_, response) => {
      response.statusCode = 500;
      response.end(`<html><h1>Internal Server Error</h1>${'<p>try again later</p>'.repeat(50_000)}`);
    });
    expect(await outcomeOf(sinkFor(url))).toMatchObject({
      kind: 'retry',
      answer: expect.stringMatching(/^Internal Server Error try again later.{200,}…$/),
    });
  });

  it('reuses its connections', async () => {
    const { url, sockets, requests } = await receiver((_, response) => response.end('x'.repeat(10_000)));
    const sink = sinkFor(url);
    for (let round = 0; round < 5; round += 1) await outcomeOf(sink);
    expect(requests).toHaveLength(5);
    // The next request may start shortly before the last one has released its connection.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('does not follow a redirect', async () => {
    const target = await receiver((_, response) => response.end());
    const { url } = await receiver((_, response) => response.writeHead(307, { location: target.url }).end());
    expect(await outcomeOf(sinkFor(url))).toMatchObject({ kind: 'retry' });
    expect(target.requests).toHaveLength(0);
  });

  it('counts a change as delivered even if the rest of the response never arrives', async () => {
    const { url } = await receiver((_, response) => response.writeHead(200, { 'content-length': 100 }).write('begun'));
    const begun = createDeferred();
    const onHeaders = (): void => begun.resolve();
    subscribe('undici:request:headers', onHeaders);
    stopTimers();
    try {
      const outcome = outcomeOf(sinkFor(url));
      await begun.promise;
      await nextTurn();
      jest.advanceTimersByTime(30_000);
      expect(await outcome).toMatchObject({ kind: 'delivered' });
    } finally {
      jest.useRealTimers();
      unsubscribe('undici:request:headers', onHeaders);
    }
  });

  it('reads only the start of an endless response', async () => {
    let sentBytes = 0;
    const { url } = await receiver((_, response) => {
      const more = (): void => {
        sentBytes += 65_536;
        if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(more));
      };
      more();
    });
    expect(await outcomeOf(sinkFor(url))).toMatchObject({ kind: 'delivered' });
    expect(sentBytes).toBeLessThan(50_000_000);
  });

  it('gives up on a receiver that does not answer, with a message', async () => {
    const { url } = await receiver(() => undefined);
    const outcome = await outcomeOf(sinkFor(url, { requestTimeoutMs: 200 }));
    expect(outcome).toMatchObject({ kind: 'retry', detail: expect.stringMatching(/did not answer within 0.2 s$/) });
  });

  it('aborts open requests and starts no other when it is stopped', async () => {
    const stop = new AbortController();
    const { url, requests } = await receiver(() => stop.abort());
    const sink = sinkFor(url);
    const changes = Array.from({ length: 40 }, (_, index) => sampleChange({ key: String(index) }));
    const { outcomes } = await sink.send(await operationsFor(sink, changes), lane, stop.signal);
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['retry', 'unsent']));
    expect(outcomes.filter(({ kind }) => kind === 'unsent').length).toBeGreaterThanOrEqual(24);
    expect(requests.length).toBeLessThanOrEqual(16);
  });

  it('names a broken connection, a closed port and an invalid response, without the URL', async () => {
    const cut = await receiver((_, response) => response.destroy());
    const garbage = await receiver((request) => request.socket.end('SSH-2.0-OpenSSH\r\n\r\n'));
    const closed = 'http://127.0.0.1:1/in?token=t0ken';
    const details = await Promise.all(
      [cut.url, garbage.url, closed].map(async (url) => detailOf(await outcomeOf(sinkFor(url)))),
    );
    expect(details[0]).toMatch(/^127\.0\.0\.1:\d+ closed the connection before answering$/);
    expect(details[1]).toMatch(/answered with something that is not HTTP$/);
    expect(details[2]).toBe('127.0.0.1:1 refused the connection');
    expect(details.join()).not.toContain('t0ken');
  });
});

describe('a webhook that may not reach private addresses', () => {
  it.each(['https://127.0.0.1', 'https://localhost', 'https://[::ffff:7f00:1]'])(
    'sends no request to %s',
    async (origin) => {
      let connections = 0;
      const server = createServer();
      server.on('connection', () => (connections += 1));
      const port = await listening(server);
      const outcome = await outcomeOf(sinkFor(`${origin}:${port}/in`, { allowPrivateAddresses: false }));
      expect(outcome).toMatchObject({ kind: 'retry', detail: expect.stringContaining('has no public address') });
      expect(connections).toBe(0);
    },
  );
});

describe('a webhook with its own certificate authority', () => {
  const answerOverTls = async (options: SecureContextOptions = {}) => {
    const settings = { cert: localhostCertificate, key: localhostKey, ...options };
    const server = createTlsServer(settings, (request, response) => {
      request.resume();
      response.end();
    });
    return `https://localhost:${await listening(server as unknown as Server)}/in`;
  };

  it('trusts the authority in "network.ca"', async () => {
    const url = await answerOverTls();
    expect(await outcomeOf(sinkFor(url, { network: { ca: localhostCertificate } }))).toMatchObject({
      kind: 'delivered',
    });
  });

  it('does not trust it without the key, and the message names the key', async () => {
    const outcome = await outcomeOf(sinkFor(await answerOverTls()));
    expect(outcome).toMatchObject({ kind: 'retry', detail: expect.stringContaining('network.ca') });
  });

  it('sends nothing below TLS 1.2, even if Node.js is configured to allow it', async () => {
    await whileOldTlsIsAllowed(async () => {
      const outcomeAt = async (maxVersion: 'TLSv1.1' | 'TLSv1.2') =>
        (await outcomeOf(sinkFor(await answerOverTls({ maxVersion }), { network: { ca: localhostCertificate } }))).kind;
      expect([await outcomeAt('TLSv1.2'), await outcomeAt('TLSv1.1')]).toEqual(['delivered', 'retry']);
    });
  });
});

describe('a webhook behind a proxy', () => {
  /** A proxy that connects every tunnel to one port, whatever host was requested. */
  const proxyTo = async (targetPort: number) => {
    const tunnels: string[] = [];
    const server = createServer();
    server.on('connect', (request, socket, head) => {
      tunnels.push(request.url ?? '');
      const target = connect(targetPort, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        target.write(head);
        target.pipe(socket).pipe(target);
      });
      socket.on('error', () => target.destroy());
      target.on('error', () => socket.destroy());
      socket.on('close', () => target.destroy());
    });
    return { tunnels, proxy: `http://127.0.0.1:${await listening(server)}` };
  };

  it('connects to allowed hosts and to no other', async () => {
    const { url, requests } = await receiver((_, response) => response.end());
    const { proxy, tunnels } = await proxyTo(Number(new URL(url).port));
    const network = { proxy, allowHosts: ['.example.com'] };

    expect(await outcomeOf(sinkFor('http://hooks.example.com/in', { network }))).toMatchObject({ kind: 'delivered' });
    expect(tunnels).toEqual(['hooks.example.com:80']);
    expect(requests).toHaveLength(1);

    const refused = await outcomeOf(sinkFor('http://hooks.example.org/in', { network }));
    expect(refused).toMatchObject({ kind: 'retry', detail: expect.stringContaining('add it to "network.allowHosts"') });
    expect(tunnels).toHaveLength(1);
  });

  it.each([
    [407, 'refuses the user and password of "network.proxy" (HTTP 407)', 'proxy-credential'],
    [403, 'opens no connection to hooks.example.com (HTTP 403): allow the host in the proxy', 'proxy-refusal'],
    [502, 'could not reach hooks.example.com (HTTP 502)', 'proxy-destination'],
    [null, 'cannot be reached (ECONNREFUSED): check "network.proxy", and that the proxy runs', 'proxy'],
  ])('names the proxy if it answers %p, not the receiver', async (status, sentence, code) => {
    const server = createServer();
    server.on('connect', (_request, socket) => socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`));
    const port = await listening(server);
    if (status === null) await new Promise((resolve) => server.close(resolve));
    const network = { proxy: `http://us:hidden@127.0.0.1:${port}`, allowHosts: ['hooks.example.com'] };
    const outcome = await outcomeOf(sinkFor('http://hooks.example.com/in', { network }));
    const detail = expect.stringContaining(`the proxy 127.0.0.1:${port} ${sentence}`) as string;
    expect(outcome).toMatchObject({ kind: 'retry', detail });
    expect(JSON.stringify(outcome)).not.toContain('hidden');
    expect(failureCode((outcome as { detail: string }).detail)).toBe(code);
  });
});

describe('the check of a webhook', () => {
  const check = (url: string, requestTimeoutMs = 60_000) =>
    sinkFor(url, { requestTimeoutMs }).check(new AbortController().signal);

  it('sends HEAD, and treats "method not allowed" as reachable', async () => {
    const { url, requests } = await receiver((_, response) => response.writeHead(405).end());
    // The sentence must also be true after many changes were delivered.
    const text = `${new URL(url).host} is reached; the check does not test the signature: run "pigeonpost sink test hooks" to test it`;
    expect(await check(url)).toEqual([{ ok: true, text }]);
    expect(requests.map(({ request }) => request.method)).toEqual(['HEAD']);
  });

  it.each([301, 410, 500])('fails with HTTP %d', async (status) => {
    const { url } = await receiver((_, response) => response.writeHead(status).end());
    expect(await check(url)).toEqual([{ ok: false, text: expect.stringContaining(`HTTP ${status}`) }]);
  });

  it('says if nothing answers', async () => {
    expect(await check('http://127.0.0.1:1/in')).toEqual([{ ok: false, text: '127.0.0.1:1 refused the connection' }]);
    const { url } = await receiver(() => undefined);
    expect(await check(url, 300)).toEqual([
      { ok: false, text: expect.stringContaining('did not answer within 0.3 s') },
    ]);
  });
});
