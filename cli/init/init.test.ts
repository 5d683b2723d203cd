import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../../base/package-root.js';
import { checkDraft } from '../../worker/check.js';
import { asker, askAll, type InitFlags, type Trials } from './questions.js';
import { formatEvents } from '../commands/init.js';
import {
  type InitAnswers,
  type InitSinkType,
  schemaPath,
  sinkTypes,
  writeConfiguration,
} from './write-configuration.js';

const service = 'https://engagement.example.com';
const destinations: Readonly<Record<InitSinkType, string>> = {
  file: './archive',
  webhook: 'https://hooks.example.com/engagement',
  slack: 'C0123456789',
  hubspot: '',
  postgres: 'engagement',
};
const secrets: Readonly<Record<InitSinkType, string>> = {
  file: '',
  webhook: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  slack: 'xoxb-1',
  hubspot: 'pat-1',
  postgres: 'postgres://me@127.0.0.1/warehouse',
};

/** Runs init at a terminal with these answers, one after another. */
async function asked(
  answers: string[],
  flags: InitFlags = {},
  ids: readonly number[] | null = null,
  tried: Partial<Trials> = {},
): Promise<{ found: InitAnswers; said: string[] }> {
  const said: string[] = [];
  const note = (text: string): void => void said.push(text);
  const ask = asker({ note }, async (text) => {
    said.push(text);
    const answer = answers.shift();
    if (answer === undefined) throw new Error(`nothing is left to answer to: ${text}`);
    return answer;
  });
  const trials: Trials = {
    service: async () => null,
    events: async () => ids,
    sink: async () => null,
    ...tried,
  };
  return { found: await askAll(flags, { ask, note, trials }), said };
}

const unasked = async (flags: InitFlags): Promise<InitAnswers> =>
  await askAll(flags, { ask: asker({ note: () => undefined }, undefined), note: () => undefined, trials: null });

describe('the questions of init', () => {
  it('are few, and have defaults for empty answers', async () => {
    const { found, said } = await asked([`${service}/`, '', '', '', '']);
    expect(found).toEqual({
      service,
      keyVariable: 'ENGAGEMENT_API_KEY',
      pigeonholes: { statuses: ['new', 'upcoming', 'live'] },
      sink: { type: 'file', destination: './archive', secretVariable: '' },
    });
    expect(said).toHaveLength(5);
  });

  it('are repeated after an invalid answer, which is never shown since it may be a secret', async () => {
    const { found, said } = await asked([
      'nowhere',
      service,
      'sk-live-0123',
      'MY_KEY',
      'some',
      '101, 102',
      'fax',
      'file',
      '',
    ]);
    expect(found).toMatchObject({ keyVariable: 'MY_KEY', pigeonholes: { ids: [101, 102] } });
    expect(said.join('\n')).not.toMatch(/nowhere|sk-live|fax/);
    expect(said.filter((line) => line.startsWith('  '))).toHaveLength(4);
  });

  it.each(['', '/', '/v2', '/v2/'])('accept an address of the service that ends in "%s"', async (end) => {
    expect((await unasked({ service: `${service}${end}` })).service).toBe(service);
  });

  it('accept only events that were listed', async () => {
    const { found, said } = await asked([service, '', '103', '102', '', ''], {}, [101, 102]);
    expect(found.pigeonholes).toEqual({ ids: [102] });
    expect(said).toContain('  103 is not in the list above');
  });

  it('are skipped if an option answers them', async () => {
    const { found, said } = await asked(['', ''], { service, pigeonholes: 'all', sink: 'slack', destination: 'C1' });
    expect(found).toMatchObject({ pigeonholes: 'all', sink: { type: 'slack', secretVariable: 'SLACK_BOT_TOKEN' } });
    expect(said).toHaveLength(2);
  });

  it('ask for the service key of the account in HubSpot', async () => {
    const { found, said } = await asked([''], { service, keyVariable: 'MY_KEY', pigeonholes: 'all', sink: 'hubspot' });
    expect(said).toEqual([expect.stringContaining('Environment variable with the service key of the account')]);
    expect(found.sink).toEqual({ type: 'hubspot', destination: '', secretVariable: 'HUBSPOT_TOKEN' });
  });

  it('are repeated after an answer that fails its trial, until it passes or the operator keeps it', async () => {
    const tried: string[] = [];
    const failOnce =
      (problem: string) =>
      async (answer: unknown): Promise<string | null> => {
        tried.push(JSON.stringify(answer));
        return tried.filter((each) => each === JSON.stringify(answer)).length === 1 ? problem : null;
      };
    const { found, said } = await asked(
      [service, '', service, 'MY_KEY', 'yes', 'all', 'slack', 'C1', '', 'no', 'C1', ''],
      {},
      null,
      {
        service: failOnce('no service answers there'),
        events: async () => ({ problem: 'the key is refused' }),
        sink: failOnce('Slack does not know the channel'),
      },
    );
    expect(found).toMatchObject({ service, keyVariable: 'MY_KEY', sink: { type: 'slack', destination: 'C1' } });
    const noted = said.filter((line) => line.startsWith('  '));
    expect(noted).toEqual(['  no service answers there', '  the key is refused', '  Slack does not know the channel']);
    expect(tried).toHaveLength(4);
  });

  it('ask for the answer of an option again if it fails its trial', async () => {
    const { found } = await asked(
      ['no', 'OTHER_KEY', ''],
      { service, keyVariable: 'MY_KEY', sink: 'file', destination: 'a' },
      null,
      {
        events: async ({ keyVariable }) => (keyVariable === 'MY_KEY' ? { problem: 'the key is refused' } : null),
      },
    );
    expect(found.keyVariable).toBe('OTHER_KEY');
  });

  it.each<[string, InitFlags, RegExp]>([
    ['a missing option', {}, /^--service is needed/],
    ['a secret in place of a variable name', { service, keyVariable: 'abc-def' }, /^--key-variable: .*not the secret/],
    ['invalid statuses', { service, pigeonholes: 'live,soon' }, /^--pigeonholes: /],
    ['a missing destination', { service, sink: 'webhook' }, /^--destination is needed/],
  ])('are replaced by an error about %s if there is no terminal', async (_, flags, message) => {
    await expect(unasked(flags)).rejects.toThrow(message);
  });
});

