import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { readPageFiles } from '../../api/serve-page.js';
import { type ApiServer, startApi } from '../../api/start-api.js';
import { packageRoot } from '../../base/package-root.js';
import { freeTestPort } from '../free-port.js';
import { attendee } from '../kit/items.js';
import { type Stage, useStages } from '../kit/stage.js';
import type { Scene } from '../kit/scene.js';
import { findServer, type RealServer, startServer, withServer } from './real-server.js';

/** The API and the page below a path of nginx, with nginx's defaults (buffering included) and its compression. */
const program = findServer('nginx', 'Debian: nginx-light');
const stages = useStages();

withServer(program)('the page and the API behind nginx', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-nginx-'));
  let server: RealServer;
  let api: ApiServer;
  let stage: Stage;
  let scene: Scene;
  let url: string;

  beforeAll(async () => {
    const port = await freeTestPort();
    url = `http://127.0.0.1:${port}/desk`;
    api = await startApi({ host: '127.0.0.1', port: 0 });
    const lines = [
      `daemon off; pid ${folder}/pid; error_log stderr;`,
      'events {}',
      `http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};`,
      '  gzip on; gzip_types *; gzip_proxied any;',
      `  server { listen 127.0.0.1:${port}; location /desk/ { proxy_pass ${api.url}/; proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; } } }`,
    ];
    writeFileSync(join(folder, 'nginx.conf'), lines.join('\n'));
    server = await startServer(
      [program!, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')],
      async () => (await fetch(`${url}/healthz`)).ok,
    );
  });
  beforeEach(async () => {
    stage = await stages.open(anyStore);
    scene = await stage.scene();
    const { ledger, config, configuration } = scene.deps;
    const own = { ...config, server: { ...config.server, publicUrl: url } };
    api.serve(
      apiSources({ ledger, config: own, configuration, page: readPageFiles(join(packageRoot(), 'dist/dashboard')) }),
    );
  });
  afterAll(async () => {
    await server.stop();
    await api.close();
    rmSync(folder, { recursive: true });
  });

  it('serves the page below a path, compressed, and unchanged to a browser that has it', async () => {
    const page = await fetch(`${url}/`);
    expect([page.status, page.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    const html = await page.text();
    const [, script] = /src="(\.\/assets\/[^"]+\.js)"/.exec(html)!;
    const loaded = await fetch(new URL(script!, `${url}/`));
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    const tag = loaded.headers.get('etag')!;
    expect((await fetch(loaded.url, { headers: { 'if-none-match': tag } })).status).toBe(304);
  });

  it('compresses answers of the API, and refuses what needs a token', async () => {
    const answer = await fetch(`${url}/api/status`, { headers: asLocalUser });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    expect(((await answer.json()) as { workspaces: unknown[] }).workspaces).toHaveLength(1);
    for (const path of ['/api/status', '/metrics']) expect((await fetch(`${url}${path}`)).status).toBe(401);
  });

  it('does not let another host name through', async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${url}/api/status`, { headers: { ...asLocalUser, host: 'evil.example.com' } });
      sent.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject);
      sent.end();
    });
    expect(status).toBe(421);
  });

  it('passes live changes on while they happen', async () => {
    await scene.settle();
    const ended = new AbortController();
    const live = await fetch(`${url}/api/changes/live?recent=1`, { headers: asLocalUser, signal: ended.signal });
    const reader = live.body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    const received = async (what: string): Promise<void> => {
      while (!text.includes(what)) text += decoder.decode((await reader.read()).value, { stream: true });
    };
    await received('event: changes');
    await stage.put('attendees', attendee(77));
    await stage.pollsAreDue();
    await scene.settle();
    await received('"list":"attendees"'); // the answer is still open
    ended.abort();
  });
});
