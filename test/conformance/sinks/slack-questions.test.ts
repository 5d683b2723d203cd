import { DEFAULT_CHANNEL } from '../../../sandbox/slack/start-slack-double.js';
import { type SlackStage, slackStage } from './slack-stage.js';

const questions = 500;
const kills = 5;
const redacted = 'This message has been withdrawn.';

/** The same numbers every time. */
const isEdited = (n: number): boolean => n % 10 < 3;
const isWithdrawn = (n: number): boolean => n % 10 === 5;

describe('five hundred questions in a channel, some edited, some withdrawn, answers lost, the process killed', () => {
  let stage: SlackStage;
  beforeEach(async () => {
    // No burst is granted at all: a second message in a second would be refused, and counted.
    stage = await slackStage({ speed: 100, double: { limits: { postBurst: 1 } } });
  });
  afterEach(async () => {
    await stage.close();
  });

  it('stand there once each, in their last state, and no limit was ever passed', async () => {
    // Of each twenty calls that write, one takes effect without an answer.
    for (let n = 0; n < questions; n += 1) {
      stage.slack.faults.add({ effect: { kind: 'dropAfter' }, path: '/api/chat.', skip: 11 + 19 * n });
    }
    for (let n = 0; n < questions; n += 1) stage.offer(String(n), {});
    let isOver = false;
    const changes = (async () => {
      for (let n = 0; n < questions; n += 1) {
        // Also what may or may not have been posted: nobody knows yet.
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
    expect(Object.keys(stage.courier.memory)).toHaveLength(1); // the thread; no intent is left
  });

  function lastTextOf(n: number): string {
    if (isWithdrawn(n)) return redacted;
    return isEdited(n) ? `question ${n}, edited` : `question ${n}`;
  }
});
