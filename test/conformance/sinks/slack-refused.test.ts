import { createSlackSink } from '../../../sinks/slack/slack.js';
import { DEFAULT_CHANNEL, DEFAULT_TOKEN } from '../../../sandbox/slack/start-slack-double.js';
import { ALL_SCOPES, MANIFEST_SCOPES } from '../../../sandbox/slack/slack-workspace.js';
import {
  joined,
  questionOf,
  slackWebhookConfig,
  type SlackStage,
  slackStage,
  type SlackStageOptions,
  withoutVotes,
} from './slack-stage.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';

let stage: SlackStage;
const start = async (options: SlackStageOptions = {}): Promise<void> => {
  stage = await slackStage(options);
};
afterEach(async () => {
  await stage.close();
});

describe('the Slack sink after a refusal', () => {
  it('respects Retry-After, and does not delay other channels', async () => {
    await start({
      double: {
        channels: [
          { id: DEFAULT_CHANNEL, name: 'questions' },
          { id: 'C0TOKYO0001', name: 'tokyo' },
        ],
      },
      keys: { routes: [{ when: 'item.votes = 1', channel: 'C0TOKYO0001' }] },
    });
    const answer = { status: 429, headers: { 'retry-after': '30' }, json: { ok: false, error: 'ratelimited' } };
    stage.slack.faults.add({ effect: { kind: 'answer', answer }, path: 'chat.postMessage', bodyHas: DEFAULT_CHANNEL });
    stage.offer('1', {});
    stage.offer('2', { votes: 1 });
    const startedAt = stage.clock.now();
    await stage.courier.step();
    expect(stage.courier.outcomes).toContainEqual(expect.objectContaining({ kind: 'retry', afterMs: 30_000 }));
    await stage.settle();
    expect(stage.clock.now() - startedAt).toBeGreaterThan(30_000);
    const asks = stage.slack.requests.filter(({ body }) => body.includes(DEFAULT_CHANNEL));
    expect(asks[1]!.atMs - asks[0]!.atMs).toBeGreaterThanOrEqual(30_000);
    expect(Object.keys(stage.shown('C0TOKYO0001'))).toEqual(['2']);
  });

  it('posts immediately when an operator wants to try now, despite a Retry-After of an hour', async () => {
    await start(joined);
    const answer = { status: 429, headers: { 'retry-after': '3600' }, json: { ok: false, error: 'ratelimited' } };
    stage.slack.faults.add({ effect: { kind: 'answer', answer }, path: 'chat.postMessage' });
    stage.offer('1', {});
    await stage.courier.step();
    stage.offer('2', {});
    await stage.courier.step();
    expect([stage.requestsTo('chat.postMessage'), stage.shown()]).toEqual([1, {}]);
    stage.courier.sink.tryNow!();
    stage.offer('3', {});
    await stage.courier.step();
    expect(Object.keys(stage.shown())).toEqual(['3']);
  });

  it.each(['token_revoked', 'account_inactive', 'invalid_auth'] as const)(
    'stops at %s and asks nothing more',
    async (code) => {
      await start();
      stage.slack.failToken(DEFAULT_TOKEN, code);
      for (let n = 1; n <= 5; n += 1) stage.offer(String(n), {});
      await stage.settle();
      expect(stage.courier.paused).toMatchObject({ cause: 'credential' });
      expect(stage.slack.requests).toHaveLength(1);
      expect(stage.courier.dead).toEqual([]);
    },
  );

  it('parks the one message that Slack does not accept', async () => {
    await start();
    const answer = { status: 200, json: { ok: false, error: 'invalid_blocks', errors: ['question 2'] } };
    stage.slack.faults.add({ effect: { kind: 'answer', answer }, path: 'chat.postMessage', bodyHas: 'question 2' });
    for (const key of ['1', '2', '3']) stage.offer(key, {});
    await stage.settle();
    expect(stage.courier.dead).toMatchObject([{ key: '2', cause: 'slack:invalid_blocks' }]);
    expect(Object.keys(stage.shown())).toEqual(['1', '3']);
  });

  it('joins a public channel once, and stops if it cannot join', async () => {
    await start();
    stage.offer('1', {});
    await stage.settle();
    expect([stage.shown(), stage.requestsTo('conversations.join')]).toEqual([{ 1: ['question 1'] }, 1]);
    stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!.isMember = false; // a person removes the app
    stage.offer('2', {});
    await stage.settle();
    expect(stage.courier.paused).toMatchObject({ cause: 'destination' });
    expect(stage.requestsTo('conversations.join')).toBe(1);
  });

  it.each(['ratelimited', 'service_unavailable', 'dropBefore'])(
    'joins the channel later if joining it failed with %s',
    async (fault) => {
      await start();
      stage.fault(fault, 'conversations.join');
      stage.offer('1', {});
      await stage.settle();
      expect([stage.courier.paused, stage.shown()]).toEqual([undefined, { 1: ['question 1'] }]);
      expect(stage.requestsTo('conversations.join')).toBe(2);
    },
  );

  it('stops if its only channel is archived, and parks the messages of that channel if it has others', async () => {
    await start();
    stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!.isArchived = true;
    stage.offer('1', {});
    await stage.settle();
    expect(stage.courier.paused).toMatchObject({ cause: 'destination' });
  });

  it('posts a message again after a person deleted it and the item changed', async () => {
    await start();
    stage.offer('1', {});
    await stage.settle();
    stage.slack.deleteAsPerson(DEFAULT_CHANNEL, stage.courier.object('qna-questions', '1')!['ts'] as string);
    stage.offer('1', { content: 'edited' });
    await stage.settle();
    expect(stage.shown()).toEqual({ 1: ['edited'] });
    stage.slack.deleteAsPerson(DEFAULT_CHANNEL, stage.courier.object('qna-questions', '1')!['ts'] as string);
    stage.offer('1', null);
    await stage.settle();
    expect([stage.shown(), stage.courier.object('qna-questions', '1')]).toEqual([{}, null]);
  });

  it('starts a new thread if a person deleted the old one', async () => {
    await start();
    stage.offer('1', {});
    await stage.settle();
    stage.slack.deleteAsPerson(DEFAULT_CHANNEL, stage.courier.object('qna-questions', '1')!['ts'] as string);
    stage.slack.deleteAsPerson(DEFAULT_CHANNEL, stage.threads()[0]!.ts);
    for (const key of ['2', '3']) stage.offer(key, {});
    await stage.settle();
    expect(stage.threads()).toHaveLength(1);
    expect(stage.shown()).toEqual({ 2: ['question 2'], 3: ['question 3'] });
    expect(stage.courier.object('qna-questions', '2')).toMatchObject({ threadTs: stage.threads()[0]!.ts });
  });

  it('does not edit a message that Slack has locked, and deletes it if it must be removed', async () => {
    await start();
    stage.offer('1', {});
    await stage.settle();
    stage.slack.workspace.editWindowMs = 0;
    await stage.clock.pass(1000);
    stage.offer('1', { content: 'edited' });
    await stage.settle();
    stage.offer('1', { content: 'edited again' });
    await stage.settle();
    expect(stage.courier.dead).toMatchObject([{ cause: 'slack:edit_window_closed' }]);
    expect(stage.requestsTo('chat.update')).toBe(1);
    stage.offer('1', null);
    await stage.settle();
    expect(stage.shown()).toEqual({});
  });

  it('removes a name that must no longer be shown even if Slack has locked the message', async () => {
    await start({ message: { text: 'item.content & " " & attendee.Name', onChange: 'ignore', onWithdrawn: 'keep' } });
    stage.offer('1', { attendee: { id: 7, anonymous: false } }, { attendee: { id: 7, Name: 'Ada Lovelace' } });
    await stage.settle();
    stage.slack.workspace.editWindowMs = 0;
    await stage.clock.pass(1000);
    stage.offer('1', {});
    await stage.settle();
    expect(stage.shown()).toEqual({ 1: ['question 1 '] });
    expect(JSON.stringify(stage.courier.outcomes)).not.toContain('Ada');
  });

  it('sends nothing after it was stopped', async () => {
    await start();
    stage.offer('1', {});
    await stage.courier.step(AbortSignal.abort());
    expect(stage.courier.outcomes).toEqual([{ kind: 'unsent' }]);
    expect(stage.slack.requests).toEqual([]);
  });
});

