import { Secret } from '../../config/secret.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Clock, systemClock } from '../../sinks/network/rolling-limiter.js';
import type { SendResult, Sink } from '../../sinks/sink.js';
import { slackConfigSchema } from '../../sinks/slack/config.js';
import { createSlackSink } from '../../sinks/slack/slack.js';
import {
  DEFAULT_CHANNEL,
  DEFAULT_TOKEN,
  startSlackDouble,
  type SlackDouble,
} from '../../sandbox/slack/start-slack-double.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, qnaQuestion, session } from '../kit/items.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';
import { environmentOf } from '../../sinks/sink-environment.test-kit.js';

/** Factor by which time passes faster than at Slack, so that a test takes seconds. The limits still apply. */
const times = 500;
const redacted = 'This message has been withdrawn.';

const stages = useStages();
let slack: SlackDouble;
beforeEach(async () => {
  aheadMs = 0;
  stoppedAtMs = undefined;
  slack = await startSlackDouble({
    limits: {
      postsPerSecond: times,
      postBurst: 1,
      postsPerMinute: 300 * times,
      tier3PerMinute: 50 * times,
      authTestPerMinute: 200 * times,
    },
  });
});
afterEach(async () => {
  await slack.close();
});

/** A process that can die at the end of a send: the messages are posted, but not committed. */
interface MortalScene {
  readonly scene: Scene;
  /** Runs cycles, and resolves when the process has stopped at its own request; `end` acts like the end of a process. */
  dieWhilePosting(): Promise<{ end(): Promise<void> }>;
}

/** Time by which the sinks' clock is ahead of the wall clock: a lost answer is looked up a minute later. */
let aheadMs = 0;
/** Time at which the sinks' clock is stopped, if it is. */
let stoppedAtMs: number | undefined;
const clock: Clock = { ...systemClock, now: () => stoppedAtMs ?? systemClock.now() };

/** @param message further keys of the sink's one message */
async function slackScene(stage: Stage, message: object = {}): Promise<MortalScene> {
  let dying: { readonly hung: () => void; readonly end: Promise<never> } | undefined;
  const mortal = (sink: Sink): Sink => ({
    ...sink,
    send: async (...given): Promise<SendResult> => {
      const result = await sink.send(...given);
      if (dying === undefined || result.outcomes.every(({ kind }) => kind !== 'delivered')) return result;
      dying.hung();
      return await dying.end;
    },
  });
  const keys = {
    channel: DEFAULT_CHANNEL,
    baseUrl: `${slack.url}/api`,
    messages: [
      {
        from: 'qna-questions',
        when: 'item.status = "allowed"',
        text: 'item.content',
        threadBy: 'session.id',
        votes: 'item.votes',
        ...message,
      },
    ],
  };
  const limits = { per10s: 10 * times };
  const consent = { accept: ['obtained', 'refused', 'not-asked', 'not-known'] };
  const config = slackConfigSchema.parse({ ...keys, token: new Secret(DEFAULT_TOKEN) });
  const environment = environmentOf('questions', { limits, now: () => Date.now() + aheadMs });
  const sink = createSlackSink(config, environment, { clock });
  const scene = await stage.scene({
    sinks: { questions: JSON.stringify({ type: 'slack', token: '${SLACK_TOKEN}', ...keys, limits, consent }) },
    environment: { SLACK_TOKEN: DEFAULT_TOKEN },
    openSinks: (made) => new Map([...made].map(([name, open]) => [name, { ...open, sink: mortal(sink) }])),
  });
  return {
    scene,
    async dieWhilePosting() {
      let kill: () => void;
      const end = new Promise<never>((_, reject) => (kill = () => reject(new Error('the process is gone'))));
      let turns: Promise<unknown> = Promise.resolve();
      await new Promise<void>((hung) => {
        dying = { hung, end };
        turns = scene.settle().catch(() => undefined);
      });
      return {
        end: async () => {
          Object.assign(scene, { deliver: () => end }); // no lane of this process continues
          kill();
          await turns;
        },
      };
    },
  };
}

/** Messages in Slack, by question. */
function shown(): Record<string, string[]> {
  const texts: Record<string, string[]> = {};
  for (const { metadata, text } of slack.workspace.channels.get(DEFAULT_CHANNEL)!.all) {
    const { key } = (metadata?.event_payload ?? {}) as { key?: string };
    if (metadata?.event_type === 'pigeonpost_item') (texts[key!] ??= []).push(text);
  }
  return texts;
}

