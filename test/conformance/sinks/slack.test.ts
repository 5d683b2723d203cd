import type { Lane } from '../../../sinks/sink.js';
import { operationsFor } from '../../../sinks/plan-of.test-kit.js';
import { DEFAULT_CHANNEL, DEFAULT_TOKEN } from '../../../sandbox/slack/start-slack-double.js';
import {
  joined,
  questionOf,
  settleWithinMs,
  type SlackStage,
  slackStage,
  type SlackStageOptions,
} from './slack-stage.js';

let stage: SlackStage;
const start = async (options: SlackStageOptions = {}): Promise<void> => {
  stage = await slackStage(options);
};
afterEach(async () => {
  await stage.close();
});

const redacted = 'This message has been withdrawn.';

describe('the Slack sink', () => {
  it('posts a message for each thread and a reply for each question, and does nothing while nothing changes', async () => {
    await start();
    for (const key of ['1', '2', '3']) stage.offer(key, {});
    await stage.settle();
    for (const key of ['1', '2', '3']) stage.offer(key, {});
    await stage.settle();
    expect(stage.shown()).toEqual({ 1: ['question 1'], 2: ['question 2'], 3: ['question 3'] });
    expect(stage.threads().map(({ text }) => text)).toEqual(['Keynote']);
    const { ts } = stage.threads()[0]!;
    expect(stage.slack.state().channels[0]!.messages[0]!.replies).toHaveLength(3);
    expect(stage.courier.object('qna-questions', '2')).toMatchObject({ state: 'shown', threadTs: ts });
    expect(stage.slack.state().violations).toBe(0);
  });

  it('posts a marked test message, which look-ups do not mistake for an item', async () => {
    await start();
    const outcome = await stage.courier.sink.sendTest!(new AbortController().signal);
    expect(outcome).toMatchObject({ kind: 'delivered' });
    const { all } = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    expect(all).toMatchObject([{ text: expect.stringContaining('test'), metadata: { event_type: 'pigeonpost_test' } }]);
    expect([stage.shown(), stage.threads()]).toEqual([{}, []]);
  });

  it('edits changed messages, redacts withdrawn and deleted ones, and shows returned ones again', async () => {
    await start();
    for (const key of ['1', '2', '3', '4']) stage.offer(key, {});
    await stage.settle();
    stage.offer('1', { content: 'edited' });
    stage.offer('2', { status: 'hidden' });
    stage.offer('3', null);
    stage.offer('4', { status: 'hidden' });
    await stage.settle();
    stage.offer('4', { content: 'back' });
    await stage.settle();
    expect(stage.shown()).toEqual({ 1: ['edited'], 2: [redacted], 3: [redacted], 4: ['back'] });
    expect(stage.courier.object('qna-questions', '2')).toMatchObject({ state: 'redacted', hash: null });
  });

  it('moves an item to another thread and another channel', async () => {
    await start({
      double: {
        channels: [
          { id: DEFAULT_CHANNEL, name: 'questions' },
          { id: 'C0TOKYO0001', name: 'tokyo' },
        ],
      },
      keys: { routes: [{ when: 'pigeonhole.timezone = "Asia/Tokyo"', channel: 'C0TOKYO0001' }] },
    });
    stage.offer('1', {});
    stage.offer('2', {});
    await stage.settle();
    stage.offer('1', {}, { session: { id: 5002, name: 'Panel' } });
    stage.offer('2', {}, { pigeonhole: { timezone: 'Asia/Tokyo' } });
    await stage.settle();
    expect([stage.shown(), stage.shown('C0TOKYO0001')]).toEqual([{ 1: ['question 1'] }, { 2: ['question 2'] }]);
    expect(stage.threads().map(({ text }) => text)).toEqual(['Keynote', 'Panel']);
    expect(stage.courier.object('qna-questions', '1')).toMatchObject({ threadTs: stage.threads()[1]!.ts });
  });

  it('shows no mention, link or formatting from texts of an audience', async () => {
    await start();
    stage.offer('1', { content: '<!channel> <https://evil.example|click> *bold*' });
    await stage.settle();
    const [reply] = stage.slack.state().channels[0]!.messages[0]!.replies;
    expect(reply!.text).toBe('&lt;!channel&gt; &lt;https://evil.example|click&gt; *bold*\n0 votes');
    expect(JSON.stringify(reply!.blocks)).not.toMatch(/mrkdwn|<!/);
  });

  it('shortens texts that are too long for Slack', async () => {
    await start();
    stage.offer('1', { content: '&'.repeat(5000) }, { session: { id: 5001, name: '🎈'.repeat(200) } });
    await stage.settle();
    expect(stage.courier.dead).toEqual([]);
    expect(stage.shown()['1']![0]).toMatch(/^(&amp;)+…$/);
  });

  it('posts one message a second per channel over all lanes, and keeps one thread per pigeonhole', async () => {
    await start({ double: { limits: { postBurst: 1 } } });
    const lanes = [102, 103, 104].map((id) => [id, stage.anotherLane(id)] as const);
    for (const [pigeonholeId, lane] of lanes) {
      for (let n = 1; n <= 8; n += 1) {
        const change = questionOf(`${pigeonholeId}-${n}`, {}, { sequence: n, revision: 1, pigeonholeId });
        lane.offer(change, { session: { id: pigeonholeId * 10, name: `Session of ${pigeonholeId}` } });
      }
    }
    await Promise.all(lanes.map(([, lane]) => lane.settle(settleWithinMs, (ms) => stage.clock.pass(ms))));
    expect(Object.values(stage.shown()).map(({ length }) => length)).toEqual(Array.from({ length: 24 }, () => 1));
    expect(stage.threads()).toHaveLength(3);
    expect(stage.slack.state()).toMatchObject({
      violations: 0,
      limits: { [`post ${DEFAULT_CHANNEL}`]: { maxPerSecond: 1 } },
    });
  });

  it('edits a count at most every ten seconds, and does not delay texts', async () => {
    await start();
    for (let n = 1; n <= 30; n += 1) stage.offer(String(n), {});
    await stage.settle();
    await stage.clock.pass(60_000);
    const before = stage.requestsTo('chat.update');
    const startedAt = stage.clock.now();
    for (let votes = 1; votes <= 20; votes += 1) {
      for (let n = 1; n <= 30; n += 1) stage.offer(String(n), { votes });
      if (votes === 20) stage.offer('7', { content: 'edited', votes });
      while (await stage.courier.step());
      await stage.clock.pass(500);
    }
    expect(stage.shown()['7']).toEqual(['edited']);
    const minutes = Math.floor((stage.clock.now() - startedAt) / 60_000) + 1;
    expect(stage.requestsTo('chat.update') - before).toBeLessThanOrEqual(1 + 20 * minutes);
    for (let n = 1; n <= 30; n += 1) stage.offer(String(n), { votes: 99 });
    await stage.settle();
    const counts = stage.slack.state().channels[0]!.messages[0]!.replies.map(({ blocks }) => JSON.stringify(blocks));
    expect(counts.filter((blocks) => blocks.includes('99 votes'))).toHaveLength(30);
    expect(stage.slack.state().violations).toBe(0);
  });
});

