import { gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import type { KnownFrames } from './answer.js';
import { createPigeonholeClient, type PigeonholeClient } from './client.js';
import type { ClientOptions, ResponseFacts } from './connections.js';
import { answerJson, collection, startService, type Respond, type TestService } from './service.test-kit.js';

let service: TestService;
let client: PigeonholeClient;

async function start(respond: Respond, options: Partial<ClientOptions> = {}): Promise<void> {
  service = await startService(respond);
  client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'key-of-acme', ...options });
}

afterEach(async () => {
  await client.close();
  await service.close();
});

describe('an answer of the service', () => {
  it.each([
    ['compressed although identity was requested', { 'content-encoding': 'gzip' }, 0],
    ['with headers of 60 KiB', {}, 4],
  ])('is read: %s', async (_how, headers, policies) => {
    const body = JSON.stringify(collection([{ id: 1 }]));
    service = await startService((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'x-policy': Array.from({ length: policies }, () => 'p'.repeat(15 * 1024)),
        ...headers,
      });
      response.end('content-encoding' in headers ? gzipSync(body) : body);
    });
    client = createPigeonholeClient({ baseUrl: service.baseUrl, apiKey: 'k' });
    expect((await client.page({ list: 'subscriptions' })).items).toEqual([{ id: 1 }]);
    expect(service.requests[0]?.headers['accept-encoding']).toBe('identity');
  });
});

describe('a page that the caller has received before', () => {
  it('is not parsed until its items are used, and is the same page', async () => {
    const rows = [{ id: 7, Name: 'Ann' }, 'no object'];
    await start((_, response) => answerJson(response, 200, collection(rows, 'next')));
    const known: KnownFrames = new Map();
    const list = { list: 'attendees', pigeonholeId: 101 } as const;
    const first = await client.page(list, { known });
    const parse = jest.spyOn(JSON, 'parse');
    const second = await client.page(list, { known });
    const { digest, nextCursor, hasMore, perPage } = second;
    expect({ digest, nextCursor, hasMore, perPage }).toEqual({
      digest: first.digest,
      nextCursor: 'next',
      hasMore: true,
      perPage: 300,
    });
    expect(parse).not.toHaveBeenCalled();
    expect([second.items, second.irregular]).toEqual([first.items, first.irregular]);
    expect(parse).toHaveBeenCalledTimes(1);
    parse.mockRestore();
    expect(known.size).toBe(1);
  });

  it('is refused if its cursor leads back to it', async () => {
    await start((_, response) => answerJson(response, 200, collection([{ id: 7 }], 'next')));
    const known: KnownFrames = new Map();
    await client.page({ list: 'attendees', pigeonholeId: 101 }, { known });
    const again = client.page({ list: 'attendees', pigeonholeId: 101 }, { known, cursor: 'next' });
    await expect(again).rejects.toMatchObject({ kind: 'protocol' });
  });
});

