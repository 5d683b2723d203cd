import { join } from 'node:path';
import { loadText, problemsOf, smallestEnvironment, smallestWith } from './load-text.test-kit.js';

const load = (lines: string, environment: Record<string, string>) =>
  loadText(smallestWith({ append: lines }), { ...smallestEnvironment, ...environment });

const problems = (lines: string, environment: Record<string, string>) =>
  problemsOf(smallestWith({ append: lines }), { ...smallestEnvironment, ...environment });

const url = 'postgres://me:word@db/ledger';

describe('DATABASE_URL', () => {
  it.each([
    ['', url],
    ['store:\n', url],
    ['store: ${STORE:-}\n', url],
    ['store: postgres://own/ledger\n', 'postgres://own/ledger'],
  ])('with %j in the file keeps the ledger in %s', async (line, expected) => {
    const { store } = await load(line, { DATABASE_URL: url, TEMPORAL_ADDRESS: 'temporal:7233' });
    expect(store.kind === 'postgres' && store.url.reveal()).toBe(expected);
  });

  it.each([
    ['', '', 'data'],
    ['store: embedded:./own\n', url, 'own'],
  ])('with %j in the file has no effect when its value is %j', async (line, value, name) => {
    const config = await load(line, { DATABASE_URL: value });
    expect(config.store).toEqual({ kind: 'embedded', folder: join(config.folder, name) });
  });

  it('is named without its value if it is not a valid store', async () => {
    expect(await problems('', { DATABASE_URL: 'mysql://me:word@db/ledger' })).toEqual([
      '1: store: found the value of the environment variable DATABASE_URL, because the file does not set this key, allowed: embedded:FOLDER, or a PostgreSQL URL such as postgres://db.example.com/pigeonpost',
    ]);
  });

  it('is not checked if the file has a store', async () => {
    expect(await problems('store: embedded:./own\n', { DATABASE_URL: 'mysql://db' })).toEqual([]);
  });
});

describe('TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE', () => {
  const environment = { TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_NAMESPACE: 'events' };

  it.each([
    ['', { address: 'temporal:7233', namespace: 'events' }],
    ['temporal:\n', { address: 'temporal:7233', namespace: 'events' }],
    ['temporal: { taskQueue: own }\n', { address: 'temporal:7233', namespace: 'events', taskQueue: 'own' }],
    ['temporal: { address: embedded }\n', { address: 'embedded', namespace: 'events' }],
    ['temporal: { address: "own:1", namespace: own }\n', { address: 'own:1', namespace: 'own' }],
  ])('with %j in the file lead to %j', async (lines, temporal) => {
    expect((await load(lines, environment)).temporal).toMatchObject(temporal);
  });

  it('have no effect if they are empty', async () => {
    const { temporal } = await load('', { TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' });
    expect(temporal).toMatchObject({ address: 'embedded', namespace: 'default' });
  });

  it('allow an API key, which the embedded server does not accept', async () => {
    const lines = 'temporal: { apiKey: "${ACME_API_KEY}" }\n';
    expect(await problems(lines, environment)).toEqual([]);
    expect(await problems(lines, {})).toHaveLength(1);
  });

  it('are named without their values if they are invalid', async () => {
    expect(
      await problems('temporal:\n  taskQueue: own\n', { TEMPORAL_ADDRESS: 'http://word', TEMPORAL_NAMESPACE: ' ' }),
    ).toEqual([
      '13: temporal.address: found the value of the environment variable TEMPORAL_ADDRESS, because the file does not set this key, allowed: embedded, or host:port such as temporal.example.com:7233',
      '13: temporal.namespace: found the value of the environment variable TEMPORAL_NAMESPACE, because the file does not set this key, allowed: the name of a namespace',
    ]);
  });

  it('do not hide an invalid value in the file', async () => {
    expect(await problems('temporal: nonsense\n', environment)).toEqual([
      '13: temporal: found "nonsense", allowed: a group of keys',
    ]);
  });
});
