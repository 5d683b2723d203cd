import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { until } from '../until.js';

/**
 * Tests access to a `start` without `server.token` by users and programs of the same machine. The service is
 * unreachable. The process has an open umask, so that private files are the product's own work.
 */
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-sign-in-'));
const tokenFile = join(folder, 'data/api.token');
const maxConnections = 12;
let main: Program;
let port: number;
let probesPort: number;

beforeAll(async () => {
  [port, probesPort] = [await freeTestPort(), await freeTestPort()];
  writeYaml(folder, [
    'workspaces: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: "${SERVICE_KEY}" } }',
    'syncs: { all: { workspace: acme, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive } }',
    `server: { port: ${port}, maxConnectionsPerAddress: ${maxConnections}, probes: { port: ${probesPort} } }`,
  ]);
  const umask = process.umask(0);
  main = startProgram('cli/main.js', ['start'], { cwd: folder, env: { SERVICE_KEY: 'k' } });
  process.umask(umask);
  await untilOutput(main, /http:\/\/127\.0\.0\.1:\d+/);
});
afterAll(async () => {
  await endAll([main]);
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

async function open(...more: string[]): Promise<{ code: number | null; out: string; errors: string }> {
  const program = startProgram('cli/main.js', ['open', ...more], { cwd: folder, env: { SERVICE_KEY: 'k' } });
  return { code: await program.exited, out: program.output(), errors: program.errors() };
}

interface Opened {
  readonly status: number;
  readonly leadsTo: string | null;
  readonly cookie: string | null;
  readonly attributes: readonly string[];
}

/** Follows a link as a browser without a session does, and selects the button of the page that it leads to. */
async function follow(link: string): Promise<Opened> {
  const shown = await fetch(link, { redirect: 'manual' });
  const text = await shown.text();
  if (shown.status !== 200) return { status: shown.status, leadsTo: null, cookie: null, attributes: [] };
  const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
  const answer = await fetch(api('/sign-in'), {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: api(''), cookie: shown.headers.get('set-cookie')!.split(';')[0]! },
    body: new URLSearchParams({ code: field('code'), nonce: field('nonce') }),
  });
  const session = answer.headers.getSetCookie().find((each) => each.includes('=pps_'));
  const [cookie = null, ...attributes] = session?.split('; ') ?? [];
  return { status: answer.status, leadsTo: answer.headers.get('location'), cookie, attributes };
}

const api = (path: string): string => `http://127.0.0.1:${port}${path}`;
const statusWith = async (headers: Record<string, string>, path = '/api/status'): Promise<number> =>
  (await fetch(api(path), { headers })).status;

describe('pigeonpost open', () => {
  it('prints a link that signs in the first browser that opens it, and no other', async () => {
    const { code, out, errors } = await open();
    expect([code, errors]).toEqual([0, 'Open this link in a browser within ten minutes. It works once.\n']);
    const link = out.trim();
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/\\?code=ppc_[\\w-]{24}$`));

    const first = await follow(link);
    expect(first).toMatchObject({ status: 303, leadsTo: './' });
    expect(first.cookie).toMatch(new RegExp(`^pigeonpost-${port}=pps_[\\w-]{43}$`));
    expect(first.attributes).toEqual(['Path=/', 'Max-Age=86400', 'HttpOnly', 'SameSite=Strict']);
    expect(await statusWith({ cookie: first.cookie! })).toBe(200);

    expect(await follow(link)).toEqual({ status: 401, leadsTo: null, cookie: null, attributes: [] });
    expect(main.output() + main.errors()).not.toContain(link.slice(-24)); // others could read it in the log
  });

  it('prints a new link with each call, also for a program', async () => {
    const links = [await open('--json'), await open('--json')].map(({ out }) => JSON.parse(out) as { link: string });
    for (const { link } of links) expect(await follow(link)).toMatchObject({ status: 303 });
    expect(links[0]!.link).not.toBe(links[1]!.link);
  });
});

describe('an account of the same machine without the token', () => {
  it('cannot read the file of the token, which only the user of the process can', () => {
    expect(readFileSync(tokenFile, 'utf8').trim().length).toBeGreaterThanOrEqual(24);
    expect((statSync(tokenFile).mode & 0o777).toString(8)).toBe('600');
  });

  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['a guess', { authorization: 'Bearer administrator-administrator' }],
    ['the claim to be local', { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' }],
    ['a session of its own making', { cookie: `pigeonpost-PORT=pps_${'A'.repeat(43)}` }],
  ])('is refused with %s', async (_what, given) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('PORT', String(port))]),
    );
    expect([await statusWith(headers), await statusWith(headers, '/api/backup')]).toEqual([401, 401]);
    const codes = await fetch(api('/api/page-codes'), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(codes.status).toBe(401);
  });

  it('needs a token on the command line, unlike the owner of the folder', async () => {
    expect(await statusWith(apiHeaders(folder))).toBe(200);
    const elsewhere = mkdtempSync(join(tmpdir(), 'pigeonpost-elsewhere-'));
    const other = startProgram('cli/main.js', ['--url', api(''), 'open'], { cwd: elsewhere });
    expect([await other.exited, other.output()]).toEqual([2, '']);
    expect(other.errors()).toContain('PIGEONPOST_TOKEN');
    rmSync(elsewhere, { recursive: true });
  });
});

/** The status of an answer over a new connection, which `fetch` may not open. */
function statusAnew(): Promise<number> {
  return new Promise((resolve, reject) => {
    get(api('/healthz'), { agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    }).on('error', reject);
  });
}

describe('the port of server.probes', () => {
  it('answers while idle connections without a token use up those of the API', async () => {
    const sockets: Socket[] = [];
    const held = (): number =>
      sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length;
    try {
      // The server closes connections beyond its limit. Those of earlier requests count as well until they end.
      const open = (): void => {
        const socket = connect({ port, host: '127.0.0.1' });
        socket.on('error', () => undefined);
        socket.resume();
        sockets.push(socket);
      };
      for (let n = 0; n < 3 * maxConnections; n += 1) open();
      await until('idle connections use up those of the API', async () => {
        if (held() < maxConnections) open();
        return held() === maxConnections && (await statusAnew().catch(() => 0)) === 0;
      });
      const probe = async (path: string) => {
        const answer = await fetch(`http://127.0.0.1:${probesPort}${path}`);
        return [answer.status, await answer.text()];
      };
      expect([await probe('/healthz'), await probe('/readyz')]).toEqual([
        [200, 'ok'],
        [200, 'ok'],
      ]);
      expect((await probe('/api/status'))[0]).toBe(404);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await until('the API answers again', async () => (await statusAnew().catch(() => 0)) === 200);
  });
});