describe('the Slack sink whose answer is lost', () => {
  it.each(['dropAfter', 'fatal_error-after', 'internal_error-after', 'bad-gateway-after'])(
    'looks up a message after %s and does not post it twice',
    async (name) => {
      await start();
      stage.offer('1', {});
      await stage.settle();
      stage.fault(name, 'chat.postMessage');
      stage.offer('2', {});
      await stage.settle();
      expect(stage.shown()).toEqual({ 1: ['question 1'], 2: ['question 2'] });
      expect(stage.requestsTo('conversations.replies')).toBeGreaterThan(0);
      stage.offer('2', { content: 'edited' });
      await stage.settle();
      expect(stage.shown()['2']).toEqual(['edited']);
      expect(Object.keys(stage.courier.memory).filter((key) => key.startsWith('post '))).toEqual([]);
    },
  );

  it.each(['dropBefore', 'fatal_error', 'unavailable'])(
    'posts a message after %s if the look-up does not find it',
    async (name) => {
      await start(joined);
      stage.fault(name, 'chat.postMessage', { skip: 1 });
      stage.offer('1', {});
      await stage.settle();
      expect(stage.shown()).toEqual({ 1: ['question 1'] });
      expect(stage.threads()).toHaveLength(1);
    },
  );

  it.each(['dropAfter', 'fatal_error-after'])('posts the parent message of a thread once after %s', async (name) => {
    await start(joined);
    stage.fault(name, 'chat.postMessage');
    for (const key of ['1', '2', '3']) stage.offer(key, {});
    await stage.settle();
    expect(stage.threads()).toHaveLength(1);
    expect(Object.keys(stage.shown())).toHaveLength(3);
    expect(stage.requestsTo('conversations.history')).toBe(1);
  });

  it('shows the latest text of an item that changed before the look-up', async () => {
    await start(joined);
    stage.fault('dropAfter', 'chat.postMessage', { skip: 1 });
    stage.offer('1', {});
    await stage.courier.step();
    stage.offer('1', { content: 'edited' });
    await stage.settle();
    expect(stage.shown()).toEqual({ 1: ['edited'] });
  });

  it('removes a question that was withdrawn before the look-up', async () => {
    await start(joined);
    stage.fault('dropAfter', 'chat.postMessage', { skip: 1 });
    stage.offer('1', {});
    await stage.courier.step();
    stage.offer('1', null);
    await stage.settle();
    expect(stage.shown()).toEqual({ 1: [redacted] });
  });

  it('finds a reply that Slack posted to the channel because its thread was deleted', async () => {
    await start();
    stage.offer('1', {});
    await stage.settle();
    const { ts } = stage.threads()[0]!;
    stage.slack.deleteAsPerson(DEFAULT_CHANNEL, stage.courier.object('qna-questions', '1')!['ts'] as string);
    stage.slack.deleteAsPerson(DEFAULT_CHANNEL, ts);
    stage.fault('dropAfter', 'chat.postMessage');
    stage.offer('2', {});
    await stage.settle();
    expect(stage.shown()).toEqual({ 2: ['question 2'] });
    expect(stage.courier.object('qna-questions', '2')).toMatchObject({ threadTs: stage.threads()[0]!.ts });
  });

  it('asks the operator if it cannot look up a message, and posts no second one until the operator decides', async () => {
    // The app was invited, but its manifest lacks the scopes for look-ups.
    const channels = [{ id: DEFAULT_CHANNEL, name: 'questions', isMember: true }];
    await start({ double: { channels, tokens: [{ token: DEFAULT_TOKEN, scopes: ['chat:write'] }] } });
    stage.offer('1', {});
    await stage.settle();
    stage.fault('dropAfter', 'chat.postMessage');
    stage.offer('2', {});
    await stage.settle();
    stage.offer('2', { content: 'edited' });
    await stage.settle();
    expect(stage.courier.dead.map(({ cause }) => cause)).toEqual(['outcome-unknown', 'outcome-unknown']);
    expect(stage.shown()).toEqual({ 1: ['question 1'], 2: ['question 2'] });
    // A redrive sends the parked change again.
    const again = questionOf('2', { content: 'edited' }, { sequence: 3, revision: 2 });
    stage.courier.offer(again, { session: { id: 5001, name: 'Keynote' } });
    await stage.settle();
    expect(stage.shown()['2']).toEqual(['question 2', 'edited']);
  });
});