const goOn = async (stage: Stage, scene: Scene): Promise<void> => {
  await stage.pollsAreDue();
  await stage.retriesAreDue();
  await scene.settle();
};

describe.each(kinds)('questions in a Slack channel, on %s', (kind) => {
  it('are posted in the thread of their session, edited, withdrawn and shown again', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(7));
    await stage.put('qna-questions', ...[1, 2, 3].map((id) => qnaQuestion(id, { id: 7, anonymous: true }, 1)));
    const { scene } = await slackScene(stage);
    await scene.settle();
    expect(shown()).toEqual({ 1: ['Question 1?'], 2: ['Question 2?'], 3: ['Question 3?'] });

    await stage.patch('qna-questions', 1, { content: 'Edited?' });
    await stage.patch('qna-questions', 2, { status: 'hidden' });
    await goOn(stage, scene);
    expect(shown()).toEqual({ 1: ['Edited?'], 2: [redacted], 3: ['Question 3?'] });

    await stage.patch('qna-questions', 2, { status: 'allowed' });
    await goOn(stage, scene);
    expect(shown()).toEqual({ 1: ['Edited?'], 2: ['Question 2?'], 3: ['Question 3?'] });
    const [thread, ...others] = slack.state().channels[0]!.messages;
    expect([thread!.text, thread!.replies.length, others.length]).toEqual(['Session 1', 3, 0]);
    expect(scene.logText()).not.toMatch(/Question|Edited|xoxb/);
  });

  it('lose the name of an author who becomes anonymous, even if the sink ignores changes and keeps withdrawn messages', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(7));
    await stage.put('qna-questions', qnaQuestion(1, { id: 7, anonymous: false }, 1));
    const text = 'item.content & (attendee.Name ? " (" & attendee.Name & ")" : "")';
    const { scene } = await slackScene(stage, { text, onChange: 'ignore', onWithdrawn: 'keep' });
    await scene.settle();
    expect(shown()).toEqual({ 1: ['Question 1? (Person 7)'] });

    await stage.patch('qna-questions', 1, { attendee: { id: 7, attendeeCode: 'code-7', anonymous: true } });
    await goOn(stage, scene);
    expect(shown()).toEqual({ 1: ['Question 1?'] });
    expect(JSON.stringify(slack.state())).not.toContain('Person');
    const kept = await stage.db.query('select object from sink_objects');
    expect([kept.length, JSON.stringify(kept).includes('Person')]).toEqual([1, false]);
  });

  it('of an erased person are redacted, with or without a name, and no trace is left in Slack or the ledger', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('attendees', attendee(7, { Name: 'MARK-name' }), attendee(8));
    const who = (id: number, anonymous: boolean) => ({ id, anonymous });
    await stage.put(
      'qna-questions',
      qnaQuestion(1, who(7, false), 1, { content: 'MARK-signed' }),
      qnaQuestion(2, who(7, true), 1, { content: 'MARK-unsigned' }),
      qnaQuestion(3, who(8, false), 1),
    );
    const text = 'item.content & (attendee.Name ? " (" & attendee.Name & ")" : "")';
    const { scene } = await slackScene(stage, { text, onChange: 'ignore', onWithdrawn: 'keep' });
    await scene.settle();
    const other = ['Question 3? (Person 8)'];
    expect(shown()).toEqual({ 1: ['MARK-signed (MARK-name)'], 2: ['MARK-unsigned'], 3: other });

    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '7' }));
    expect(shown()).toEqual({ 1: [redacted], 2: [redacted], 3: other });
    expect(JSON.stringify(slack.state())).not.toContain('MARK');
    expect(await dumpLedger(stage.db)).not.toContain('MARK');
    expect((await stage.db.query('select key from sink_objects')).length).toBe(1);
  });

  it('get a new count after a wait, and a new text immediately', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('qna-questions', qnaQuestion(1, { id: 7, anonymous: true }, 1));
    const { scene } = await slackScene(stage);
    await scene.settle();

    stoppedAtMs = performance.now(); // counts are edited once in ten seconds, and that time must not pass below
    const [before] = await stage.db.query<{ now: string }>('select clock_timestamp()::text as now');
    await stage.patch('qna-questions', 1, { votes: 5 });
    await stage.pollsAreDue();
    await scene.settle();
    const waiting = `select state from deliveries where list = 'qna-questions' and due_at > $1::timestamptz + interval '5 seconds'`;
    expect(await stage.db.query(waiting, [before!.now])).toEqual([{ state: 'waiting' }]);
    expect(await stage.db.query('select 1 from lanes where failure is not null or retry_at is not null')).toEqual([]);

    await stage.patch('qna-questions', 1, { content: 'Edited?', votes: 6 });
    await stage.pollsAreDue();
    await scene.settle();
    expect(shown()).toEqual({ 1: ['Edited?\n6 votes'] });
    await stage.retriesAreDue();
    await scene.settle();
    const states = `select revision, state from deliveries where list = 'qna-questions' order by revision`;
    expect(await stage.db.query(states)).toEqual([
      { revision: 1, state: 'delivered' },
      { revision: 2, state: 'superseded' },
      { revision: 3, state: 'delivered' },
    ]);
  });

  it('are found and withdrawn if a process posted them before it died and the mapping now excludes them', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('qna-questions', ...[1, 2, 3].map((id) => qnaQuestion(id, { id: 7, anonymous: true }, 1)));
    await (await (await slackScene(stage)).dieWhilePosting()).end();
    const posted = Object.keys(shown());
    expect(posted.length).toBeGreaterThan(0);

    const { scene } = await slackScene(stage, { when: 'item.status = "answered"' });
    for (let minutes = 0; minutes < 3; minutes += 1) {
      aheadMs += 61_000;
      await goOn(stage, scene);
    }
    expect(shown()).toEqual(Object.fromEntries(posted.map((id) => [id, [redacted]])));
    expect(await stage.db.query(`select 1 from deliveries where state in ('sending', 'waiting', 'retry')`)).toEqual([]);
  });

  it('are edited instead of posted again after a failing mapping is fixed if a process posted them before it died', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('qna-questions', ...[1, 2].map((id) => qnaQuestion(id, { id: 7, anonymous: true }, 1)));
    await (await (await slackScene(stage)).dieWhilePosting()).end();
    const posted = shown();

    const failing = (await slackScene(stage, { text: '$uppercase(item.id)' })).scene;
    for (let minutes = 0; minutes < 3; minutes += 1) {
      aheadMs += 61_000;
      await goOn(stage, failing);
    }
    expect(shown()).toEqual(posted);
    expect(await stage.db.query(`select count(*)::int as n from deliveries where state = 'dead'`)).toEqual([{ n: 2 }]);
    const { scene } = await slackScene(stage, { text: '$uppercase(item.content)' });
    await goOn(stage, scene);
    expect(shown()).toEqual({ 1: ['QUESTION 1?'], 2: ['QUESTION 2?'] });
  });

  it('are posted once each even if processes die after posting and answers are lost', async () => {
    const stage = await stages.open(kind);
    const ids = Array.from({ length: 60 }, (_, n) => n + 1);
    await stage.put('sessions', session(1));
    await stage.put('qna-questions', ...ids.map((id) => qnaQuestion(id, { id: 7, anonymous: true }, 1)));
    for (let n = 0; n < 10; n += 1) {
      slack.faults.add({ effect: { kind: 'dropAfter' }, path: '/api/chat.', skip: 6 + 12 * n });
    }
    for (let kills = 0; kills < 3; kills += 1) {
      const process = await (await slackScene(stage)).dieWhilePosting();
      await stage.patch('qna-questions', kills + 1, { content: `Edited ${kills}?` });
      aheadMs += 61_000;
      await stage.pollsAreDue();
      await stage.retriesAreDue();
      await process.end();
    }
    const { scene } = await slackScene(stage);
    for (let minutes = 0; minutes < 12; minutes += 1) {
      aheadMs += 61_000;
      await goOn(stage, scene);
    }
    const edited = ['Edited 0?', 'Edited 1?', 'Edited 2?'];
    const expected = ids.map((id) => [id, [edited[id - 1] ?? `Question ${id}?`]]);
    expect(shown()).toEqual(Object.fromEntries(expected));
    expect(slack.state().channels[0]!.messages).toHaveLength(1);
    expect(slack.state().violations).toBe(0);
    expect(
      await stage.db.query(`select 1 from deliveries where state not in ('delivered', 'superseded', 'withheld')`),
    ).toEqual([]);
  });
});
