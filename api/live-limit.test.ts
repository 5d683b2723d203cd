import { apiSources, emptyLedger, localToken } from './api-sources.test-kit.js';
import { type ApiServer, startApi } from './start-api.js';

const headers = { authorization: `Bearer ${localToken}` };
const open: ApiServer[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

describe('the limit of live streams', () => {
  it('applies to requests that arrive together, before any of them is answered', async () => {
    let letThrough: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    let asked = 0;
    const api = await startApi({ host: '127.0.0.1', port: 0 });
    open.push(api);
    const ledger = emptyLedger(async () => {
      asked += 1;
      await held;
      return [];
    });
    api.serve(apiSources({ ledger, liveEveryMs: 50 }));
    const leaving = new AbortController();
    const follow = async (): Promise<number> =>
      (await fetch(`${api.url}/api/changes/live`, { headers, signal: leaving.signal })).status;

    let answered = 0;
    const statuses = Promise.all(
      Array.from({ length: 130 }, async () => {
        const status = await follow();
        answered += 1;
        return status;
      }),
    );
    while (answered + asked < 130) await new Promise((resolve) => setImmediate(resolve));
    letThrough();
    const all = await statuses;
    expect([all.filter((status) => status === 200).length, all.filter((status) => status === 503).length]).toEqual([
      100, 30,
    ]);

    leaving.abort();
    let status = 503;
    while (status === 503) ({ status } = await fetch(`${api.url}/api/changes/live`, { method: 'HEAD', headers }));
    expect(status).toBe(200);
  });

  it('does not count refused streams', async () => {
    const api = await startApi({ host: '127.0.0.1', port: 0 });
    open.push(api);
    api.serve(apiSources({ ledger: emptyLedger(async () => []) }));
    for (let n = 0; n < 120; n += 1) {
      expect((await fetch(`${api.url}/api/changes/live?after=nonsense`, { headers })).status).toBe(400);
    }
    expect((await fetch(`${api.url}/api/changes/live`, { method: 'HEAD', headers })).status).toBe(200);
  });
});
