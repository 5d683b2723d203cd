import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyStore, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { openRunning } from '../test/kit/running.js';

const databases = useBothDatabases({ only: anyStore });
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-switch-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('an applied configuration changes neither the address nor the token of the server before the next start', async () => {
  const lines = (live: string, ...more: string[]): string[] => [
    'workspaces: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: "${KEY}" } }',
    `syncs: { events: { workspace: acme, sinks: [archive], every: { live: ${live} } } }`,
    `sinks: { archive: { type: file, folder: ${folder}/archive } }`,
    `store: embedded:${folder}/data`,
    ...more,
  ];
  const environment = { KEY: 'a-key', TOKEN: '0123456789abcdef0123456789' };
  const exposed = lines('5s', 'server: { host: 0.0.0.0, token: "${TOKEN}" }');
  const running = await openRunning(databases.of(anyStore), folder, exposed, environment);
  const { server } = running.editions.current.config;
  running.write(lines('20s'));
  expect(await running.apply()).toMatchObject({ changed: true, plan: { atNextStart: ['server'] } });
  expect(running.editions.current.config.server).toEqual(server);
  expect((await running.plan()).atNextStart).toEqual(['server']);
  await running.close();
});
