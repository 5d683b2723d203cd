import { request } from 'node:http';
import type { Config } from '../config/config.js';
import { Secret } from '../config/secret.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';
import type { Action, ActionResult } from '../operations/action.js';
import { apiSources, emptyConfig, emptyLedger, localToken } from './api-sources.test-kit.js';
import type { ApiSources } from './api-app.js';
import { type ApiServer, startApi } from './start-api.js';

const token = 'the-right-token';

interface Served {
  readonly api: ApiServer;
  /** `127.0.0.1:<port>`, the host that a client on this machine sends. */
  readonly host: string;
  readonly actions: Action[];
}

const open: ApiServer[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

async function listening(): Promise<ApiServer> {
  const api = await startApi({ host: '127.0.0.1', port: 0 });
  open.push(api);
  return api;
}

/** Serves an empty ledger. `withToken` configures it as off loopback, although the socket stays on loopback. */
async function serving(
  given: {
    withToken?: boolean;
    act?: () => Promise<ActionResult>;
    query?: () => Promise<unknown[]>;
    health?: ApiSources['health'];
    temporalMetrics?: ApiSources['temporalMetrics'];
    /** Names of configured objects. */
    names?: { readonly workspaces: readonly string[]; readonly sinks: readonly string[] };
  } = {},
): Promise<Served> {
  const api = await listening();
  const actions: Action[] = [];
  const server =
    given.withToken === true ? { host: '0.0.0.0', port: 0, token: new Secret(token) } : { host: '127.0.0.1', port: 0 };
  api.serve(
    apiSources({
      config: { ...emptyConfig(server), ...named(given.names) },
      ledger: emptyLedger(given.query),
      ...(given.health === undefined ? {} : { health: given.health }),
      ...(given.temporalMetrics === undefined ? {} : { temporalMetrics: given.temporalMetrics }),
      act: async (action) => {
        actions.push(action);
        return given.act === undefined ? 'done' : await given.act();
      },
    }),
  );
  return { api, host: new URL(api.url).host, actions };
}

/** Returns the part of a configuration that names objects. Nothing about an object but its name is read here. */
function named({ workspaces, sinks } = { workspaces: [] as readonly string[], sinks: [] as readonly string[] }) {
  const entries = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]));
  return { workspaces: entries(workspaces), sinks: entries(sinks) } as unknown as Pick<Config, 'workspaces' | 'sinks'>;
}

/** Headers of the command line of the same user on this machine. */
const asLocal = { authorization: `Bearer ${localToken}` };

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/**
 * Sends one request with node:http, because `fetch` does not allow a custom Host or Origin. A body without a length is
 * sent in chunks.
 */
async function ask(
  { url }: ApiServer,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, type: response.headers['content-type'] ?? '', text }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    if (body !== undefined) sent.write(body);
    sent.end();
  });
}

function askToAct(api: ApiServer, body: string, headers: Record<string, string> = asLocal): Promise<Answer> {
  const length = String(Buffer.byteLength(body));
  const own = { 'content-length': length, 'content-type': 'application/json' };
  return ask(api, '/api/actions', { method: 'POST', headers: { ...own, ...headers }, body });
}

const pauseHooks = JSON.stringify({ do: 'pause', kind: 'sink', name: 'hooks' });
const bearer = { authorization: `Bearer ${token}` };

describe('the API without server.token', () => {
  it.each(['127.0.0.1:80', 'localhost', 'LOCALHOST:8088', '[::1]:8088'])(
    'answers requests for the host %s',
    async (host) => {
      const { api } = await serving();
      expect(await ask(api, '/api/status', { headers: { host, ...asLocal } })).toMatchObject({ status: 200 });
    },
  );

  it.each(['evil.example.com', '127.0.0.1.evil.example.com:8088', '10.0.0.5'])(
    'refuses requests for the host %s, which a foreign page may send after DNS rebinding',
    async (host) => {
      const { api, actions } = await serving();
      expect((await ask(api, '/api/status', { headers: { host, ...asLocal } })).status).toBe(421);
      expect((await askToAct(api, pauseHooks, { host, ...asLocal })).status).toBe(421);
      expect(actions).toEqual([]);
    },
  );

  it('refuses a request without a token even on this machine, where another account or a proxy may have sent it', async () => {
    const { api, actions } = await serving();
    expect((await ask(api, '/api/status')).status).toBe(401);
    expect((await askToAct(api, pauseHooks, {})).status).toBe(401);
    expect(actions).toEqual([]);
  });
});

