import type { Config } from '../config/config.js';
import { anyStore, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { apiSources, asLocalUser, emptyConfig } from './api-sources.test-kit.js';
import { createApp } from './create-app.js';

const databases = useBothDatabases();
const pigeonholes = 300;
const sinks = Array.from({ length: 8 }, (_, n) => `sink-${n}`);
const everyMs = { live: 5000, new: 5000, upcoming: 5000, ended: 5000, sweep: 5000, lists: {} };

const config = {
  ...emptyConfig({ host: '127.0.0.1', port: 8088 }),
  workspaces: { acme: {} },
  syncs: { conference: { workspace: 'acme', sinks, everyMs } },
  sinks: Object.fromEntries(sinks.map((name) => [name, { type: 'file' }])),
} as unknown as Config;

/** The requests of an idle overview in a minute: three parts every 20 s, and the caller (dashboard/asking/attention.ts). */
const minute = [
  ...Array.from({ length: 3 }, () => ['/api/overview', '/api/sinks', '/api/pigeonholes?limit=500']).flat(),
  '/api/caller',
];

describe('an idle page', () => {
  it('costs, on the overview of 300 pigeonholes and 8 sinks, fewer than 20 requests and 100 kB a minute', async () => {
    const ledger = await openLedger(databases.of(anyStore), testKey);
    await ledger.db.query(
      `with added as (insert into pigeonholes (workspace, pigeonhole_id, status, next_sequence)
       select 'acme', 1000 + n, case when n % 3 = 0 then 'live' else 'ended' end, 1 + n * 7
       from generate_series(1, ${pigeonholes}) n returning pigeonhole_number)
     insert into selections (sync, pigeonhole_number) select 'conference', pigeonhole_number from added`,
    );
    const app = createApp(apiSources({ ledger, config }));
    let bytes = 0;
    for (const path of minute) {
      const answer = await app.request(path, { headers: { ...asLocalUser, 'accept-encoding': 'gzip' } });
      expect([path, answer.status]).toEqual([path, 200]);
      bytes += (await answer.arrayBuffer()).byteLength;
    }
    const { items } = (await (await app.request('/api/pigeonholes?limit=500', { headers: asLocalUser })).json()) as {
      readonly items: readonly unknown[];
    };
    expect(items).toHaveLength(pigeonholes);
    expect(minute.length).toBeLessThan(20);
    expect(bytes).toBeLessThan(100_000);
  });
});
