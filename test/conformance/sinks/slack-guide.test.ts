import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Secret } from '../../../config/secret.js';
import type { Subject } from '../../../sinks/sink.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import { slackConfigSchema } from '../../../sinks/slack/config.js';
import { createSlackSink } from '../../../sinks/slack/slack.js';
import { ROTATING_APP, startSlackDouble } from '../../../sandbox/slack/start-slack-double.js';
import { KeptInMemory } from '../../kit/kept-in-memory.js';
import { SteppedClock } from '../../kit/stepped-clock.js';
import { StateCourier } from './state-courier.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';

const yamlIn = (file: string): unknown[] => {
  const page = readFileSync(join(__dirname, '../../../docs', file), 'utf8');
  return [...page.matchAll(/^ *```yaml\n([^]*?)^ *```/gm)].map(([, yaml]) => parse(yaml!) as unknown);
};

type Keys = Readonly<Record<string, unknown>>;

/** Every sink of type slack, and every part of one, in docs/sinks/slack.md and docs/recipes.md. */
const shown: [where: string, keys: Keys][] = ['sinks/slack.md', 'recipes.md'].flatMap((file) =>
  yamlIn(file).flatMap((document, at): [string, Keys][] => {
    const { sinks, ...part } = document as { sinks?: Record<string, Keys> };
    if (sinks === undefined) return 'messages' in part || 'rotation' in part ? [[`${file}, block ${at}`, part]] : [];
    return Object.entries(sinks).flatMap(([name, keys]): [string, Keys][] =>
      keys['type'] === 'slack' ? [[`${file}, ${name}`, keys]] : [],
    );
  }),
);

const webhook = '/services/T0/B0/word';
const values: Readonly<Record<string, string>> = {
  '${SLACK_BOT_TOKEN}': 'xoxb-of-an-app-without-rotation',
  '${SLACK_CLIENT_ID}': ROTATING_APP.clientId,
  '${SLACK_CLIENT_SECRET}': ROTATING_APP.clientSecret,
  '${SLACK_REFRESH_TOKEN}': ROTATING_APP.refreshToken,
};
const secret = (text: string): Secret => new Secret(values[text] ?? text);

describe('a Slack sink from the documentation', () => {
  it('is found by this test', () => {
    expect(shown.map(([where]) => where)).toEqual([
      'sinks/slack.md, questions-channel',
      'sinks/slack.md, block 2',
      'sinks/slack.md, block 3',
      'sinks/slack.md, block 4',
      'sinks/slack.md, block 5',
      'recipes.md, speakers',
      'recipes.md, moderators',
    ]);
  });

  it.each(shown)('adds its messages to a workspace with other messages: %s', async (_, keys) => {
    const clock = new SteppedClock();
    const channels = ['C0123456789', 'C0123456780', 'C0TOKYO0001'].map((id) => ({ id, name: id.toLowerCase() }));
    const tokens = [{ token: values['${SLACK_BOT_TOKEN}']!, scopes: ROTATING_APP.scopes }];
    const slack = await startSlackDouble({
      now: clock.wallNow,
      channels,
      ...('rotation' in keys ? { rotation: true } : { tokens }),
      webhooks: [{ path: webhook, channel: 'C0123456789' }],
    });
    slack.workspace.allowed = { userGroups: ['S0123456789'], origins: ['https://app.example.com'] };
    const others = channels.flatMap(({ id }) => {
      const channel = slack.workspace.channels.get(id)!;
      return [null, 'B0ANOTHER1'].map((bot) => slack.workspace.post(channel, { bot, text: `by ${bot} before` }));
    });
    const sink = openedFrom(keys, slack.url, clock);
    const courier = new StateCourier({ openSink: () => sink, clock });
    const { messages = [{ from: 'qna-questions' }] } = keys as { messages?: { from: string; when?: string }[] };
    for (const [at, { from, when = '' }] of messages.entries()) {
      const status = /status = "(\w+)"/.exec(when)?.[1] ?? 'allowed';
      courier.offer(change(from, String(at), status), around);
    }
    await courier.settle(600_000, (ms) => clock.pass(ms));
    const all = [...slack.workspace.channels.values()].flatMap((channel) => channel.all);
    const own = all.filter((message) => !others.includes(message));
    expect([courier.dead, courier.paused, slack.state().violations]).toEqual([[], undefined, 0]);
    expect(own.length).toBeGreaterThanOrEqual(messages.length);
    expect(others.map(({ text, edits }) => [text, edits])).toEqual(others.map(({ bot }) => [`by ${bot} before`, 0]));
    if (!('webhookUrl' in keys)) expect(slack.workspace.misuses).toEqual([]);
    await courier.sink.close();
    await slack.close();
    clock.close();
  });
});

function openedFrom({ type: _, history: __, ...keys }: Keys, url: string, clock: SteppedClock) {
  const credential =
    'rotation' in keys
      ? { rotation: rotationOf(keys['rotation'] as Record<string, string>) }
      : 'webhookUrl' in keys
        ? { webhookUrl: new Secret(`${url}${webhook}`) }
        : { token: secret('${SLACK_BOT_TOKEN}') };
  const config = slackConfigSchema.parse({
    messages: [{ from: 'qna-questions', text: 'item.content' }],
    ...('webhookUrl' in keys ? {} : { channel: 'C0123456789', baseUrl: `${url}/api` }),
    ...keys,
    ...credential,
  });
  const credentials = new KeptInMemory(clock.wallNow).open();
  const environment = environmentOf('questions', { credentials, now: clock.wallNow, requestTimeoutMs: 60_000 });
  return createSlackSink(config, environment, { clock });
}

function rotationOf({ clientId, clientSecret, refreshToken }: Record<string, string>) {
  return { clientId: values[clientId!]!, clientSecret: secret(clientSecret!), refreshToken: secret(refreshToken!) };
}

const around: Partial<Subject> = {
  attendee: { id: 7, Name: 'Ann Ray' },
  session: { id: 5001, name: 'Keynote', anonymousResponses: false },
  pigeonhole: { id: 101, name: 'Summit', timezone: 'Asia/Tokyo' },
};

function change(list: string, key: string, status: string) {
  const data = {
    id: Number(key) + 9001,
    content: 'Will the slides be shared afterwards?',
    answer: { content: 'yes' },
    attendee: { id: 7, anonymous: false },
    status,
    votes: 27,
  };
  const id = `00000000-0000-5000-8000-00000000000${key}`;
  return sampleChange({ id, list, key, type: `${list}.created`, data, pigeonholeId: 101, sessionId: 5001 });
}