describe('the file written by init', () => {
  const answersFor = (type: InitSinkType): InitAnswers => ({
    service,
    keyVariable: 'MY_KEY',
    pigeonholes: { statuses: ['live'] },
    sink: { type, destination: destinations[type], secretVariable: secrets[type] === '' ? '' : 'MY_SECRET' },
  });

  it.each(sinkTypes)('is valid with a %s sink, and contains no secret', async (type) => {
    const text = writeConfiguration(answersFor(type));
    const environment = { MY_KEY: 'a-key', MY_SECRET: secrets[type] };
    expect(await checkDraft(text, 'pigeonpost.yaml', {}, environment)).toEqual({ problems: [], unset: [] });
    expect(text).not.toContain('a-key');
  });

  it.each([
    ['/work/event/pigeonpost.yaml', '/work/event/node_modules/pigeonpost', './node_modules/pigeonpost/docs/'],
    ['/work/event/pigeonpost.yaml', '/usr/lib/node_modules/pigeonpost', '/usr/lib/node_modules/pigeonpost/docs/'],
  ])('names the schema of the package in its first line: %s with %s', (file, root, folder) => {
    const text = writeConfiguration(answersFor('file'), { schema: schemaPath(file, root) });
    expect(text.split('\n', 1)).toEqual([`# yaml-language-server: $schema=${folder}pigeonpost.schema.json`]);
  });

  it('names a file that exists', () => {
    const file = join(packageRoot(), 'pigeonpost.yaml');
    expect(existsSync(resolve(packageRoot(), schemaPath(file, packageRoot())))).toBe(true);
  });

  it.each<[string, Partial<InitAnswers>, RegExp]>([
    ['with all pigeonholes', { pigeonholes: 'all' }, /^ {4}# pigeonholes:/m],
    ['with some pigeonholes', { pigeonholes: { ids: [101, 102] } }, /^ {4}pigeonholes: \[101, 102\]$/m],
    ['with some statuses', {}, /^ {6}status: \[live\] #/m],
    [
      'with a receiver on this machine',
      { sink: { type: 'webhook', destination: 'http://127.0.0.1:9000/', secretVariable: 'MY_SECRET' } },
      /allowPrivateAddresses: true/,
    ],
  ])('contains the answers %s', async (_, given, line) => {
    const text = writeConfiguration({ ...answersFor('webhook'), ...given });
    expect(text).toMatch(line);
    const environment = { MY_KEY: 'a-key', MY_SECRET: secrets.webhook };
    expect((await checkDraft(text, 'pigeonpost.yaml', {}, environment)).problems).toEqual([]);
  });

  it('is checked even before its variables are set, and init names the missing ones', async () => {
    const text = writeConfiguration(answersFor('slack'));
    const standIns = { MY_KEY: 'x', MY_SECRET: 'xoxb-x' };
    expect(await checkDraft(text, 'pigeonpost.yaml', standIns, { MY_KEY: 'set' })).toEqual({
      problems: [],
      unset: ['MY_SECRET'],
    });
  });

  it('can be parsed whatever the destination contains, and a problem names the destination’s key', async () => {
    const sink = { type: 'slack', destination: 'no "channel"\n', secretVariable: 'MY_SECRET' } as const;
    const { problems } = await checkDraft(writeConfiguration({ ...answersFor('slack'), sink }), 'pigeonpost.yaml', {
      MY_KEY: 'x',
      MY_SECRET: 'xoxb-x',
    });
    expect(problems.join()).toMatch(/channel/);
  });
});

describe('the events listed by init', () => {
  it('start with the live ones, are ordered by day, and are cut to one line', () => {
    const event = (id: number, status: string, startDate: string, name = `Summit ${id}`) => ({
      id,
      name,
      status,
      startDate,
    });
    const events = [
      event(1, 'ended', '2026-01-02'),
      event(22, 'live', '2026-03-02'),
      event(3, 'upcoming', '2026-05-02', '東京'.repeat(30)),
    ];
    const [live, upcoming, more] = formatEvents({ events, hasMore: false }, 2);
    expect(live).toMatch(/^22 {2}Summit 22 +live {6}2026-03-02$/);
    expect(upcoming).toMatch(/^ 3 {2}(東京)+東?… *upcoming {2}2026-05-02$/);
    expect(more).toBe('and 1 more pigeonhole');
    expect(formatEvents({ events: [], hasMore: false }, 2)).toEqual(['the workspace has no pigeonholes yet']);
  });
});
