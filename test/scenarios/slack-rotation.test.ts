import {
  DEFAULT_CHANNEL,
  ROTATING_APP,
  type SlackDouble,
  startSlackDouble,
} from '../../sandbox/slack/start-slack-double.js';
import { dumpLedger } from '../kit/dump-ledger.js';
import { qnaQuestion, session } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Stage, useStages } from '../kit/stage.js';

/** Factor by which time passes faster than at Slack, so that a test of the whole product takes seconds. */
const times = 500;
const limits = { postsPerSecond: times, postBurst: 10, postsPerMinute: 300 * times, tier3PerMinute: 50 * times };

const stages = useStages();
let slack: SlackDouble;
let aheadMs: number;
beforeEach(async () => {
  aheadMs = 0;
  slack = await startSlackDouble({ now: () => Date.now() + aheadMs, limits, rotation: true });
});
afterEach(async () => {
  await slack.close();
});

/** Opens another process on the ledger of a stage. */
const open = async (stage: Stage) =>
  await stage.scene({
    sinks: {
      questions: JSON.stringify({
        type: 'slack',
        rotation: {
          clientId: ROTATING_APP.clientId,
          clientSecret: '${CLIENT_SECRET}',
          refreshToken: '${REFRESH_TOKEN}',
        },
        channel: DEFAULT_CHANNEL,
        baseUrl: `${slack.url}/api`,
        messages: [{ from: 'qna-questions', text: 'item.content' }],
        limits: { per10s: 10 * times },
        consent: { accept: ['obtained', 'refused', 'not-asked', 'not-known'] },
      }),
    },
    environment: { CLIENT_SECRET: ROTATING_APP.clientSecret, REFRESH_TOKEN: ROTATING_APP.refreshToken },
  });

const texts = (): string[] => slack.workspace.channels.get(DEFAULT_CHANNEL)!.all.map(({ text }) => text);

describe.each(kinds)('a Slack app with token rotation, on %s', (kind) => {
  it('lets a later process post with the tokens that the ledger stores encrypted', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1));
    await stage.put('qna-questions', qnaQuestion(1, { id: 7, anonymous: true }, 1));
    const first = await open(stage);
    await first.settle();
    expect([texts(), slack.workspace.rotation!.issued]).toEqual([['Question 1?'], 1]);

    const second = await open(stage); // another process, whose file has the refresh token that was already used
    await stage.put('qna-questions', qnaQuestion(2, { id: 7, anonymous: true }, 1));
    await stage.pollsAreDue();
    await second.settle();
    expect([texts(), slack.workspace.rotation!.issued]).toEqual([['Question 1?', 'Question 2?'], 1]);

    const stored = await dumpLedger(stage.db);
    expect(JSON.stringify(stored)).not.toMatch(/xoxe|xoxb|double-client-secret/);
    expect(second.logText() + second.historyText()).not.toMatch(/xoxe|xoxb|double-client-secret/);
    expect(slack.workspace.misuses).toEqual([]);
  });
});