describe('the Slack sink whose process is killed', () => {
  it('posts nothing twice, regardless of what it was doing', async () => {
    await start({ speed: 100 });
    for (let n = 1; n <= 12; n += 1) stage.offer(String(n), {});
    for (const afterMs of [300, 1500, 2600, 5000]) {
      const step = stage.courier.step().catch(() => false); // a killed process has no more to say
      await stage.clock.pass(afterMs);
      stage.courier.kill();
      await step;
      await stage.clock.pass(61_000);
    }
    await stage.settle();
    expect(Object.values(stage.shown()).map(({ length }) => length)).toEqual(Array.from({ length: 12 }, () => 1));
    expect(stage.threads()).toHaveLength(1);
    expect(stage.slack.state().violations).toBe(0);
  });
});

describe('the Slack sink that moves a message', () => {
  it('posts it again in the old channel if the item returns before it was posted in the new one', async () => {
    await start();
    stage.offer('1', {});
    await stage.settle();
    const answer = { status: 429, headers: { 'retry-after': '30' }, json: { ok: false, error: 'ratelimited' } };
    stage.slack.faults.add({ effect: { kind: 'answer', answer }, path: 'chat.postMessage', bodyHas: 'question 1' });
    stage.offer('1', {}, { session: { id: 5002, name: 'Panel' } });
    await stage.courier.step();
    expect(stage.shown()).toEqual({});
    stage.offer('1', {});
    await stage.settle();
    expect(stage.shown()).toEqual({ 1: ['question 1'] });
    expect(stage.courier.object('qna-questions', '1')).toMatchObject({ threadTs: stage.threads()[0]!.ts });
  });

  it.each([0, 50, 200, 1100, 2600])(
    'shows it once if it is killed %s ms into the move and the item returns',
    async (afterMs) => {
      await start({ speed: 100 });
      stage.offer('1', {});
      await stage.settle();
      stage.offer('1', {}, { session: { id: 5002, name: 'Panel' } });
      const step = stage.courier.step().catch(() => false); // a killed process has no more to say
      await stage.clock.pass(afterMs);
      stage.courier.kill();
      await step;
      await stage.clock.pass(61_000);
      stage.offer('1', {});
      await stage.settle();
      expect(stage.shown()).toEqual({ 1: ['question 1'] });
      expect(stage.courier.object('qna-questions', '1')).toMatchObject({ state: 'shown' });
      expect(stage.slack.state().violations).toBe(0);
    },
  );
});

