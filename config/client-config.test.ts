import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadClientConfig, loadStoreConfig } from './client-config.js';

const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-client-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function load(lines: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const file = join(folder, 'pigeonpost.yaml');
  writeFileSync(file, lines.join('\n'));
  return await loadClientConfig(file, environment);
}

const secrets = [
  'workspaces: { acme: { baseUrl: "${BASE}", apiKey: "${KEY}" } }',
  'sinks: { crm: { type: hubspot, token: "${CRM}" }, hooks: { type: webhook, url: "${URL}", secret: "${file:missing}" } }',
  'alerts: { to: [{ type: webhook, url: "https://a.example", secret: "${ALERTS}" }], when: {} }',
];

describe('the configuration of a command that opens the store', () => {
  const loadStore = async (lines: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const file = join(folder, 'pigeonpost.yaml');
    writeFileSync(file, lines.join('\n'));
    return await loadStoreConfig(file, environment);
  };

  it('loads without the secrets of workspaces, sinks and alerts', async () => {
    expect(await loadStore(secrets)).toEqual({
      file: join(folder, 'pigeonpost.yaml'),
      folder,
      store: { kind: 'embedded', folder: join(folder, 'data') },
      sinks: ['crm', 'hooks'],
    });
  });

  it('requires and contains the URL of the store and the key of the ledger', async () => {
    const store = ['store: "${DATABASE}"', 'ledgerKey: "${LEDGER}"'];
    await expect(loadStore([...secrets, ...store])).rejects.toThrow(
      /store: the environment variable DATABASE is not set[^]*ledgerKey: the environment variable LEDGER is not set/,
    );
    const key = Buffer.alloc(32, 5).toString('base64');
    const set = await loadStore([...secrets, ...store], { DATABASE: 'postgres://db.example/p', LEDGER: key });
    expect([set.store.kind, set.ledgerKey?.reveal()]).toEqual(['postgres', key]);
  });
});

describe('the configuration of a client command', () => {
  it('loads without any secret of the file', async () => {
    expect(await load(secrets)).toMatchObject({
      store: { kind: 'embedded', folder: join(folder, 'data') },
      server: { host: '127.0.0.1', port: 8088 },
      workspaces: ['acme'],
      sinks: ['crm', 'hooks'],
      hasAlerts: true,
    });
  });

  it('loads even if other parts of the file are invalid', async () => {
    expect(await load([...secrets, 'sinkz: {}', 'retention: { changes: soon }'])).toMatchObject({
      sinks: ['crm', 'hooks'],
    });
  });

  it('has no known store if the store’s URL is in a variable that is not set', async () => {
    const store = ['store: "${DATABASE}"', 'ledgerKey: "${LEDGER}"'];
    expect((await load([...secrets, ...store])).store).toEqual({ kind: 'unknown' });
    const set = await load([...secrets, ...store], { DATABASE: 'postgres://db.example/pigeonpost' });
    expect(set.store).toMatchObject({ kind: 'postgres' });
  });

  it.each([
    ['the token', 'server: { token: "${TOKEN}" }', /server\.token: the environment variable TOKEN is not set/],
    ['the port', 'server: { port: 99999 }', /server\.port: found 99999/],
    ['a mistyped key', 'server: { prot: 8089 }', /server\.prot: unknown key, did you mean "port"/],
    ['an invalid store', 'store: nowhere', /store: found "nowhere"/],
  ])('is refused for %s, which the message names', async (_, line, sentence) => {
    await expect(load([...secrets, line])).rejects.toThrow(sentence);
  });
});