describe('the API with a token', () => {
  it.each(['pigeonpost.example.com', '10.0.0.5:8088', 'localhost:8088'])(
    'answers requests for the host %s',
    async (host) => {
      const { api } = await serving({ withToken: true });
      expect((await ask(api, '/api/status', { headers: { host, ...bearer } })).status).toBe(200);
    },
  );

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['a different token', { authorization: 'Bearer the-wrong-token' }],
    ['a different token of the same length', { authorization: `Bearer ${token.replace('t', 'T')}` }],
    ['the beginning of the token', { authorization: `Bearer ${token.slice(0, -1)}` }],
    ['the token with another scheme', { authorization: `Basic ${token}` }],
  ])('refuses a request with %s, and does not repeat the token', async (_, headers) => {
    const { api, actions } = await serving({ withToken: true });
    const answers = [await ask(api, '/api/status', { headers }), await askToAct(api, pauseHooks, headers)];
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    expect(JSON.stringify(answers)).not.toMatch(/right-token|wrong-token/);
    expect(actions).toEqual([]);
  });
});

describe.each([
  ['without server.token', false],
  ['with server.token', true],
])('a request with an Origin header, %s', (_, withToken) => {
  const headers: Record<string, string> = withToken ? bearer : asLocal;

  it('is answered if the origin is this server', async () => {
    const { api, host } = await serving({ withToken });
    expect((await ask(api, '/api/status', { headers: { ...headers, origin: `http://${host}` } })).status).toBe(200);
    expect((await askToAct(api, pauseHooks, { ...headers, origin: `http://${host}` })).status).toBe(200);
  });

  it.each(['http://evil.example.com', 'http://127.0.0.1:1', 'http://127.0.0.1', 'null', 'file:///tmp/page.html', ''])(
    'is refused if the origin is "%s", whatever the method and the content type',
    async (origin) => {
      const { api, actions } = await serving({ withToken });
      const foreign = { ...headers, origin };
      expect((await ask(api, '/api/status', { headers: foreign })).status).toBe(403);
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
        expect((await askToAct(api, pauseHooks, { ...foreign, 'content-type': type })).status).toBe(403);
      }
      expect(actions).toEqual([]);
    },
  );
});