/** A lane with this memory. It commits nothing. */
function laneWith(memory: Readonly<Record<string, unknown>>): Lane {
  return { workspace: 'acme', pigeonholeId: 101, ledgerId: 'ledger-1', memory, remember: async () => undefined };
}

describe('the Slack sink that moves a message out of a channel that refuses the deletion', () => {
  const tokyo = 'C0TOKYO0001';
  const inTokyo = { pigeonhole: { timezone: 'Asia/Tokyo' } };

  async function postedBeforeMove(): Promise<void> {
    await start({
      double: {
        channels: [
          { id: DEFAULT_CHANNEL, name: 'questions' },
          { id: tokyo, name: 'tokyo' },
        ],
      },
      keys: { routes: [{ when: 'pigeonhole.timezone = "Asia/Tokyo"', channel: tokyo }] },
    });
    stage.offer('1', {});
    await stage.settle();
  }

  it.each(['ekm_access_denied', 'restricted_action', 'restricted_action_read_only_channel'])(
    'does not forget the message after %s, and deletes it when its item is deleted',
    async (code) => {
      await postedBeforeMove();
      stage.fault(code, 'chat.delete');
      stage.offer('1', {}, inTokyo);
      await stage.settle();
      expect([stage.shown(), stage.shown(tokyo)]).toEqual([{ 1: ['question 1'] }, {}]);
      expect(stage.courier.dead).toMatchObject([{ key: '1', cause: `slack:${code}` }]);
      stage.offer('1', null, inTokyo);
      await stage.settle();
      expect([stage.shown(), stage.shown(tokyo)]).toEqual([{}, {}]);
      expect(Object.keys(stage.courier.memory).filter((key) => key.startsWith('post '))).toEqual([]);
    },
  );

  it('does not stop a sink that posts only to another channel now', async () => {
    await start(joined);
    stage.offer('1', {});
    await stage.settle();
    const { sink, memory } = stage.courier;
    const object = { ...stage.courier.object('qna-questions', '1')!, channel: 'C0EARLIER01' };
    const change = questionOf('1', {}, { sequence: 2, revision: 2 });
    const operations = await operationsFor(sink, [change], () => object);
    stage.fault('restricted_action', 'chat.delete');
    const { outcomes } = await sink.send(operations, laneWith(memory), new AbortController().signal);
    expect(outcomes).toMatchObject([{ kind: 'rejected', cause: 'slack:restricted_action' }]);
  });

  it('leaves the message in an archived channel, where nothing can be changed', async () => {
    await postedBeforeMove();
    stage.fault('is_archived', 'chat.delete');
    stage.offer('1', {}, inTokyo);
    await stage.settle();
    expect([stage.shown(), stage.shown(tokyo)]).toEqual([{ 1: ['question 1'] }, { 1: ['question 1'] }]);
    expect(stage.courier.dead).toEqual([]);
  });
});