describe('the check of a Slack sink', () => {
  const lines = async (): Promise<string[]> =>
    (await stage.courier.sink.check(new AbortController().signal)).map(
      ({ ok, text }) => `${ok ? 'ok' : 'no'}: ${text}`,
    );

  it('finds everything in order and leaves nothing behind', async () => {
    await start(joined);
    expect(await lines()).toEqual([
      'ok: Slack accepts the token',
      `ok: ${DEFAULT_CHANNEL} can be read, so lost answers can be looked up`,
    ]);
    expect(stage.slack.state().channels[0]!.messages).toEqual([]);
  });

  it.each([
    ['without a scope that shows its state', MANIFEST_SCOPES],
    ['from its state', ALL_SCOPES],
  ])('refuses an archived channel, %s', async (_, scopes) => {
    await start({
      double: {
        tokens: [{ token: DEFAULT_TOKEN, scopes }],
        channels: [{ id: DEFAULT_CHANNEL, name: 'q', isMember: true }],
      },
    });
    const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    stage.slack.workspace.setArchived(channel, true);
    expect((await lines()).at(-1)).toBe(
      `no: ${DEFAULT_CHANNEL} is archived, so Slack refuses every message: unarchive it in Slack, or set another "channel"`,
    );
    stage.slack.workspace.setArchived(channel, false);
    expect((await lines()).at(-1)).toMatch(/^ok: /);
  });

  it('refuses an archived channel that the app is not a member of', async () => {
    await start({ double: { tokens: [{ token: DEFAULT_TOKEN, scopes: ALL_SCOPES }] } });
    const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    channel.isMember = false;
    stage.slack.workspace.setArchived(channel, true);
    expect((await lines()).at(-1)).toMatch(/^no: C0123456789 is archived/);
  });

  it('reports the missing scopes', async () => {
    await start({ double: { tokens: [{ token: DEFAULT_TOKEN, scopes: ['channels:join'] }] } });
    expect((await lines()).join('\n')).toMatch(
      /no: .*chat:write[^]*no: .*metadata\.message:read[^]*no: .*channels:history/,
    );
  });

  it.each([
    [
      'joins a public channel with its first message',
      ALL_SCOPES,
      'ok: the app is not a member of C0123456789 and joins it',
    ],
    [
      'has to be invited',
      ALL_SCOPES.filter((scope) => scope !== 'channels:join'),
      'no: the app is not a member of C0123456789: invite it',
    ],
  ])('reports that the app %s', async (_, scopes, line) => {
    await start({
      double: {
        channels: [{ id: DEFAULT_CHANNEL, name: 'questions', isMember: false }],
        tokens: [{ token: DEFAULT_TOKEN, scopes }],
      },
    });
    expect((await lines())[1]).toContain(line);
    expect(stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!.isMember).toBe(false);
  });

  it('reports a refused token and an unknown channel, with instructions', async () => {
    await start({ keys: { channel: 'C0NOTHERE01' } });
    expect((await lines())[1]).toMatch(/no: .*channel_not_found.*compare C0NOTHERE01/);
    stage.slack.failToken(DEFAULT_TOKEN, 'token_revoked');
    expect(await lines()).toEqual([expect.stringMatching(/no: .*token_revoked.*install the app/)]);
  });
});