describe('a page', () => {
  it('has its items, its cursors, its request id and the quota', async () => {
    const data = [{ id: 7, Name: 'Ann', unknownField: { kept: true } }];
    let nowMs = 1000;
    await start(
      (_, response) => answerJson(response, 200, collection(data, 'next'), { 'x-ratelimit-remaining': '41' }),
      {
        now: () => nowMs++,
      },
    );
    const page = await client.page({ list: 'attendees', pigeonholeId: 101 }, { cursor: 'this', count: 50 });
    expect(page).toEqual({
      items: data,
      irregular: [],
      cursor: 'this',
      nextCursor: 'next',
      hasMore: true,
      perPage: 300,
      requestId: 'req-1',
      requestedAt: 1000,
      quota: { limit: null, remaining: 41, resetInMs: null, resetAtMs: null },
      bytes: Buffer.byteLength(JSON.stringify(collection(data, 'next'))),
      digest: createHash('sha256').update(JSON.stringify(data)).digest('hex'),
    });
  });

  it.each([
    [-1, 0],
    [4_294_967_295, 1_000_000_000],
    [Number.MAX_SAFE_INTEGER, 1_000_000_000],
  ])('has a page size that the store can represent if the service reports %d', async (perPage, held) => {
    await start((_, response) =>
      answerJson(response, 200, { data: [], meta: { perPage, nextCursor: null, hasMore: false } }),
    );
    expect(await client.page({ list: 'attendees', pigeonholeId: 101 })).toMatchObject({ perPage: held });
  });

  it('is requested with the key in a header, and with 300 items by default', async () => {
    await start((_, response) => answerJson(response, 200, collection([])));
    await client.page({ list: 'votes', pigeonholeId: 101, sessionId: 5, filters: { questionId: 6 } });
    expect(service.requests).toMatchObject([
      {
        method: 'GET',
        url: '/v2/pigeonholes/101/votes?count=300&filter[sessionId]=5&filter[questionId]=6',
        headers: { 'x-api-key': 'key-of-acme', accept: 'application/json' },
      },
    ]);
    expect(service.requests[0]?.url).not.toContain('key-of-acme');
  });

  it('keeps its irregular items and reports them', async () => {
    await start((_, response) => answerJson(response, 200, collection([{ id: 1 }, { id: 'x' }])));
    const page = await client.page({ list: 'attendees', pigeonholeId: 101 });
    expect(page.items).toHaveLength(2);
    expect(page.irregular).toEqual([{ index: 1, problem: 'id: expected number', lacksIdentity: true }]);
  });

  it('is requested below the leading path of the base URL, and errors name the documented path', async () => {
    await start((_, response) => answerJson(response, 404, { code: 4504 }));
    const behind = createPigeonholeClient({ baseUrl: `${service.baseUrl}/engagement/`, apiKey: 'k' });
    await expect(behind.page({ list: 'attendees', pigeonholeId: 1 })).rejects.toMatchObject({
      kind: 'pigeonholeNotFound',
      path: '/v2/pigeonholes/1/attendees',
    });
    await behind.close();
    expect(service.requests[0]?.url).toBe('/engagement/v2/pigeonholes/1/attendees?count=300');
  });

  const brokenEnvelopes: [string, unknown][] = [
    ['without data', { meta: { perPage: 1, nextCursor: null, hasMore: false } }],
    ['with data that is no array', { ...collection([]), data: {} }],
    ['without meta', { data: [] }],
    ['with hasMore as text', { data: [], meta: { perPage: 1, nextCursor: null, hasMore: 'false' } }],
    ['without nextCursor', { data: [], meta: { perPage: 1, hasMore: false } }],
    ['with a number as cursor', { data: [], meta: { perPage: 1, nextCursor: 5, hasMore: true } }],
    ['without perPage', { data: [], meta: { nextCursor: null, hasMore: false } }],
    ['that is an array', []],
    ['that is null', null],
    [
      'announcing more pages with a cursor that contains NUL',
      { data: [{ id: 1 }], meta: { perPage: 1, nextCursor: 'a\0', hasMore: true } },
    ],
    [
      'announcing more pages with half a surrogate pair as cursor',
      { data: [{ id: 1 }], meta: { perPage: 1, nextCursor: '\ud800', hasMore: true } },
    ],
    ['announcing more without a cursor', { data: [{ id: 1 }], meta: { perPage: 1, nextCursor: null, hasMore: true } }],
    ['announcing more with an empty cursor', collection([{ id: 1 }], '')],
    ['announcing more under its own cursor', collection([{ id: 1 }], 'this')],
    ['empty and announcing more', collection([], 'next')],
  ];

  it.each(brokenEnvelopes)('%s breaks the contract', async (_, body) => {
    await start((_request, response) => answerJson(response, 200, body));
    const page = client.page({ list: 'attendees', pigeonholeId: 101 }, { cursor: 'this' });
    await expect(page).rejects.toMatchObject({ kind: 'protocol', requestId: 'req-1', status: 200 });
  });

  it('without a body is transient', async () => {
    await start((_, response) => response.end());
    await expect(client.page({ list: 'subscriptions' })).rejects.toMatchObject({ kind: 'transient' });
  });
});

describe('the observer of a client', () => {
  it('receives successes, errors and requests without an answer, but no query', async () => {
    const seen: ResponseFacts[] = [];
    await start(
      ({ url }, response) => {
        if (url.startsWith('/v2/subscriptions')) answerJson(response, 200, collection([]));
        else if (url.startsWith('/v2/pigeonholes?')) answerJson(response, 429, { code: 8000 });
        else response.destroy();
      },
      { onResponse: (facts) => seen.push(facts) },
    );
    await client.page({ list: 'subscriptions' });
    await expect(client.page({ list: 'pigeonholes' })).rejects.toMatchObject({ kind: 'quota' });
    await expect(client.getPigeonhole(101)).rejects.toMatchObject({ kind: 'transient' });
    expect(seen).toMatchObject([
      { path: '/v2/subscriptions', status: 200, code: null, kind: null, requestId: 'req-1' },
      { path: '/v2/pigeonholes', status: 429, code: 8000, kind: 'quota', requestId: 'req-1' },
      { path: '/v2/pigeonholes/101', status: null, code: null, kind: 'transient', requestId: null },
    ]);
    expect(seen.every(({ durationMs }) => durationMs >= 0)).toBe(true);
  });
});