describe('the Slack sink with an intent of a change that no longer exists', () => {
  it.each([
    ['redacts the message', {}, [redacted]],
    [
      'deletes the message with links',
      { links: [{ label: 'Open', url: '"https://app.example.com/q/" & item.id' }] },
      undefined,
    ],
  ])('%s half an hour later, because it must not be shown any longer', async (_, message, texts) => {
    await start({ message });
    stage.slack.workspace.allowed = { userGroups: [], origins: ['https://app.example.com'] };
    stage.offer('1', {});
    stage.offer('2', {});
    await stage.settle();
    const { sink, memory } = stage.courier;
    const { ts, ...placed } = stage.courier.object('qna-questions', '1')!;
    const id = '00000000-0000-5000-8000-010100000001';
    const noted: unknown[] = [];
    const send = async (ageMs: number) => {
      const atMs = stage.clock.wallNow() - ageMs;
      const intent = { ...placed, id, atMs, sinceMs: atMs, shown: {} };
      const operations = await operationsFor(sink, [questionOf('3', {}, { sequence: 3, revision: 1 })]);
      const result = await sink.send(
        operations,
        laneWith({ ...memory, 'post qna-questions/1': intent }),
        new AbortController().signal,
      );
      noted.push(Object.keys(result.memory ?? {}).includes('post qna-questions/1'));
    };
    await send(0);
    expect(stage.shown()['1']).toEqual(['question 1']);
    await send(31 * 60_000);
    expect([stage.shown()['1'], stage.shown()['2']]).toEqual([texts, ['question 2']]);
    expect([ts !== undefined, noted]).toEqual([true, [false, true]]);
  });

  it('redacts a reply that Slack posted to the channel itself because its thread was deleted', async () => {
    await start({ ...joined, message: { threadBy: undefined } });
    stage.offer('1', {});
    await stage.settle();
    const { ts: _, ...placed } = stage.courier.object('qna-questions', '1')!;
    const atMs = stage.clock.wallNow() - 31 * 60_000;
    const id = '00000000-0000-5000-8000-010100000001';
    const intent = { ...placed, threadTs: '1000000000.000100', threadKey: 'k', id, atMs, sinceMs: atMs, shown: {} };
    await stage.courier.sink.send([], laneWith({ 'post qna-questions/1': intent }), new AbortController().signal);
    expect(stage.shown()).toEqual({ 1: [redacted] });
  });

  it('clears the message although an earlier intent cannot be cleared, which it tries again 5 minutes later', async () => {
    await start(joined);
    stage.offer('1', {});
    await stage.settle();
    const { ts: _, ...placed } = stage.courier.object('qna-questions', '1')!;
    const atMs = stage.clock.wallNow() - 31 * 60_000;
    const intentOf = (sequence: number, place: object): object => {
      const id = `00000000-0000-5000-8000-01010000000${sequence}`;
      return { ...placed, ...place, id, atMs, sinceMs: atMs, shown: {} };
    };
    let memory: Record<string, unknown> = {
      ...stage.courier.memory,
      'post qna-questions/0': intentOf(9, { channel: 'C0NOTHERE01', threadTs: null }),
      'post qna-questions/1': intentOf(1, {}),
    };
    stage.fault('restricted_action', 'conversations.history', { bodyHas: 'C0NOTHERE01' });
    const lookUps: number[] = [];
    const send = async (): Promise<void> => {
      const result = await stage.courier.sink.send([], laneWith(memory), new AbortController().signal);
      memory = { ...memory, ...result.memory };
      lookUps.push(stage.requestsTo('conversations.history'));
    };
    await send();
    expect(stage.shown()).toEqual({ 1: ['question 1'] });
    await send();
    expect(stage.shown()).toEqual({ 1: [redacted] });
    await send();
    await stage.clock.pass(5 * 60_000);
    await send();
    expect(lookUps).toEqual([1, 1, 1, 2]);
  });

  it('tries the message in an archived channel again after a message was posted there, not every 5 minutes', async () => {
    const open = 'C0ELSEWHERE';
    await start({
      double: {
        channels: [
          { id: DEFAULT_CHANNEL, name: 'questions', isMember: true },
          { id: open, name: 'elsewhere', isMember: true },
        ],
      },
      keys: { routes: [{ when: 'item.elsewhere', channel: open }] },
      message: { threadBy: undefined },
    });
    stage.offer('1', {});
    await stage.settle();
    const { ts: _, ...placed } = stage.courier.object('qna-questions', '1')!;
    const atMs = stage.clock.wallNow() - 31 * 60_000;
    const id = '00000000-0000-5000-8000-010100000001';
    let memory: Record<string, unknown> = { 'post qna-questions/1': { ...placed, id, atMs, sinceMs: atMs, shown: {} } };
    const lookUps: number[] = [];
    let sequence = 1;
    const send = async (item: Readonly<Record<string, unknown>>): Promise<void> => {
      sequence += 1;
      const { sink } = stage.courier;
      const operations = await operationsFor(sink, [questionOf(String(sequence), item, { sequence, revision: 1 })]);
      const result = await sink.send(operations, laneWith(memory), new AbortController().signal);
      memory = { ...memory, ...result.memory };
      lookUps.push(stage.requestsTo('conversations.history'));
    };
    const channel = stage.slack.workspace.channels.get(DEFAULT_CHANNEL)!;
    channel.isArchived = true;
    await send({ elsewhere: true });
    await stage.clock.pass(6 * 60_000);
    await send({ elsewhere: true });
    expect([lookUps, stage.shown()['1']]).toEqual([[1, 1], ['question 1']]);
    channel.isArchived = false;
    await send({}); // as after a redrive
    expect([lookUps, stage.shown()['1'], memory['post qna-questions/1']]).toEqual([[1, 1, 2], [redacted], undefined]);
  });
});

