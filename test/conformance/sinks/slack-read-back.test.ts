import type { ExtraHeld, Fields, HeldResult, ReadBack, Subject } from '../../../sinks/sink.js';
import type { SlackOperation } from '../../../sinks/slack/operation.js';
import { laneOf } from '../../../sinks/sink-environment.test-kit.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import type { SlackMessage } from '../../../sandbox/slack/slack-workspace.js';
import { ALL_SCOPES, MANIFEST_SCOPES } from '../../../sandbox/slack/slack-workspace.js';
import { DEFAULT_CHANNEL, DEFAULT_TOKEN } from '../../../sandbox/slack/start-slack-double.js';
import { joined, questionOf, type SlackStage, slackStage, type SlackStageOptions } from './slack-stage.js';

/*
 * What an audit finds in Slack. The messages are posted and edited by the sink; then a colleague, an administrator or
 * another program with the token changes them in the stand-in.
 */

const signal = new AbortController().signal;
const keynote = { id: 5001, name: 'Keynote' };
let stage: SlackStage;

async function start(options: SlackStageOptions = joined): Promise<void> {
  stage = await slackStage(options);
}

afterEach(() => stage.close());

type Expected = { readonly item: Fields | null; readonly session?: Fields };

/** The last delivered revision of each item, by key. */
const delivered = new Map<string, Expected>();
beforeEach(() => delivered.clear());

async function deliver(items: Readonly<Record<string, Expected>>): Promise<void> {
  for (const [key, { item, session }] of Object.entries(items)) {
    stage.offer(key, item, session === undefined ? {} : { session });
    delivered.set(key, { item, ...(session !== undefined && { session }) });
  }
  await stage.settle();
}

/** Reads back in batches, as an audit does, with time passing between them. */
async function readBack(): Promise<{ wanted: ReadBack<SlackOperation>; result: HeldResult }[]> {
  const { sink } = stage.courier;
  const found: { wanted: ReadBack<SlackOperation>; result: HeldResult }[] = [];
  const keys = [...delivered.keys()];
  for (let at = 0; at < keys.length; at += sink.traits.batchSize) {
    const subjects = keys.slice(at, at + sink.traits.batchSize).map((key): Subject => {
      const { item, session = keynote } = delivered.get(key)!;
      const object = stage.courier.object('qna-questions', key);
      return subjectOf(questionOf(key, item, { sequence: 1, revision: 2 }), { session, object, again: true });
    });
    const planned = await sink.plan(subjects);
    const wanted = subjects.flatMap(({ change, object, removal }, index): ReadBack<SlackOperation>[] => {
      const plan = planned[index]!;
      if (plan.kind !== 'send') return [];
      const operation = plan.operation as SlackOperation;
      return [{ change, expected: removal === null ? 'content' : 'absence', operation, object, removal }];
    });
    const results = await sink.readBack!(wanted, laneOf({ ...stage.courier.memory }), signal);
    found.push(...wanted.map((entry, index) => ({ wanted: entry, result: results[index]! })));
    await stage.clock.pass(20_000);
  }
  return found;
}

async function differences(): Promise<Record<string, readonly string[]>> {
  const found = (await readBack()).map(({ wanted, result }) => {
    const copies = 'copies' in result && result.copies !== undefined ? [`copies: ${result.copies.length}`] : [];
    return [wanted.change.key, [...differenceOf(wanted, result), ...copies]] as const;
  });
  return Object.fromEntries(found.filter(([, names]) => names.length > 0));
}

function differenceOf(wanted: ReadBack<SlackOperation>, result: HeldResult): readonly string[] {
  switch (result.kind) {
    case 'held':
      return stage.courier.sink.compareHeld!(wanted.operation!, result.held);
    case 'missing':
      return wanted.expected === 'absence' ? [] : ['missing'];
    case 'unreadable':
      return [`unreadable: ${result.cause}`];
    default:
      return [result.kind];
  }
}

const messages = (channel = DEFAULT_CHANNEL): readonly SlackMessage[] =>
  stage.slack.workspace.channels.get(channel)!.all;
const messageOf = (key: string): SlackMessage =>
  messages().find(
    ({ metadata }) => metadata?.event_payload['key'] === key && metadata.event_type === 'pigeonpost_item',
  )!;