describe('a single pigeonhole', () => {
  it('is returned with every field that the service sent', async () => {
    await start((_, response) => answerJson(response, 200, { data: { id: 101, expectedParticipants: 5, extra: 1 } }));
    expect(await client.getPigeonhole(101)).toEqual({ id: 101, expectedParticipants: 5, extra: 1 });
  });

  it.each([{ data: {} }, { data: { id: '101' } }, { data: null }, {}])('is not accepted from %j', async (body) => {
    await start((_, response) => answerJson(response, 200, body));
    await expect(client.getPigeonhole(101)).rejects.toMatchObject({ kind: 'protocol', mayHaveTakenEffect: false });
  });
});

describe('creating', () => {
  it('sends a pigeonhole, a session and registrants as documented', async () => {
    await start((_, response) => answerJson(response, 201, { data: { id: 9 } }, { 'x-request-id': 'r-9' }));
    const pigeonhole = { name: 'Day', startDate: '2026-11-21', endDate: '2026-11-22', timezone: 'Asia/Tokyo' };
    const session = { name: 'Q', type: 'qna', startDate: '2026-11-21T01:00:00Z', endDate: '2026-11-21T02:00:00Z' };
    const registrant = { attendeeCode: '007', Name: 'Ann' };
    const answered = { entity: { id: 9 }, requestId: 'r-9' };
    expect(await client.createPigeonhole(pigeonhole)).toEqual(answered);
    expect(await client.createSession(101, session)).toEqual(answered);
    await client.createRegistrants(101, JSON.stringify(registrant));
    const sent = service.requests.map(({ method, url, headers, body }) => [
      `${method} ${url} ${headers['content-type']}`,
      JSON.parse(body) as unknown,
    ]);
    expect(sent).toEqual([
      ['POST /v2/pigeonholes application/json', pigeonhole],
      ['POST /v2/pigeonholes/101/sessions application/json', session],
      ['POST /v2/pigeonholes/101/registrants/bulk application/json', { data: [registrant] }],
    ]);
  });

  it('may have taken effect if a success cannot be interpreted', async () => {
    await start((_, response) => answerJson(response, 201, {}));
    const input = { name: 'Day', startDate: '2026-11-21', endDate: '2026-11-22', timezone: 'UTC' };
    await expect(client.createPigeonhole(input)).rejects.toMatchObject({ kind: 'protocol', mayHaveTakenEffect: true });
  });

  it('sends serialized registrants unchanged', async () => {
    await start((_, response) => response.writeHead(204).end());
    await client.createRegistrants(101, '{"attendeeCode": "007"},{"attendeeCode":"1E5"}');
    expect(service.requests[0]?.body).toBe('{"data":[{"attendeeCode": "007"},{"attendeeCode":"1E5"}]}');
  });

  it('no registrants sends no request', async () => {
    await start((_, response) => answerJson(response, 200, {}));
    await client.createRegistrants(101, '');
    expect(service.requests).toEqual([]);
  });

  it('registrants succeeds on the documented empty answer', async () => {
    await start((_, response) => response.writeHead(204).end());
    await expect(client.createRegistrants(101, '{"attendeeCode":"1"}')).resolves.toMatchObject({ quota: null });
  });

  it('registrants has an unknown outcome if a success lists errors', async () => {
    await start((_, response) => answerJson(response, 200, { errors: [{ field: 'data.0', message: 'taken' }] }));
    const created = client.createRegistrants(101, '{"attendeeCode":"1"}');
    await expect(created).rejects.toMatchObject({ kind: 'protocol', mayHaveTakenEffect: true });
  });

  it('registrants reports that the feature is disabled', async () => {
    await start((_, response) => answerJson(response, 400, { code: 4507, message: 'off' }));
    const created = client.createRegistrants(101, '{"attendeeCode":"1"}');
    await expect(created).rejects.toMatchObject({ kind: 'registrantsOff', mayHaveTakenEffect: false });
  });
});
