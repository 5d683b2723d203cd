import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Secret } from '../../config/secret.js';
import { channelsOf, slackConfigSchema } from './config.js';

const messages = [{ from: 'qna-questions', text: 'item.content' }];
const token = new Secret('xoxb-token');
const hook = new Secret('https://hooks.slack.com/services/T0/B0/word');

/** Returns the problems as `path: message`; an empty list if the keys are valid. */
function problemsOf(keys: Record<string, unknown>): string[] {
  const result = slackConfigSchema.safeParse({ messages, ...keys });
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('the configuration of a Slack sink', () => {
  it('edits and redacts messages by default', () => {
    const config = slackConfigSchema.parse({ token, channel: 'C0123456789', messages });
    expect(config.messages).toMatchObject([{ onChange: 'edit', onWithdrawn: 'redact' }]);
    expect(config.routes).toEqual([]);
  });

  it('accepts an incoming webhook instead of a token, with the same channel keys', () => {
    expect(problemsOf({ webhookUrl: hook })).toEqual([]);
    expect(problemsOf({ webhookUrl: hook, channel: 'C0123456789' })).toEqual([]);
  });

  it.each([
    [
      'neither token nor webhook',
      { channel: 'C0123456789' },
      'token: allowed: one of "token", "rotation" and "webhookUrl"',
    ],
    [
      'both',
      { token, webhookUrl: hook, channel: 'C0123456789' },
      'token: allowed: one of "token", "rotation" and "webhookUrl"',
    ],
    ['a token without a channel', { token }, "channel: allowed: a channel's id such as"],
    ['a name for a channel', { token, channel: '#questions' }, "channel: allowed: a channel's id such as"],
    ['a token in the file', { token: 'xoxb-token', channel: 'C0123456789' }, 'token: a secret'],
    [
      'a webhook without TLS',
      { webhookUrl: new Secret('http://hooks.slack.com/x') },
      'webhookUrl: must begin with https://',
    ],
    ['no messages', { token, channel: 'C0123456789', messages: [] }, 'messages: allowed: at least one message'],
    ['a mistyped key', { token, channel: 'C0123456789', chanel: 'C1' }, ': Unrecognized key'],
    [
      'a broken expression',
      { token, channel: 'C0123456789', messages: [{ from: 'questions', text: 'item.(' }] },
      'messages.0.text: is not a usable expression',
    ],
    [
      'routes through a webhook',
      { webhookUrl: hook, routes: [{ when: 'true', channel: 'C0123456789' }] },
      'routes: needs "token"',
    ],
    [
      'a link whose host comes from an item',
      { token, channel: 'C0123456789', messages: [{ ...messages[0], links: [{ label: 'Open', url: 'item.url' }] }] },
      'messages.0.links.0.url: allowed: an expression that spells the scheme and host out',
    ],
    [
      'a mention of everyone',
      { token, channel: 'C0123456789', messages: [{ ...messages[0], mentions: [{ group: '!channel' }] }] },
      "messages.0.mentions.0.group: allowed: a user group's id",
    ],
    [
      'a refresh token in the file',
      { channel: 'C0123456789', rotation: { clientId: '1.2', clientSecret: token, refreshToken: 'xoxe-1-x' } },
      'rotation.refreshToken: a secret',
    ],
    [
      'an address next to a webhook',
      { webhookUrl: hook, baseUrl: 'https://slack.example.com' },
      'baseUrl: needs "token"',
    ],
  ])('rejects %s', (_, keys, problem) => {
    expect(problemsOf(keys)).toEqual([expect.stringContaining(problem)]);
    expect(problemsOf(keys).join()).not.toContain('xoxb-');
  });

  it('names each channel once', () => {
    const routes = [
      { when: 'true', channel: 'C0TOKYO0001' },
      { when: 'false', channel: 'C0123456789' },
    ];
    const config = slackConfigSchema.parse({ token, channel: 'C0123456789', routes, messages });
    expect(channelsOf(config)).toEqual(['C0123456789', 'C0TOKYO0001']);
  });
});

describe('the documentation of the Slack sink', () => {
  const guide = readFileSync(join(__dirname, '../../docs/sinks/slack.md'), 'utf8');
  const blocks = [...guide.matchAll(/^ *```yaml\n([^]*?)^ *```/gm)].map(([, yaml]) => parse(yaml!) as unknown);
  const sinkOf = (document: unknown): object =>
    (document as { sinks: { 'questions-channel': object } }).sinks['questions-channel'];

  it('contains a valid configuration, as does the example of the complete contract', () => {
    const example = parse(readFileSync(join(__dirname, '../../config/example.fixture.yaml'), 'utf8')) as unknown;
    for (const document of [blocks[0], example]) {
      const { type, history: _, ...keys } = sinkOf(document) as { type: string; history?: string };
      expect([type, problemsOf({ ...keys, token })]).toEqual(['slack', []]);
    }
  });

  it('contains a manifest with the scopes that the check requires', () => {
    const { oauth_config: oauth } = blocks[1] as { oauth_config: { scopes: { bot: string[] } } };
    expect(oauth.scopes.bot.toSorted()).toEqual([
      'channels:history',
      'channels:join',
      'chat:write',
      'groups:history',
      'metadata.message:read',
    ]);
  });
});