const remove = (key: string): void => stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!.remove(messageOf(key).ts);

/** Changes the texts of a message's blocks, as `chat.update` by another program with the token does, or Slack itself. */
function rewrite(key: string, change: (text: string) => string): void {
  const message = messageOf(key);
  message.blocks = JSON.parse(JSON.stringify(message.blocks), (name, value: unknown) =>
    name === 'text' && typeof value === 'string' ? change(value) : value,
  ) as readonly unknown[];
}

describe('messages in Slack, read back', () => {
  it('show every planted difference and no other, and the repair of it leaves none', async () => {
    await start();
    const other = { id: 5002, name: 'Panel' };
    const items = Object.fromEntries(
      Array.from({ length: 120 }, (_, index): [string, Expected] => [
        `${index}`,
        { item: { votes: index % 7 }, ...(index % 3 === 0 && { session: other }) },
      ]),
    );
    await deliver(items);
    await deliver({
      7: { item: { content: 'edited & <bold> 🎈', votes: 3 } },
      8: { item: { status: 'hidden' } },
      9: { item: null },
      10: { item: null },
    });
    expect(await differences()).toEqual({});

    remove('1');
    rewrite('2', (text) => text.replace('question', 'another'));
    rewrite('4', (text) => text.replace(/^(\d+) votes?$/, '99 votes'));
    rewrite('7', () => 'question 7'); // one revision behind
    rewrite('10', () => 'question 10'); // the text of a deleted item is visible again
    const { ts: _, edits: __, postedAtMs: ___, ...copied } = messageOf('5');
    stage.slack.workspace.post(stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!, copied);
    stage.slack.workspace.post(stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!, {
      bot: null,
      text: 'question 6', // a colleague quotes a question
      ...(messageOf('6').threadTs !== undefined && { threadTs: messageOf('6').threadTs! }),
    });
    expect(await differences()).toEqual({
      1: ['missing'],
      2: ['text'],
      4: ['votes'],
      5: ['copies: 1'],
      7: ['text', 'votes'],
      10: ['text'],
    });

    const before = new Map(messages().map((message) => [message.ts, JSON.stringify(message)]));
    await repair();
    expect(await differences()).toEqual({});
    const after = new Map(messages().map((message) => [message.ts, message]));
    const touched = [...before.keys()].filter((ts) => JSON.stringify(after.get(ts)) !== before.get(ts));
    const added = [...after.keys()].filter((ts) => !before.has(ts));
    expect(touched.toSorted()).toEqual(
      [...['2', '4', '7', '10'].map((key) => messageOf(key).ts), copyOf5()].toSorted(),
    );
    expect(added).toEqual([messageOf('1').ts]);

    function copyOf5(): string {
      return [...before].find(([ts, text]) => text.includes('"key":"5"') && ts !== messageOf('5').ts)![0];
    }
  });

  /** Repairs as the engine does: removes copies, stores the objects that the results have, and sends what differs again. */
  async function repair(): Promise<void> {
    const { sink } = stage.courier;
    const found = await readBack();
    const extras = found.flatMap(({ wanted, result }): ExtraHeld[] =>
      'copies' in result && result.copies !== undefined ? [{ ...wanted, copies: result.copies }] : [],
    );
    const lane = laneOf({ ...stage.courier.memory });
    expect(await sink.removeHeld!(extras, lane, signal)).toEqual(extras.map(() => ({ kind: 'delivered' })));
    for (const { wanted, result } of found) {
      if (differenceOf(wanted, result).length === 0) continue;
      const { key } = wanted.change;
      if ('object' in result && result.object !== undefined)
        stage.courier.setObject('qna-questions', key, result.object);
      const { item, session } = delivered.get(key)!;
      stage.offer(key, item, { again: true, ...(session !== undefined && { session }) });
    }
    await stage.settle();
  }

  it('are the same if Slack wrote emoji as names, added ids and joined rich text', async () => {
    await start({
      ...joined,
      message: {
        mentions: [{ group: 'S0GROUP0001' }],
        links: [{ label: 'Open', url: '"https://app.example.com/q/" & item.id' }],
      },
    });
    stage.slack.workspace.allowed = { userGroups: ['S0GROUP0001'], origins: ['https://app.example.com'] };
    await deliver({ 1: { item: { content: 'Great 🎉 talk  👍🏽\nand <you>?' } } });
    rewrite('1', (text) => text.replaceAll('🎉', ':tada:').replaceAll('👍🏽', ':+1::skin-tone-4:'));
    const message = messageOf('1');
    message.blocks = message.blocks!.map((block, index) => ({ ...(block as object), block_id: `x${index}` }));
    expect(await differences()).toEqual({});
    rewrite('1', (text) => (text === 'Open' ? 'Closed' : text));
    expect(await differences()).toEqual({ 1: ['links'] });
  });

  it('are found among thousands of others without reading these each time', async () => {
    await start({ ...joined, message: { threadBy: undefined } });
    await deliver({ 1: { item: {} } });
    const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    for (let index = 0; index < 2000; index += 1)
      stage.slack.workspace.post(channel, { bot: null, text: `chat ${index}` });
    await stage.clock.pass(60_000);
    await deliver({ 2: { item: {} }, 3: { item: {} } });
    remove('3');
    const { ts: _, edits: __, postedAtMs: ___, ...copied } = messageOf('1');
    stage.slack.workspace.post(channel, copied);
    // The search for copies takes 11 pages, 4 in each audit. The items are read with one page each.
    const found = [];
    const calls = [];
    for (let audit = 0; audit < 4; audit += 1) {
      const before = stage.requestsTo('conversations.history');
      found.push(await differences());
      calls.push(stage.requestsTo('conversations.history') - before);
    }
    expect(found[0]).toMatchObject({ 3: ['missing'] });
    expect(found.at(-1)).toEqual({ 1: ['copies: 1'], 3: ['missing'] });
    expect(calls).toEqual([6, 7, 6, 3]); // a copy that only an earlier audit has read is read again
  });

  it('are missing with their thread, and the ones that "onChange: ignore" keeps are compared by their presence', async () => {
    await start({ ...joined, message: { onChange: 'ignore' } });
    await deliver({ 1: { item: {} }, 2: { item: {} } });
    await deliver({ 1: { item: { content: 'edited' } } });
    expect(await differences()).toEqual({});
    for (const key of ['1', '2']) remove(key);
    const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    channel.remove(stage.threads()[0]!.ts);
    expect(await differences()).toEqual({ 1: ['missing'], 2: ['missing'] });
  });

  it.each([
    ['channels:history', 'no-history-scope'],
    ['metadata.message:read', undefined],
  ])('without the scope %s', async (scope, cause) => {
    await start();
    await deliver({ 1: { item: {} } });
    stage.slack.workspace.tokens.set(DEFAULT_TOKEN, { scopes: ALL_SCOPES.filter((each) => each !== scope) });
    expect(await differences()).toEqual(cause === undefined ? {} : { 1: [`unreadable: ${cause}`] });
    expect(MANIFEST_SCOPES).toContain(scope);
  });

  it.each([
    [
      'that the app has left',
      (): void => void (stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!.isMember = false),
      'slack:not_in_channel',
    ],
    [
      'that was deleted',
      (): void => void stage.slack.workspace.channels.delete(DEFAULT_CHANNEL),
      'slack:channel_not_found',
    ],
  ])('of a channel %s are unreadable, and the app does not join it', async (_, change, cause) => {
    await start();
    await deliver({ 1: { item: {} } });
    const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    change();
    expect(await differences()).toEqual({ 1: [`unreadable: ${cause}`] });
    expect(stage.requestsTo('conversations.join')).toBe(0);
    stage.slack.workspace.channels.set(DEFAULT_CHANNEL, channel);
  });

  it('are read again later after a rate limit, and the sink keeps to the limit', async () => {
    await start();
    await deliver({ 1: { item: {} } });
    stage.fault('ratelimited', 'conversations.replies');
    expect(await differences()).toEqual({ 1: ['retry'] });
    await stage.clock.pass(120_000);
    expect(await differences()).toEqual({});
    expect(stage.slack.state().violations).toBe(0);
  });
});
