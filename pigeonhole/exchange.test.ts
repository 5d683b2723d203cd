import { inspect } from 'node:util';
import { createServer, type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { whileHeld } from '../base/lease.js';
import { ApiError, ClientOptionsError } from './api-error.js';
import pino from 'pino';
import { createPigeonholeClient, type PigeonholeClient } from './client.js';
import type { ClientOptions } from './connections.js';
import { answerJson, collection, startService, type Respond, type TestService } from './service.test-kit.js';

const secret = 'key-3f9c';
const list = { list: 'attendees', pigeonholeId: 101 } as const;
const closers: (() => Promise<void>)[] = [];

async function start(respond: Respond, options: Partial<ClientOptions> = {}) {
  const service: TestService = await startService(respond);
  const client = open({ baseUrl: service.baseUrl, ...options });
  closers.push(() => service.close());
  return { service, client };
}

function open(options: Partial<ClientOptions> & { baseUrl: string }): PigeonholeClient {
  const client = createPigeonholeClient({ apiKey: secret, ...options });
  closers.unshift(() => client.close());
  return client;
}

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Returns a promise and the function that resolves it. */
function signalled<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve: (value: Value) => resolve(value) };
}

async function failureOf(call: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('the call did not fail with an ApiError', { cause: error });
  // No error reveals the key or an attendee, at whatever depth it is printed.
  const everything = `${error.stack}${JSON.stringify(error)}${inspect(error, { depth: 12, showHidden: true })}`;
  expect(everything).not.toContain(secret);
  expect(everything).not.toContain('Ann');
  return error;
}