describe('five hundred questions in a channel, some edited, some withdrawn, answers lost, the process killed', () => {
  const questions = 500;
  const kills = 5;

  /** Selects the same questions every time. */
  const isEdited = (n: number): boolean => n % 10 < 3;
  const isWithdrawn = (n: number): boolean => n % 10 === 5;

  it('are shown once each in their latest state, without exceeding a limit', async () => {
    // Without bursts, a second message within a second would be refused and counted.
    await start({ speed: 100, double: { limits: { postBurst: 1 } } });
    // One of twenty writing calls takes effect without an answer.
    for (let n = 0; n < questions; n += 1) {
      stage.slack.faults.add({ effect: { kind: 'dropAfter' }, path: '/api/chat.', skip: 11 + 19 * n });
    }
    for (let n = 0; n < questions; n += 1) stage.offer(String(n), {});
    let isOver = false;
    const changes = (async () => {
      for (let n = 0; n < questions; n += 1) {
        // Including messages with an unknown outcome.
        while (stage.courier.object('qna-questions', String(n)) === null) await stage.clock.pass(1000);
        if (isEdited(n)) stage.offer(String(n), { content: lastTextOf(n) });
        if (isWithdrawn(n)) stage.offer(String(n), n % 20 === 5 ? null : { status: 'hidden' });
      }
      isOver = true;
    })();
    const killing = (async () => {
      for (let n = 0; n < kills; n += 1) {
        await stage.clock.pass(65_000 + 7100 * n);
        stage.courier.kill();
      }
    })();
    while (!(isOver && stage.courier.isDone)) {
      const did = await stage.courier.step().catch(() => false); // a killed process has no more to say
      if (!did) await stage.clock.pass(250);
    }
    await Promise.all([changes, killing]);
    await stage.settle();

    const expected = Object.fromEntries(Array.from({ length: questions }, (_, n) => [String(n), [lastTextOf(n)]]));
    expect(stage.shown()).toEqual(expected);
    expect(stage.threads()).toHaveLength(1);
    expect(stage.courier.dead).toEqual([]);
    const lost = stage.slack.requests.filter(({ status }) => status === undefined);
    expect(lost.length).toBeGreaterThan(questions / 25);
    expect(stage.slack.state()).toMatchObject({
      violations: 0,
      limits: { [`post ${DEFAULT_CHANNEL}`]: { maxPerSecond: 1 } },
    });
    expect(stage.slack.state().limits['chat.update']!.maxPerMinute).toBeLessThanOrEqual(50);
    expect(Object.keys(stage.courier.memory)).toHaveLength(1); // only the thread; no intent is left
  });

  function lastTextOf(n: number): string {
    if (isWithdrawn(n)) return redacted;
    return isEdited(n) ? `question ${n}, edited` : `question ${n}`;
  }
});
