import { connect } from 'node:net';
import type { Config } from '../config/config.js';
import { apiSources, emptyConfig, emptyLedger, localToken } from './api-sources.test-kit.js';
import { deskOf } from '../importing/desk/desk.test-kit.js';
import type { Action } from '../operations/action.js';
import { type ApiServer, patience, startApi } from './start-api.js';

const open: ApiServer[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

interface Target {
  readonly port: number;
  readonly acted: Action[];
}

async function target(
  server: Partial<Config['server']> = {},
  waits = patience as Parameters<typeof startApi>[1],
): Promise<Target> {
  const api = await startApi({ host: '127.0.0.1', port: 0 }, waits);
  open.push(api);
  const acted: Action[] = [];
  api.serve(
    apiSources({
      config: emptyConfig({ host: '127.0.0.1', port: 0, ...server } as Config['server']),
      ledger: emptyLedger(),
      imports: deskOf({ find: async () => undefined }),
      act: async (action) => {
        acted.push(action);
        return 'done';
      },
    }),
  );
  return { port: Number(new URL(api.url).port), acted };
}

/** Sends bytes unchanged and returns the response once the connection has ended. */
async function raw(port: number, ...parts: readonly string[]): Promise<string> {
  return await new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
    });
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.on('error', () => undefined); // the server closed the connection
    socket.on('close', () => resolve(answer));
  });
}

function requestText(port: number, first: string, headers: Record<string, string> = {}, body = ''): string {
  const authorization = `Bearer ${localToken}`; // A signed-in browser. The protection must work for it as well.
  const all = { host: `127.0.0.1:${port}`, connection: 'close', authorization, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${first} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
const pause = JSON.stringify({ do: 'pause', kind: 'sink', name: 'hooks' });

describe('a page of another site', () => {
  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a form with files', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
    ['a form whose text is valid JSON', { 'content-type': 'text/plain' }, 415],
    ['bytes without a content type', {}, 415],
    [
      'JSON that the browser marks as cross-site',
      { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' },
      403,
    ],
    [
      'JSON with the origin of the other site',
      { 'content-type': 'application/json', origin: 'https://evil.example.com' },
      403,
    ],
    ['JSON sent to another name of this host', { 'content-type': 'application/json', host: 'evil.example.com' }, 421],
    [
      'JSON sent to a name that starts with the public one',
      { 'content-type': 'application/json', host: 'desk.example.com.evil.example.com' },
      421,
    ],
  ])('cannot perform an action with %s', async (_, headers, status) => {
    const { port, acted } = await target();
    const length = { 'content-length': String(pause.length) };
    const answer = await raw(port, requestText(port, 'POST /api/actions', { ...length, ...headers }, pause));
    expect([statusOf(answer), acted]).toEqual([status, []]);
  });

  it('cannot pass a CORS preflight', async () => {
    const { port } = await target();
    const headers = { origin: 'https://evil.example.com', 'access-control-request-method': 'POST' };
    const answer = await raw(port, requestText(port, 'OPTIONS /api/actions', headers));
    expect(statusOf(answer)).toBe(403);
    expect(answer.toLowerCase()).not.toContain('access-control-allow');
  });

  it.each(['/openapi.json', '/', '/api/status', '/nothing'])(
    'cannot read %s through a host name of its own',
    async (path) => {
      const { port } = await target();
      expect(statusOf(await raw(port, requestText(port, `GET ${path}`, { host: 'evil.example.com' })))).toBe(421);
    },
  );
});

describe('a response', () => {
  it.each(['/openapi.json', '/api/status', '/nothing', '/healthz'])(
    'at %s forbids framing, content sniffing and caching',
    async (path) => {
      const { port } = await target();
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { authorization: `Bearer ${localToken}` },
      });
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
    },
  );
});

describe('the public address', () => {
  const server = { host: '0.0.0.0', publicUrl: 'https://desk.example.com' };

  it.each([
    ['desk.example.com', 401],
    ['DESK.example.com:443', 401],
    ['10.0.0.5:8088', 401],
    ['pigeonpost:8088', 401],
    ['evil.example.com', 421],
    ['desk.example.com.evil.org', 421],
  ])('makes requests for the host %s without a token end with %d', async (host, status) => {
    const { port } = await target(server);
    expect(statusOf(await raw(port, requestText(port, 'GET /api/status', { host, authorization: '' })))).toBe(status);
  });
});

describe('a path with a traversal or an unusual name', () => {
  it.each([
    '/api/../../etc/passwd',
    '/api/imports/..%2f..%2fetc%2fpasswd/report',
    '/api/imports/%2e%2e/%2e%2e/report?format=csv',
    '/api/items/acme/1/questions/..%2F..%2F..%2Fetc%2Fpasswd',
    '//etc/passwd',
    '/openapi.json/../../../etc/passwd',
    '/api/sinks/%00',
    '/api/sinks/%ff',
    '/api/sinks/__proto__',
    '/api/sinks/constructor/lanes',
    '/api/syncs/toString',
  ])('is not found: %s', async (path) => {
    const { port } = await target();
    const answer = await raw(port, requestText(port, `GET ${path}`));
    expect([400, 404, 500]).toContain(statusOf(answer));
    expect(statusOf(answer)).not.toBe(500);
    expect(answer).not.toContain('root:');
  });
});

describe('a slow client', () => {
  const waits = { headersMs: 100, requestMs: 200, uploadMs: 300, silentMs: 60_000, checkEveryMs: 20 };

  it('is disconnected if its headers do not arrive in time', async () => {
    const { port } = await target({}, waits);
    expect(statusOf(await raw(port, 'GET /api/status HTTP/1.1\r\nhost: 127.0.0.1\r\nx-one: '))).toBe(408);
  });

  it.each(['/api/actions', '/api/status', '/nothing', '/api/imports?pigeonhole=1&name=a'])(
    'is disconnected if the body of %s does not arrive in time, and no action runs',
    async (path) => {
      const { port, acted } = await target({}, waits);
      const type = path.includes('imports?') ? 'application/octet-stream' : 'application/json';
      const headers = { 'content-type': type, 'content-length': '100', connection: 'keep-alive' };
      await raw(port, requestText(port, `POST ${path}`, headers, '{"do"'));
      expect(acted).toEqual([]);
    },
  );
});

describe('an oversized request', () => {
  it.each([
    ['headers', 431, { 'x-large': 'x'.repeat(70_000) }, '/api/status'],
    [
      'the announced length of a body',
      413,
      { 'content-type': 'application/json', 'content-length': '9999999' },
      '/api/actions',
    ],
    [
      'the announced length of a preview',
      413,
      { 'content-type': 'application/json', 'content-length': '99999999' },
      '/api/preview',
    ],
  ])('is refused because of its %s with %d before the body is read', async (_, status, headers, path) => {
    const { port, acted } = await target();
    const method = path === '/api/status' ? 'GET' : 'POST';
    const answer = await raw(port, requestText(port, `${method} ${path}`, headers as Record<string, string>));
    expect([statusOf(answer), acted]).toEqual([status, []]);
  });
});