describe('a request', () => {
  it('that its caller aborts fails as aborted without waiting for the answer', async () => {
    const controller = new AbortController();
    const { client } = await start(() => controller.abort());
    const error = await failureOf(client.page(list, { signal: controller.signal }));
    expect(error).toMatchObject({ kind: 'aborted', status: null, mayHaveTakenEffect: true });
  });

  it('whose caller has already aborted is never sent', async () => {
    const { client, service } = await start((_, response) => answerJson(response, 200, collection([])));
    const error = await failureOf(client.page(list, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ kind: 'aborted', mayHaveTakenEffect: false });
    expect(service.requests).toEqual([]);
  });

  describe('that waited for a connection under a lease', () => {
    /** Creates registrants while the only connection is busy, and makes `later` confirm the lease from then on. */
    async function queued(later: () => Promise<void> | undefined) {
      const asked = signalled<() => void>();
      const { client, service } = await start(
        (_, response) => {
          if (service.requests.length > 1) answerJson(response, 200, {});
          else asked.resolve(() => answerJson(response, 200, {}));
        },
        { connections: 1 },
      );
      const first = client.createRegistrants(101, '{"attendeeCode":"B"}');
      const answer = await asked.promise;
      let confirm = (): Promise<void> | undefined => undefined;
      const created = whileHeld(
        () => confirm(),
        () => client.createRegistrants(101, '{"attendeeCode":"A"}'),
      );
      const outcome = created.then(
        () => 'created',
        (error: unknown) => error,
      );
      confirm = later;
      answer();
      await first;
      return { outcome: await outcome, posts: service.requests.length - 1 };
    }

    it('is not sent if the lease was lost, and fails with the reason', async () => {
      const lost = new Error('another process holds it');
      expect(await queued(() => Promise.reject(lost))).toEqual({ outcome: lost, posts: 0 });
    });

    it('is sent once if the lease is confirmed again', async () => {
      let confirmations = 0;
      const again = (): Promise<void> | undefined => (confirmations++ === 0 ? nextTurn() : undefined);
      expect(await queued(again)).toEqual({ outcome: 'created', posts: 1 });
      expect(confirmations).toBe(3);
    });
  });

  it('leaves no listener on a signal that outlives it', async () => {
    const { client } = await start((_, response) => answerJson(response, 200, collection([])));
    const { signal } = new AbortController();
    const added = jest.spyOn(signal, 'addEventListener');
    const removed = jest.spyOn(signal, 'removeEventListener');
    await client.page(list, { signal });
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });

  it.each<[string, Respond]>([
    ['no answer', () => undefined],
    ['half an answer', (_, response) => response.writeHead(200, { 'content-length': '9' }).write('{"d')],
  ])('is transient if %s arrives in time', async (_, respond) => {
    const { client } = await start(respond, { requestTimeoutMs: 1000 });
    const error = await failureOf(client.page(list));
    expect(error).toMatchObject({ kind: 'transient', mayHaveTakenEffect: true });
    expect(error.message).toContain('within 1 s');
  });

  const start200 = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  it.each([
    ['before the announced length', `${start200}content-length: 99\r\n\r\n{"data":[{"Name":"Ann`],
    ['within a chunk', `${start200}transfer-encoding: chunked\r\n\r\n40\r\n{"data":[{"Name":"Ann`],
    ['between chunks', `${start200}transfer-encoding: chunked\r\n\r\n5\r\n{"dat\r\n`],
    ['so that only the JSON shows it', `${start200}connection: close\r\n\r\n{"data":[{"Name":"Ann`],
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['by something that is not HTTP', 'Ann says hello, and this is no HTTP at all\r\n\r\n'],
  ])('whose response is cut off %s is transient', async (_, bytes) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(bytes));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
    const client = open({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    expect(await failureOf(client.page(list))).toMatchObject({ kind: 'transient', mayHaveTakenEffect: true });
  });

  it('whose connection is refused was certainly not carried out', async () => {
    const { client, service } = await start(() => undefined);
    await service.close();
    const error = await failureOf(client.createRegistrants(101, '{"attendeeCode":"Ann"}'));
    expect(error).toMatchObject({ kind: 'transient', mayHaveTakenEffect: false });
    expect(error.message).toContain('refused the connection (ECONNREFUSED); check "baseUrl" of the workspace');
  });

  it('to a host that does not exist names the key of the address', async () => {
    const longMs = 120_000; // longer than a resolver asks name servers that do not answer
    const client = open({ baseUrl: 'https://nosuch.invalid', connectTimeoutMs: longMs, requestTimeoutMs: longMs });
    const { message } = await failureOf(client.page(list));
    expect(message).toMatch(/(not found by name \(ENOTFOUND\); check "baseUrl"|\(EAI_AGAIN\))/); // without a name server
  });

  it('with an answer that is too large breaks the contract', async () => {
    const { client } = await start((_, response) => answerJson(response, 200, collection([{ id: 1, Name: 'Ann' }])), {
      maxResponseBytes: 40,
    });
    expect(await failureOf(client.page(list))).toMatchObject({ kind: 'protocol' });
  });

  it('with an answer of 60 MB fails after the allowed 8 MB and says why', async () => {
    let sent = 0;
    const megabyte = Buffer.alloc(1024 * 1024, ' ');
    const { client } = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const send = (): void => {
        if (response.destroyed || sent === 60) return;
        sent += 1;
        response.write(megabyte, send);
      };
      send();
    });
    const error = await failureOf(client.page(list));
    expect(error).toMatchObject({ kind: 'protocol' });
    expect(error.message).toContain('the answer is larger than `network.maxAnswerMb` allows');
    expect(sent).toBeLessThan(30);
  });

  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const pageOf = (rows: string, more = 'null'): string =>
    `{"data":[${rows}],"meta":{"perPage":300,"nextCursor":null,"hasMore":false},"more":${more}}`;

  it.each([
    ['around its rows', pageOf('{"id":1}', deep(100))],
    ['in an entity', `{"data":{"id":1,"more":${deep(100)}}}`],
    ['in a row with a million levels', pageOf(`{"id":1,"more":${deep(1_000_000)}}`)],
  ])('with a response that is nested too deeply %s breaks the contract', async (_, body) => {
    const { client } = await start((__, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    const error = await failureOf(body.includes('meta') ? client.page(list) : client.getPigeonhole(101));
    expect(error).toMatchObject({ kind: 'protocol' });
    expect(error.message).toContain('nested far deeper than any documented one');
  });

  it.each([
    ['short', 61, ''],
    ['short', 100_000, ''],
    ['long', 5000, 'x'.repeat(1_000_000)],
  ])('with a row in a %s answer that has %i levels returns the row and its neighbours', async (_, levels, text) => {
    const rows = `{"id":1,"text":"${text}","more":${deep(levels)}},{"id":2}`;
    const { client } = await start((__, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(pageOf(rows)),
    );
    expect((await client.page(list)).items.map((item) => (item as { id: number }).id)).toEqual([1, 2]);
  });

  it('that is redirected does not send the key to the new address', async () => {
    const elsewhere = await startService((_, response) => answerJson(response, 200, collection([])));
    closers.push(() => elsewhere.close());
    const { client } = await start((_, response) =>
      response.writeHead(307, { location: `${elsewhere.baseUrl}/v2/subscriptions` }).end(),
    );
    expect(await failureOf(client.page(list))).toMatchObject({ kind: 'protocol', status: 307 });
    expect(elsewhere.requests).toEqual([]);
  });

  it('over the quota reports how long to wait', async () => {
    const nowMs = Date.parse('2026-11-21T09:30:00Z');
    const headers = {
      date: new Date(nowMs).toUTCString(),
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(nowMs / 1000 + 3600),
      'retry-after': '30',
    };
    const { client } = await start(
      (_, response) => answerJson(response, 429, { code: 8000, message: 'Ann used it up' }, headers),
      { now: () => nowMs },
    );
    expect(await failureOf(client.page(list))).toMatchObject({
      kind: 'quota',
      retryAfterMs: 30_000,
      resetAtMs: nowMs + 3_600_000,
      quota: { limit: 100, remaining: 0 },
    });
  });

  it('that fails validation keeps the service’s texts out of all printed output', async () => {
    const errors = [{ field: 'data.0.Name', message: 'Ann is taken' }];
    const { client } = await start((_, response) => answerJson(response, 422, { code: 4500, message: 'Ann', errors }));
    const error: ApiError = await client.createRegistrants(101, '{"attendeeCode":"A","Name":"Ann"}').then(
      () => Promise.reject(new Error('accepted')),
      (reason: ApiError) => reason,
    );
    expect(error.fieldErrors).toEqual(errors);
    const logged = JSON.stringify(pino.stdSerializers.err(error));
    expect(`${error.stack}${JSON.stringify(error)}${inspect(error)}${logged}`).not.toContain('Ann');
  });

  it('after the client was closed fails as aborted', async () => {
    const { client } = await start((_, response) => answerJson(response, 200, collection([])));
    await client.close();
    expect(await failureOf(client.page(list))).toMatchObject({ kind: 'aborted', mayHaveTakenEffect: false });
  });
});

describe('a client', () => {
  it('reuses its connection for consecutive requests', async () => {
    const ports = new Set<number | undefined>();
    const { client } = await start(
      (_, response) => {
        ports.add(response.socket?.remotePort);
        answerJson(response, 200, collection([]));
      },
      { connections: 1 },
    );
    for (let i = 0; i < 5; i += 1) await client.page(list);
    expect(ports.size).toBe(1);
  });

  it('opens at most the configured number of connections and completes all requests', async () => {
    const ports = new Set<number | undefined>();
    const { client, service } = await start(
      (_, response) => {
        ports.add(response.socket?.remotePort);
        answerJson(response, 200, collection([]));
      },
      { connections: 2 },
    );
    await Promise.all(Array.from({ length: 12 }, () => client.page(list)));
    expect(service.requests).toHaveLength(12);
    expect(ports.size).toBe(2);
  });

  it('sends an import while reads use all of their connections', async () => {
    const asked = signalled<() => void>();
    const { client } = await start(
      ({ method }, response) => {
        if (method === 'POST') answerJson(response, 200, {});
        else asked.resolve(() => answerJson(response, 200, collection([])));
      },
      { connections: 1 },
    );
    const page = client.page(list);
    const answer = await asked.promise;
    await client.createRegistrants(101, '{"attendeeCode":"A"}');
    answer();
    await page;
  });

  it('lets a request in progress finish before it closes', async () => {
    const { promise: asked, resolve: answerWhenAsked } = signalled<() => void>();
    const { client } = await start((_, response) =>
      answerWhenAsked(() => answerJson(response, 200, collection([{ id: 1 }]))),
    );
    const page = client.page(list);
    const answer = await asked;
    const closed = client.close();
    answer();
    expect((await page).items).toEqual([{ id: 1 }]);
    await closed;
  });

  it.each<[string, Partial<ClientOptions>]>([
    ['baseUrl', { baseUrl: 'http://example.com' }],
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: `${secret}\n` }],
    ['requestTimeoutMs', { requestTimeoutMs: 2 ** 31 }],
    ['proxy', { proxy: `${secret}:3128` }],
    ['ca', { ca: secret }],
    ['ca', { ca: `-----BEGIN CERTIFICATE-----\n${secret}\n-----END CERTIFICATE-----` }],
  ])('is not created with an invalid %s, which the error names without its value', (option, bad) => {
    const make = (): unknown => createPigeonholeClient({ baseUrl: 'https://example.com', apiKey: secret, ...bad });
    expect(make).toThrow(ClientOptionsError);
    expect(make).toThrow(expect.objectContaining({ option, message: expect.not.stringContaining(secret) as string }));
  });
});