describe('an action', () => {
  it('is performed as requested', async () => {
    const { api, actions } = await serving();
    expect(await askToAct(api, pauseHooks)).toMatchObject({ status: 200, text: '{"done":true}' });
    expect(actions).toEqual([{ do: 'pause', kind: 'sink', name: 'hooks' }]);
  });

  it.each([
    ['not JSON', 'do=pause'],
    ['empty', ''],
    ['a list', '[]'],
    ['an object with an unknown verb', '{"do":"drop","kind":"sink","name":"hooks"}'],
    ['an object with an unknown kind', '{"do":"pause","kind":"list","name":"hooks"}'],
    ['an object without a name', '{"do":"pause","kind":"sink"}'],
    ['an object with an empty name', '{"do":"pause","kind":"sink","name":""}'],
    ['an object with a name that is too long', JSON.stringify({ do: 'pause', kind: 'sink', name: 'n'.repeat(201) })],
  ])('whose body is %s is refused with a description of an action', async (_, body) => {
    const { api, actions } = await serving();
    const answer = await askToAct(api, body);
    expect(answer).toMatchObject({ status: 400, type: 'application/problem+json' });
    expect(answer.text).toContain('an action has \\"do\\" (pause, resume, try-now, poll-now, sweep');
    expect(actions).toEqual([]);
  });

  it('that would read a sink is refused', async () => {
    const { api, actions } = await serving();
    const answer = await askToAct(api, '{"do":"poll-now","kind":"sink","name":"hooks"}');
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('a sink is not read');
    expect(actions).toEqual([]);
  });

  it('on an unknown object is answered with 404 and the command that lists objects', async () => {
    const { api } = await serving({ act: async () => 'unknown' });
    const answer = await askToAct(api, pauseHooks);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 404,
      detail: 'no sink hooks is known: run "pigeonpost status" to see what exists',
    });
  });

  it.each([
    ['sink', 'crmm', 'no sink crmm is known: did you mean "crm"?'],
    ['workspace', 'amce', 'no workspace amce is known: did you mean "acme"?'],
  ])(
    'on a %s whose name has a typing error, %s, is answered with the name that was meant',
    async (kind, name, detail) => {
      const names = { workspaces: ['acme'], sinks: ['crm', 'hooks'] };
      const { api } = await serving({ act: async () => 'unknown', names });
      const answer = await askToAct(api, JSON.stringify({ do: 'pause', kind, name }));
      expect(JSON.parse(answer.text)).toMatchObject({ status: 404, detail });
    },
  );

  it('with an oversized body is refused, even if the body is sent in chunks without a length', async () => {
    const { api, actions } = await serving();
    const large = JSON.stringify({ do: 'pause', kind: 'sink', name: 'hooks', more: 'x'.repeat(64 * 1024) });
    const inChunks = {
      method: 'POST',
      headers: { 'transfer-encoding': 'chunked', 'content-type': 'application/json', ...asLocal },
    };
    expect((await askToAct(api, large)).status).toBe(413);
    expect((await ask(api, '/api/actions', { ...inChunks, body: large })).status).toBe(413);
    expect(actions).toEqual([]);
    expect((await ask(api, '/api/actions', { ...inChunks, body: pauseHooks })).status).toBe(200);
    expect(actions).toHaveLength(1);
  });
});

describe('a request for the history of an item', () => {
  it.each([
    ['an unknown list', { list: 'people', key: '1' }],
    ['no key', { list: 'questions' }],
    ['an empty key', { list: 'questions', key: '' }],
    ['a key that the store cannot represent', { list: 'questions', key: 'a\0b' }],
    ['a key that is too long', { list: 'questions', key: '9'.repeat(201) }],
    ['another parameter', { list: 'questions', key: '1', sink: 'hooks' }],
  ])('with %s is refused with a message before the store is queried', async (_, asked) => {
    const query = () => Promise.reject(new Error('the store was asked'));
    const { api } = await serving({ query });
    const search = new URLSearchParams(asked as Record<string, string>).toString();
    const answer = await ask(api, `/api/why?${search}`, { headers: asLocal });
    expect(answer.status).toBe(400);
    expect((JSON.parse(answer.text) as { detail: string }).detail).toMatch(/^why takes "list".*"pigeonhole"[^.\n]*$/);
  });

  it.each([`it's`, '"', '100 % sure', '%00', 'a&b=c', '../..', "1'; drop table items --"])(
    'whose key is %j returns no items',
    async (key) => {
      const { api } = await serving({ query: async () => [] });
      const query = new URLSearchParams({ list: 'questions', key }).toString();
      const answer = await ask(api, `/api/why?${query}`, { headers: asLocal });
      expect(answer).toMatchObject({ status: 200, text: '{"items":[]}' });
    },
  );
});

describe('a health probe', () => {
  it.each(['/healthz', '/readyz'])('is answered at %s without a token and with any host or origin', async (path) => {
    const { api } = await serving({ withToken: true });
    const headers = { host: 'evil.example.com', origin: 'null' };
    expect(await ask(api, path, { headers })).toMatchObject({ status: 200, text: 'ok' });
  });

  it('reports a missing part as not ready, but the process as healthy', async () => {
    const { api } = await serving({
      health: async () => [
        { part: 'store', ready: false },
        { part: 'temporal', ready: true },
        { part: 'worker', ready: false },
      ],
    });
    expect(await ask(api, '/readyz')).toMatchObject({ status: 503, text: 'not ready: store, worker' });
    expect((await ask(api, '/healthz')).status).toBe(200);
  });
});

