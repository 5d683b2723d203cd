import { loadText, smallest, smallestEnvironment, smallestWith } from './load-text.test-kit.js';
import { normalizedConfig } from './normalized-config.js';

const fingerprint = (secret: string) => `fingerprint of ${secret.length} letters ending in ${secret.at(-1)}`;

const normalized = async (text: string, environment = smallestEnvironment) =>
  normalizedConfig(await loadText(text, environment), fingerprint);

const richSync = (lines: string) =>
  smallestWith({ replace: '    sinks: [archive]\n', by: `    sinks: [archive]\n${lines}` });

describe('the normalized configuration', () => {
  it('contains workspaces, syncs and sinks with their defaults, and a fingerprint instead of each secret', async () => {
    expect(await normalized(smallest)).toEqual({
      version: 1,
      workspaces: {
        acme: {
          baseUrl: 'https://engagement.example.com',
          apiKey: { $secret: 'fingerprint of 8 letters ending in c' },
          quota: { reserve: 0.1 },
        },
      },
      syncs: {
        conferences: {
          workspace: 'acme',
          pigeonholes: {},
          lists: 'auto',
          everyMs: { live: 5_000, new: 3_600_000, upcoming: 300_000, ended: 21_600_000, sweep: 1_800_000, lists: {} },
          deletions: { settleMs: 86_400_000, confirmMs: 30_000, holdAbove: { share: 0.05, items: 50 } },
          drop: {},
          sinks: ['archive'],
        },
      },
      sinks: {
        archive: {
          type: 'file',
          settings: { folder: './archive' },
          history: 'all',
          mode: 'send',
          onConsentWithdrawn: 'keep',
          onForget: 'clear-our-fields',
          audit: 86_400_000,
        },
      },
    });
  });

  it.each([
    ['the order of keys', '    drop: { votes: [a], attendees: [b] }\n', '    drop: { attendees: [b], votes: [a] }\n'],
    ['the order of dropped fields', '    drop: { votes: [a, b] }\n', '    drop: { votes: [b, a] }\n'],
    ['the order of lists', '    lists: [votes, answers]\n', '    lists: [answers, votes]\n'],
    ['the order of ids', '    pigeonholes: [9, 101]\n', '    pigeonholes: [101, 9]\n'],
    [
      'the order of statuses',
      '    pigeonholes: { status: [new, live] }\n',
      '    pigeonholes: { status: [live, new] }\n',
    ],
    ['the form of a duration', '    every: { live: 60s }\n', '    every: { live: 1m }\n'],
    ['whether a default is written out', '', '    every: { sweep: 30m }\n'],
  ])('does not depend on %s', async (_, one, other) => {
    const text = JSON.stringify(await normalized(richSync(one)));
    expect(JSON.stringify(await normalized(richSync(other)))).toBe(text);
  });

  it('does not depend on settings of a single process', async () => {
    const process =
      'store: embedded:./elsewhere\nserver: { port: 9000 }\ntemporal: { taskQueue: other }\nnetwork: { proxy: http://proxy:3128 }\n';
    expect(await normalized(smallestWith({ append: process }))).toEqual(await normalized(smallest));
  });

  it.each([
    ['an interval', richSync('    every: { live: 6s }\n')],
    ['the folder of a sink', smallestWith({ replace: './archive', by: './elsewhere' })],
    ['the accepted consent', smallestWith({ append: '    consent: { accept: [obtained] }\n' })],
    ['a dropped field', richSync('    drop: { votes: [a] }\n')],
  ])('changes with %s', async (_, text) => {
    expect(await normalized(text)).not.toEqual(await normalized(smallest));
  });

  it('changes with a secret', async () => {
    expect(await normalized(smallest, { ACME_API_KEY: 'key-1f9d' })).not.toEqual(await normalized(smallest));
  });

  it('contains the JSON form of a value that defines one, such as an expression', async () => {
    const config = await loadText(smallest, smallestEnvironment);
    const sinks = { archive: { ...config.sinks.archive!, settings: { when: { toJSON: () => 'item.a' } } } };
    expect(normalizedConfig({ ...config, sinks }, fingerprint)).toMatchObject({
      sinks: { archive: { settings: { when: 'item.a' } } },
    });
  });

  it('refuses a setting that has no JSON form', async () => {
    const config = await loadText(smallest, smallestEnvironment);
    const sinks = { archive: { ...config.sinks.archive!, settings: { when: new Map() } } };
    expect(() => normalizedConfig({ ...config, sinks }, fingerprint)).toThrow(
      'a setting of type object cannot be compared',
    );
  });

  it('contains no drop folders if there are none, and does not depend on their order', async () => {
    const line = (...folders: string[]): string =>
      `imports: [${folders.map((folder) => `{ workspace: acme, pigeonhole: 101, folder: ${folder} }`).join(', ')}]\n`;
    expect(await normalized(smallest)).not.toHaveProperty('imports');
    expect(await normalized(smallestWith({ append: line('a', 'b') }))).toEqual(
      await normalized(smallestWith({ append: line('b', 'a') })),
    );
    expect(await normalized(smallestWith({ append: line('a') }))).not.toEqual(
      await normalized(smallestWith({ append: line('b') })),
    );
  });

  it('contains nightly exports by their sink, if there are any', async () => {
    expect(await normalized(smallest)).not.toHaveProperty('exports');
    expect(
      await normalized(smallestWith({ append: 'exports: [{ to: archive, at: "02:30 Europe/Berlin" }]\n' })),
    ).toMatchObject({
      exports: {
        archive: { at: { minutes: 150, timezone: 'Europe/Berlin' }, format: 'xlsx', keep: 14 },
      },
    });
  });
});