describe('the Slack sink with an incoming webhook', () => {
  const path = '/services/T000/B000/s3cret';
  const startWebhook = async (): Promise<void> => {
    await start({ double: { webhooks: [{ path, channel: DEFAULT_CHANNEL }] } });
    const { slack, clock } = stage;
    const sink = createSlackSink(
      slackWebhookConfig(slack.url, path),
      environmentOf('questions', { now: clock.wallNow, requestTimeoutMs: 60_000 }),
      { clock },
    );
    await stage.courier.sink.close();
    Object.assign(stage.courier, { options: { openSink: () => sink, clock } });
    stage.courier.kill();
  };
  const texts = (): string[] => stage.slack.state().channels[0]!.messages.map(({ text }) => withoutVotes(text));

  it('posts each question once, and changes nothing', async () => {
    await startWebhook();
    for (const key of ['1', '2']) stage.offer(key, {});
    await stage.settle();
    stage.offer('1', { content: 'edited' });
    stage.offer('2', null);
    await stage.settle();
    expect(texts()).toEqual(['question 1', 'question 2']);
    expect(stage.courier.nothings).toEqual(['not-editable', 'not-editable']);
    expect(stage.slack.state().violations).toBe(0);
  });

  it('posts a marked test message, and reports a refusal without the address', async () => {
    await startWebhook();
    const test = (): Promise<unknown> => stage.courier.sink.sendTest!(new AbortController().signal);
    expect(await test()).toMatchObject({ kind: 'delivered' });
    expect(texts()).toEqual([expect.stringContaining('test')]);
    stage.fault('dropAfter', '/services/');
    const lost = await test();
    expect(lost).toMatchObject({ kind: 'unknown' });
    expect(JSON.stringify(lost)).not.toContain('s3cret');
  });

  it('asks the operator about a message whose answer was lost, and posts it again only on request', async () => {
    await startWebhook();
    stage.fault('dropAfter', '/services/');
    stage.offer('1', {});
    await stage.settle();
    stage.offer('1', { content: 'edited' });
    await stage.settle();
    expect(stage.courier.dead.map(({ cause }) => cause)).toEqual(['outcome-unknown', 'outcome-unknown']);
    expect(texts()).toEqual(['question 1']);
    expect(JSON.stringify([stage.courier.outcomes, stage.courier.dead])).not.toContain('s3cret');
    stage.courier.offer(questionOf('1', { content: 'edited' }, { sequence: 2, revision: 2 }));
    await stage.settle();
    expect(texts()).toEqual(['question 1', 'edited']);
  });

  it('stops when the webhook was removed', async () => {
    await startWebhook();
    stage.slack.workspace.webhooks.get(path)!.state = 'removed';
    stage.offer('1', {});
    await stage.settle();
    expect(stage.courier.paused).toMatchObject({ cause: 'credential' });
  });

  it.each([
    ['an HTML page', '<html>Bad Request</html>'],
    ['JSON of another service', '{"error":"invalid_payload"}'],
    ['nothing', ''],
  ])('is not recognized as an incoming webhook if HTTP 400 has %s', async (_, text) => {
    await startWebhook();
    stage.slack.faults.add({ effect: { kind: 'answer', answer: { status: 400, text } }, path: '/services/' });
    const [line] = await stage.courier.sink.check(new AbortController().signal);
    expect(line).toMatchObject({ ok: false, text: expect.stringContaining('it is not an incoming webhook') as string });
  });

  it('is checked without a message', async () => {
    await startWebhook();
    expect(await stage.courier.sink.check(new AbortController().signal)).toMatchObject([{ ok: true }]);
    stage.slack.workspace.webhooks.get(path)!.state = 'removed';
    expect(await stage.courier.sink.check(new AbortController().signal)).toMatchObject([{ ok: false }]);
    expect(texts()).toEqual([]);
  });
});
