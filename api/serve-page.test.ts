import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { apiSources, emptyConfig, emptyLedger } from './api-sources.test-kit.js';
import type { ApiApp } from './api-app.js';
import { createApp } from './create-app.js';
import { type PageFiles, readPageFiles } from './serve-page.js';

const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-page-'));
const html = '<!doctype html><title>pigeonpost</title>';
mkdirSync(join(folder, 'assets'));
writeFileSync(join(folder, 'index.html'), html);
writeFileSync(join(folder, 'assets/index-a1.js'), 'render();');
writeFileSync(join(folder, 'notes.txt'), 'no part of the page');
afterAll(() => rmSync(folder, { recursive: true }));

function appWith(page: PageFiles, token?: string): ApiApp {
  const config = emptyConfig({
    host: '127.0.0.1',
    port: 8088,
    ...(token === undefined ? {} : { token: token as never }),
  });
  return createApp(apiSources({ ledger: emptyLedger(), config, page }));
}

const app = appWith(readPageFiles(folder));

async function get(path: string, headers: Record<string, string> = {}, asked = app): Promise<Response> {
  return await asked.request(path, { headers: { host: '127.0.0.1', ...headers } });
}

/** Headers of a browser that follows a link in a message. */
const byLink = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

describe('the page', () => {
  it('is served at the root, and may run only its own script', async () => {
    const answer = await get('/');
    expect([answer.status, await answer.text()]).toEqual([200, html]);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
  });

  it('is revalidated on every visit, while its files, whose names change with their content, are cached', async () => {
    expect((await get('/')).headers.get('cache-control')).toBe('no-cache');
    expect((await get('/assets/index-a1.js')).headers.get('cache-control')).toContain('immutable');
  });

  it('is not sent again if the browser has the current version', async () => {
    const tag = (await get('/')).headers.get('etag')!;
    const again = await get('/', { 'if-none-match': `W/${tag}, "other"` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('is compressed for a browser that accepts it', async () => {
    const answer = await get('/', { 'accept-encoding': 'gzip, br' });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()).toBe(html);
  });

  it('needs no token, because it contains no data', async () => {
    const guarded = appWith(readPageFiles(folder), 'a-token');
    expect((await get('/', {}, guarded)).status).toBe(200);
  });

  it('opens from a link in a message', async () => {
    expect((await get('/', byLink)).status).toBe(200);
  });

  it.each([
    ['inside a frame of a foreign page', '/', { ...byLink, 'sec-fetch-dest': 'iframe' }],
    ['as a script of a foreign page', '/assets/index-a1.js', { 'sec-fetch-site': 'cross-site' }],
    ['a route of the API from a link', '/api/overview', byLink],
  ])('does not open %s', async (_, path, headers) => {
    expect((await get(path, headers)).status).toBe(403);
  });

  it('does not open under an unknown host name', async () => {
    expect((await get('/', { host: 'evil.example.com' })).status).toBe(421);
  });

  it.each([
    '/notes.txt',
    '/assets/../notes.txt',
    '/assets/%2e%2e/notes.txt',
    '/assets/',
    '/index.html',
    '/..%2fpackage.json',
  ])('serves nothing at %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it('says how to build it if it is missing', async () => {
    const answer = await get('/', {}, appWith(readPageFiles(join(folder, 'nowhere'))));
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('npm run build')]);
  });
});