describe('the metrics', () => {
  it('require a token off loopback', async () => {
    const { api } = await serving({ withToken: true });
    expect((await ask(api, '/metrics')).status).toBe(401);
    const answer = await ask(api, '/metrics', { headers: bearer });
    expect([answer.status, answer.type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  });

  it('report the counters of the process and a store that is down if neither store nor Temporal answers', async () => {
    const query = () => Promise.reject(new StoreError('unreachable', 'the store does not answer: see that it runs'));
    const { api } = await serving({ query, temporalMetrics: () => Promise.reject(new Error('gone')) });
    const { status, text } = await ask(api, '/metrics');
    expect(status).toBe(200);
    expect(text).toMatch(/^pigeonpost_store_up 0$/m);
    expect(text).toMatch(/^# TYPE pigeonpost_api_requests_total counter$/m);
  });

  it('include those of the Temporal SDK', async () => {
    const { api } = await serving({ temporalMetrics: async () => '# TYPE temporal_x gauge\ntemporal_x 1\n' });
    expect((await ask(api, '/metrics')).text).toMatch(/^temporal_x 1$/m);
  });

  it('need no token on loopback, unless a proxy forwarded the request', async () => {
    const { api } = await serving();
    expect((await ask(api, '/metrics')).status).toBe(200);
    expect((await ask(api, '/metrics', { headers: { 'x-forwarded-for': '203.0.113.9' } })).status).toBe(401);
    expect((await ask(api, '/metrics', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
  });

  it('are refused for a foreign host name', async () => {
    const { api } = await serving();
    expect((await ask(api, '/metrics', { headers: { host: 'evil.example.com' } })).status).toBe(421);
  });
});

describe('the API before the process is ready to serve', () => {
  it('is healthy but not ready', async () => {
    const api = await listening();
    expect(await ask(api, '/healthz')).toMatchObject({ status: 200, text: 'ok' });
    expect((await ask(api, '/readyz')).status).toBe(503);
  });

  it('reports that the process is starting, and answers once it serves', async () => {
    const api = await listening();
    const answer = await ask(api, '/api/status');
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 503,
      detail: 'the process is starting: try again in a few seconds',
    });
    api.serve(apiSources({ ledger: emptyLedger() }));
    expect((await ask(api, '/api/status', { headers: asLocal })).status).toBe(200);
  });
});

describe('a request that fails', () => {
  it.each([
    ['the store', new StoreError('full', 'the disk is full: make room')],
    ['the ledger', new LedgerError('stale', 'another one is newer')],
  ])('is answered with the message of an error of %s', async (_, error) => {
    const { api } = await serving({ act: () => Promise.reject(error) });
    const answer = await askToAct(api, pauseHooks);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain(error.message);
  });

  it('does not reveal an internal error', async () => {
    const inner = new Error('row {"Email":"ann@example.com"} at postgres://user:pass@db/main');
    const { api } = await serving({ act: () => Promise.reject(inner) });
    const answer = await askToAct(api, pauseHooks);
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 500,
      detail: 'the request failed: try again; if it fails again, "pigeonpost check" shows what cannot be reached',
    });
  });
});

describe('an unknown address', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/api'],
    ['POST', '/api/nothing'],
  ])('is answered with 404: %s %s', async (method, path) => {
    const { api } = await serving();
    expect(await ask(api, path, { method, headers: asLocal })).toMatchObject({
      status: 404,
      type: 'application/problem+json',
    });
  });
});

describe('an address that is used with a wrong method', () => {
  it.each([
    ['GET', '/api/actions', 'POST'],
    ['POST', '/api/status', 'GET'],
    ['PUT', '/api/deletions/7', 'GET, POST'],
    ['GET', '/api/erasures/plan', 'POST'], // It looks like the address of one erasure, which can be read.
  ])('is answered with 405 and the allowed methods: %s %s', async (method, path, allow) => {
    const { api } = await serving();
    const answer = await fetch(`${api.url}${path}`, { method, headers: asLocal });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });
});

describe('a port that is in use', () => {
  it('is reported in one sentence', async () => {
    const api = await listening();
    const { port } = new URL(api.url);
    await expect(startApi({ host: '127.0.0.1', port: Number(port) })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: another process, perhaps pigeonpost itself, already listens there: stop it, or choose another server.port`,
    );
  });
});
