import type { ImportView } from '../importing/desk/import-views.js';
import { apiSources, emptyLedger, localToken } from './api-sources.test-kit.js';
import { deskOf } from '../importing/desk/desk.test-kit.js';
import { type ApiServer, startApi } from './start-api.js';

const headers = { authorization: `Bearer ${localToken}` };
const open: ApiServer[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

/** An endless source that records when it is released. */
class Endless {
  started = 0;
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async *of<Part>(part: Part): AsyncGenerator<Part, void, undefined> {
    this.started += 1;
    try {
      for (;;) yield part;
    } finally {
      this.#end();
    }
  }
}

async function serving(source: Endless): Promise<string> {
  const api = await startApi({ host: '127.0.0.1', port: 0 });
  open.push(api);
  const view = { id: '7', workspace: 'acme', pigeonholeId: 101 } as ImportView;
  api.serve(
    apiSources({
      ledger: emptyLedger(),
      backup: async () => source.of(Buffer.alloc(1024)),
      imports: deskOf({
        find: async () => view,
        report: () => source.of([]),
        reportCsv: () => source.of('row\n'),
      }),
    }),
  );
  return api.url;
}

describe('HEAD /api/backup', () => {
  it('returns the type without copying the store', async () => {
    const source = new Endless();
    const url = await serving(source);
    const answer = await fetch(`${url}/api/backup`, { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('content-type'), source.started]).toEqual([200, 'application/gzip', 0]);
  });
});

describe.each(['/api/imports/7/report', '/api/imports/7/report?format=csv'])('HEAD %s', (path) => {
  it('releases the source of the body', async () => {
    const source = new Endless();
    const url = await serving(source);
    expect((await fetch(`${url}${path}`, { method: 'HEAD', headers })).status).toBe(200);
    expect(source.started).toBe(1);
    await source.ended;
  });
});

describe('a client that disconnects during a backup', () => {
  it('ends the backup', async () => {
    const source = new Endless();
    const url = await serving(source);
    const leaving = new AbortController();
    const answer = await fetch(`${url}/api/backup`, { headers, signal: leaving.signal });
    expect(answer.status).toBe(200);
    leaving.abort();
    await source.ended;
  });
});
