import { Secret } from '../../config/secret.js';
import type { DoubleAnswer, DoubleRequest } from '../../sandbox/serve/double-request.js';
import type { Fields } from '../sink.js';
import { bodies, create, item, open, planOne, records, send, stage } from './receiver-stage.test-kit.js';

describe('a request', () => {
  it.each([
    [{ type: 'bearer', token: new Secret('t0ken') }, { authorization: 'Bearer t0ken' }],
    [
      { type: 'basic', username: 'user', password: new Secret('pass') },
      { authorization: `Basic ${btoa('user:pass')}` },
    ],
    [{ type: 'basic', username: new Secret('key') }, { authorization: `Basic ${btoa('key:')}` }],
    [{ type: 'header', name: 'X-Api-Key', value: new Secret('k3y') }, { 'x-api-key': 'k3y' }],
  ])('carries its credentials, which no plan shows: %j', async (auth, headers) => {
    const sink = open({ auth, ...records({}) });
    await send(sink, item('1'));
    expect(stage.api.requests[0]!.headers).toMatchObject({
      ...headers,
      'content-type': 'application/json',
      'user-agent': 'pigeonpost',
    });
    expect(JSON.stringify(await planOne(sink, item('1')))).not.toMatch(/t0ken|pass|k3y|127\.0\.0\.1/);
  });

  it.each([[{}], [{ auth: { type: 'none' } }]])('contains no credentials if none are configured: %j', async (keys) => {
    await send(open({ ...keys, ...records({}) }), item('1'));
    const { headers, query } = stage.api.requests[0]!;
    expect([headers['authorization'], headers['cookie'], query.size]).toEqual([undefined, undefined, 0]);
  });

  it('adds a secret parameter to the form, or to the query if there is no form', async () => {
    const auth = { type: 'parameter', name: 'key', value: new Secret('k3y') };
    await send(open({ auth, ...records({ create: { ...create, encoding: 'form' } }) }), item('1'));
    await send(open({ auth, ...records({}) }), item('1'));
    expect([stage.api.requests[0]!.body, stage.api.requests[0]!.query.get('key')]).toEqual([
      'key=k3y&text=hello',
      null,
    ]);
    expect([stage.api.requests[1]!.body, stage.api.requests[1]!.query.get('key')]).toEqual([
      '{"key":"1","text":"hello"}',
      'k3y',
    ]);
  });

  it('has its method, path, query and headers from expressions', async () => {
    const requests = {
      create: {
        method: 'item.text = "hello" ? "PUT" : "POST"',
        url: '"/items/" & $encodeUrlComponent(change.key) & "?a=b?c"',
        headers: { 'X-Revision': 'change.revision', 'X-None': 'item.none' },
        encoding: 'form',
        body: '{ "rows": [{ "yes": true, "none": null, "n": 1.5 }] }',
      },
    };
    await send(open({ headers: { 'X-Source': '"pigeonpost"' }, ...records(requests) }), item('ä/1'));
    const { method, path, query, headers, body } = stage.api.requests[0]!;
    expect([method, path, query.get('a')]).toEqual(['PUT', '/v2/items/%C3%A4%2F1', 'b?c']);
    expect(headers).toMatchObject({ 'x-source': 'pigeonpost', 'x-revision': '1' });
    expect(headers).not.toHaveProperty('x-none');
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({ 'rows[0][yes]': '1', 'rows[0][n]': '1.5' });
  });

  it.each([
    ['another host', '"https://evil.example/"', 'not-a-path'],
    ['another host without a scheme', '"//evil.example/"', 'empty-path-segment'],
    ['a user before the host', '"@evil.example/"', 'not-a-path'],
    ['a path above the base path', '"/../admin"', 'not-a-path'],
    ['an encoded path above the base path', '"/%2E%2e/admin"', 'not-a-path'],
    ['a line break', '"/a\\nb"', 'not-a-path'],
    ['a fragment', '"/a#b"', 'not-a-path'],
    ['a path with a missing id', '"/items/" & item.none', 'empty-path-segment'],
    ['a path with a missing id before a query', '"/items/" & item.none & "?a=1"', 'empty-path-segment'],
    ['a path with a missing id in the middle', '"/items/" & item.none & "/notes"', 'empty-path-segment'],
  ])('never goes to %s', async (_, url, code) => {
    const found = await planOne(open(records({ create: { url } })), item('1'));
    expect(found).toMatchObject({ kind: 'unplannable', cause: `mapping: crm.records[0].create.url: ${code}` });
  });

  it('keeps a slash at the end of its path if the configuration has one', async () => {
    await send(open(records({ create: { url: '"/items/" & change.key & "/"' } })), item('1'));
    expect(stage.api.requests[0]!.path).toBe('/v2/items/1/');
  });

  it('has the same idempotency key each time, and another key if it changes', async () => {
    const sink = open({ idempotencyHeader: 'Idempotency-Key', ...records({}) });
    for (const text of ['hello', 'hello', 'goodbye']) await send(sink, item('1', text));
    const [first, repeat, edited] = stage.api.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([repeat === first, edited === first]).toEqual([true, false]);
  });

  it.each([
    ['JSON', { auth: { type: 'bearer', token: new Secret('s3cret-token') } }],
    ['a form', { auth: { type: 'basic', username: new Secret('s3cret-user'), password: new Secret('s3cret-word') } }],
    ['a parameter', { auth: { type: 'parameter', name: 'key', value: new Secret('s3cret-key') } }],
  ] as const)('keeps what the receiver says about a refusal of %s, and nothing that was sent', async (kind, keys) => {
    const echo = ({ path, headers, body }: DoubleRequest): DoubleAnswer => {
      const said = `text is too long: ${decodeURIComponent(body)} ${path} ${headers['authorization']}`;
      const login = Buffer.from(headers['authorization']?.slice(6) ?? '', 'base64').toString();
      return {
        status: 422,
        json: { error: 'too_long', message: `${said} ${login}`, record: { text: 'a private remark' } },
      };
    };
    stage.answers = [echo];
    const encoding = kind === 'a form' ? { encoding: 'form' } : {};
    const sink = open({ ...keys, ...records({ create: { ...create, ...encoding } }) });
    const [outcome] = await send(sink, item('4815', 'Zoe Quillfeather'));
    expect(outcome).toMatchObject({
      kind: 'rejected',
      detail: expect.stringMatching(/refuses it \(HTTP 422\)$/),
      answer: expect.stringMatching(/^\{"error":"too_long","message":"text is too long: /),
    });
    expect(JSON.stringify(outcome)).not.toMatch(/zoe|quill|4815|s3cret|private/i);
  });

  it('is repeated with a new token if the first token has expired', async () => {
    let issued = 0;
    const isToken = ({ path }: DoubleRequest) => path === '/token';
    const answer = (request: DoubleRequest): DoubleAnswer => {
      if (isToken(request)) return { status: 200, json: { access_token: `token-${(issued += 1)}` } };
      return { status: request.headers['authorization'] === 'Bearer token-2' ? 200 : 401, json: {} };
    };
    stage.answers = Array.from({ length: 4 }, () => answer);
    const auth = {
      type: 'client-credentials',
      tokenUrl: `${stage.api.url}/token`,
      clientId: 'client',
      clientSecret: new Secret('s3cret'),
      clientAuthentication: 'client_secret_post',
      scope: 'write',
    };
    expect(await send(open({ auth, ...records({}) }), item('1'))).toMatchObject([{ kind: 'delivered' }]);
    expect(new URLSearchParams(stage.api.requests[0]!.body).get('scope')).toBe('write');
    expect(stage.api.requests).toHaveLength(4);
  });
});

describe('a response', () => {
  const update = { url: '"/items/" & record.id', body: '{ "text": item.text }' };
  const made: Fields = { questions: { id: 'r1', sent: 'before' } };

  it.each<[number, string, object]>([
    [201, 'create', { kind: 'delivered' }],
    [302, 'create', { kind: 'retry' }],
    [400, 'create', { kind: 'rejected', cause: 'http:400' }],
    [401, 'create', { kind: 'pause', cause: 'credential' }],
    [403, 'update', { kind: 'pause', cause: 'credential' }],
    [404, 'create', { kind: 'retry' }],
    [404, 'update', { kind: 'rejected', cause: 'http:404' }],
    [404, 'delete', { kind: 'delivered', object: null }],
    [405, 'create', { kind: 'retry' }],
    [409, 'create', { kind: 'rejected', cause: 'http:409' }],
    [410, 'create', { kind: 'pause', cause: 'gone' }],
    [410, 'delete', { kind: 'delivered', object: null }],
    [422, 'update', { kind: 'rejected', cause: 'http:422' }],
    [429, 'create', { kind: 'retry' }],
    [500, 'delete', { kind: 'retry' }],
  ])('with HTTP %i to %s means %j', async (status, purpose, outcome) => {
    stage.answers = [() => ({ status })];
    const sink = open(records({ update, delete: { url: '"/items/" & record.id' } }));
    const object = purpose === 'create' ? null : made;
    expect(await send(sink, item('1', purpose === 'delete' ? null : 'hello', { object }))).toMatchObject([outcome]);
  });

  it.each<[string, string | null, string]>([
    ['POST', null, 'retry'],
    ['POST', 'hello', 'retry'],
    ['DELETE', null, 'delivered'],
  ])(
    'of a log with HTTP 404 to %s (text: %s) means "%s", because an event is not a record',
    async (method, text, kind) => {
      stage.answers = [() => ({ status: 404 })];
      const event = { method, url: '"/events"', body: '{ "key": change.key }' };
      const sink = open({ revisions: 'every', ...records({ update: event, delete: event }) });
      const subject = item('1', text);
      expect(await send(sink, { ...subject, change: { ...subject.change, revision: 2 } })).toMatchObject([{ kind }]);
    },
  );

  it('is judged by the first matching rule of "accept", without revealing its text', async () => {
    const accept = [
      { when: 'body.error = "quota"', outcome: 'retry', after: '60s' },
      { when: 'body.error = "gone"', outcome: 'missing' },
      { when: 'status = 409', outcome: 'delivered' },
      { when: '$exists(body.error)', outcome: 'rejected', cause: 'body.error', detail: 'check the form' },
    ];
    const sink = open({ accept, ...records({ update }) });
    const answered = async (answer: DoubleAnswer) => {
      stage.answers = [() => answer];
      return (await send(sink, item('1', 'hello', { object: made })))[0];
    };
    expect(await answered({ status: 200, json: { error: 'quota' } })).toMatchObject({ kind: 'retry', afterMs: 60_000 });
    expect(await answered({ status: 200, json: { error: 'gone' } })).toEqual({ kind: 'unsent', object: null });
    expect(await answered({ status: 409 })).toMatchObject({ kind: 'delivered' });
    expect(await answered({ status: 200, json: { error: 'BAD_FIELD' } })).toMatchObject({
      kind: 'rejected',
      cause: 'BAD_FIELD',
      detail: expect.stringMatching(/HTTP 200, BAD_FIELD\): check the form$/) as string,
    });
    expect(await answered({ status: 200, json: { error: 'Ann Ray is no member' } })).toMatchObject({
      cause: 'http:200',
    });
  });

  it.each([
    ['create', { kind: 'retry' }],
    ['update', { kind: 'unsent', object: null }],
    ['delete', { kind: 'delivered', object: null }],
  ])('about a missing record refers to the record: %s', async (purpose, outcome) => {
    stage.answers = [() => ({ status: 200, json: { error: 'gone' } })];
    const accept = [{ when: 'body.error = "gone"', outcome: 'missing' }];
    const sink = open({ accept, ...records({ update, delete: { url: '"/items/" & record.id' } }) });
    const object = purpose === 'create' ? null : made;
    expect(await send(sink, item('1', purpose === 'delete' ? null : 'hello', { object }))).toMatchObject([outcome]);
  });

  it('about a missing record is final for a log, which has no records', async () => {
    stage.answers = [() => ({ status: 200, json: { error: 'gone' } })];
    const accept = [{ when: 'body.error = "gone"', outcome: 'missing' }];
    const sink = open({ accept, revisions: 'every', ...records({}) });
    const { change } = item('1');
    expect(await send(sink, { ...item('1'), change: { ...change, revision: 2 } })).toMatchObject([
      { kind: 'rejected', cause: 'http:200' },
    ]);
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['9007199254740991', 9_007_199_254_740_991],
    ['"a \\" 9007199254740993"', 'a " 9007199254740993'],
    ['-90071992547409931234', '-90071992547409931234'],
  ])('with the id %s keeps all digits of the id', async (id, expected) => {
    stage.answers = [() => ({ status: 200, text: `{"text":"9007199254740993","id":${id}}` })];
    const accept = [{ when: 'body.text != "9007199254740993"', outcome: 'rejected' }];
    const sink = open({ accept, ...records({ create: { ...create, idFrom: 'body.id' } }) });
    expect(await send(sink, item('1'))).toMatchObject([{ kind: 'delivered', object: { questions: { id: expected } } }]);
  });

  it('that makes a rule of "accept" fail is judged by its status', async () => {
    const accept = [{ when: '$number(body.code) = 5 or $number(body) = 5', outcome: 'rejected' }];
    const sink = open({ accept, ...records({ update }) });
    for (const [status, kind] of [
      [502, 'retry'],
      [401, 'pause'],
      [422, 'rejected'],
    ] as const) {
      stage.answers = [() => ({ status, text: '<html>Bad gateway</html>' })];
      expect(await send(sink, item('1', 'hello', { object: made }))).toMatchObject([{ kind }]);
    }
  });

  it.each([
    ['an error page', { status: 200, text: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } }],
    ['truncated JSON', { status: 200, text: '{"found":', headers: { 'content-type': 'application/json' } }],
    ['too long', { status: 200, text: ' '.repeat(5 * 1024 * 1024) }],
  ])('to "find" that is %s creates nothing', async (_, answer) => {
    stage.answers = [() => answer as DoubleAnswer];
    const find = { url: '"/items?key=" & change.key', idFrom: 'body.found' };
    expect(await send(open(records({ find })), item('1'))).toMatchObject([{ kind: 'retry' }]);
    expect(stage.api.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('with HTTP 429 stops all requests of the sink for the requested time, or until an operator tries it', async () => {
    stage.answers = [() => ({ status: 429, headers: { 'retry-after': '30' } })];
    const sink = open(records({}));
    await send(sink, item('1'));
    expect(await send(sink, item('2'))).toMatchObject([{ kind: 'retry', afterMs: 30_000 }]);
    expect(stage.api.requests).toHaveLength(1);
    sink.tryNow!();
    expect(await send(sink, item('2'))).toMatchObject([{ kind: 'delivered' }]);
  });
});

describe('"results"', () => {
  const made: Fields = { questions: { id: 'r1', sent: 'before' } };

  it.each([
    ['create', { kind: 'retry' }],
    ['delete', { kind: 'delivered', object: null }],
  ])('about a missing record refer to the record: %s', async (purpose, outcome) => {
    const sink = open({ results: '["missing"]', ...records({ delete: { url: '"/items/" & change.key' } }) });
    const object = purpose === 'create' ? null : made;
    expect(await send(sink, item('1', purpose === 'delete' ? null : 'hello', { object }))).toMatchObject([outcome]);
  });
});

describe('a batch', () => {
  const batched = (batch: object, more: object = {}) =>
    open({ batch, ...more, ...records({ create: { ...create, body: 'item.text', batch: '{ "rows": [items] }' } }) });
  const many = (...texts: readonly unknown[]) => texts.map((text, at) => item(String(at), text));

  it('contains at most the configured number of items and bytes', async () => {
    await send(batched({ size: 2 }), ...many('a', 'b', 'c'));
    await send(batched({ size: 9 }, { maxBytes: 20 }), ...many('aaaa', 'bbbb', 'cccc'));
    expect(bodies()).toEqual(
      ['{"rows":["a","b"]}', '{"rows":["c"]}', '{"rows":["aaaa"]}', '{"rows":["bbbb"]}', '{"rows":["cccc"]}'].toSorted(
        (one, other) => bodies().indexOf(one) - bodies().indexOf(other),
      ),
    );
    expect(await send(batched({ size: 9 }, { maxBytes: 20 }), ...many('a'.repeat(30), 'b'))).toMatchObject([
      { kind: 'rejected', cause: 'too-large' },
      { kind: 'delivered' },
    ]);
  });

  it('is sent at the end of its time window, or earlier if it is full', async () => {
    const sink = batched({ size: 3, maxAge: '10s' });
    expect(await send(sink, ...many('a', 'b'))).toEqual(Array(2).fill({ kind: 'unsent', afterMs: 7_000 }));
    expect((await send(sink, ...many('a', 'b', 'c', 'd'))).map(({ kind }) => kind)).toEqual([
      'delivered',
      'delivered',
      'delivered',
      'unsent',
    ]);
    stage.nowMs += 7_000;
    await send(sink, ...many('d', 'e'));
    expect(bodies()).toEqual(['{"rows":["a","b","c"]}', '{"rows":["d","e"]}']);
  });

  it('with a deletion does not wait', async () => {
    const requests = {
      create: { ...create, batch: '[items]' },
      delete: { url: '"/items/" & change.key', batch: '[items]' },
    };
    const sink = open({ batch: { size: 3, maxAge: '10s' }, ...records(requests) });
    expect(await send(sink, item('1', null))).toMatchObject([{ kind: 'delivered' }]);
  });

  it('is sent in halves if it is refused as a whole', async () => {
    const refuseB = ({ body }: DoubleRequest): DoubleAnswer => ({ status: body.includes('b') ? 422 : 200 });
    stage.answers = Array.from({ length: 9 }, () => refuseB);
    expect((await send(batched({ size: 9 }), ...many('a', 'b', 'c', 'd'))).map(({ kind }) => kind)).toEqual([
      'delivered',
      'rejected',
      'delivered',
      'delivered',
    ]);
    expect(stage.api.requests).toHaveLength(5);
  });

  it('is rejected if "results" has no outcome for each item', async () => {
    const sink = batched({ size: 9 }, { results: '["delivered"]' });
    expect(await send(sink, ...many('a', 'b'))).toMatchObject(
      Array(2).fill({ kind: 'rejected', cause: 'results-unclear' }),
    );
  });
});
