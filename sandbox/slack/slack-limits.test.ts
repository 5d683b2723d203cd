import { slackTrial, type SlackTrial } from './slack-client.test-kit.js';
import { DEFAULT_CHANNEL as channel, type SlackDoubleOptions } from './start-slack-double.js';

let trial: SlackTrial;
const start = async (options: SlackDoubleOptions = {}): Promise<void> => {
  trial = await slackTrial(options);
};
afterEach(async () => {
  await trial.double.close();
});

const postTimes = async (count: number): Promise<number[]> => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) {
    statuses.push((await trial.call('chat.postMessage', { channel, text: 'x' })).status);
  }
  return statuses;
};

describe('the rate of messages to a channel of the Slack double', () => {
  it('allows one message a second indefinitely without a violation', async () => {
    await start();
    for (let second = 0; second < 20; second += 1) await trial.post();
    expect(trial.double.state()).toMatchObject({
      violations: 0,
      limits: { [`post ${channel}`]: { maxPerSecond: 1 } },
    });
  });

  it('allows a short burst, and refuses more messages with 429 and the seconds to wait', async () => {
    await start();
    expect(await postTimes(3)).toEqual([200, 200, 200]);
    const refused = await trial.call('chat.postMessage', { channel, text: 'x' });
    expect([refused.status, refused.error, refused.headers.get('retry-after')]).toEqual([429, 'ratelimited', '1']);
    expect(trial.double.state().channels[0]!.messages).toHaveLength(3);
  });

  it('counts a call before the end of Retry-After as one that ignored it', async () => {
    await start();
    await postTimes(4);
    trial.pass(500);
    await postTimes(1);
    trial.pass(500);
    expect(await postTimes(1)).toEqual([200]);
    expect(trial.double.state().limits[`post ${channel}`]).toMatchObject({
      calls: 4,
      refused: 2,
      ignoredRetryAfter: 1,
    });
  });

  it('is limited per channel and per workspace', async () => {
    await start({
      channels: ['C000000001', 'C000000002', 'C000000003'].map((id) => ({ id, name: id.toLowerCase() })),
      limits: { postsPerMinute: 5 },
    });
    const statuses: number[] = [];
    for (const id of ['C000000001', 'C000000002', 'C000000003', 'C000000001', 'C000000002', 'C000000003']) {
      statuses.push((await trial.call('chat.postMessage', { channel: id, text: 'x' })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe('the tiers of the Slack double', () => {
  it('allow fifty edits in any minute', async () => {
    await start();
    const ts = await trial.post();
    const edit = async (): Promise<number> => (await trial.call('chat.update', { channel, ts, text: 'y' })).status;
    for (let index = 0; index < 50; index += 1) {
      expect(await edit()).toBe(200);
      trial.pass(1000);
    }
    expect(await edit()).toBe(429);
    trial.pass(10_000);
    expect(await edit()).toBe(200);
  });
});
