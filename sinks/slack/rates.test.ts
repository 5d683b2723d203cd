import { VirtualClock } from '../network/virtual-clock.test-kit.js';
import { type Granted, SlackRates } from './rates.js';

const never = new AbortController().signal;
const hourMs = 3_600_000;

/** Requests permits during this time, and returns the instants at which they were granted. */
async function grantedWithin(ms: number, clock: VirtualClock, ask: () => Promise<Granted>): Promise<number[]> {
  const instants: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const granted = await ask();
      if (granted !== undefined && 'permit' in granted) {
        instants.push(clock.now());
        granted.permit.done();
      } else await new Promise<void>((resolve) => void clock.after(100, resolve));
    }
  })();
  await clock.advance(ms);
  isOver = true;
  await clock.advance(hourMs);
  await asking;
  return instants.filter((at) => at <= ms);
}

describe('the rates of a Slack sink', () => {
  it.each([
    ['one message per second and channel', 60, (rates: SlackRates) => rates.post('C1', never, hourMs)],
    [
      'fewer than 50 calls of a method per minute',
      48,
      (rates: SlackRates) => rates.method('chat.update', never, hourMs),
    ],
    ['20 updates of counts per minute', 20, (rates: SlackRates) => rates.count(never)],
  ])('grant %s, evenly distributed', async (_, perMinute, ask) => {
    const clock = new VirtualClock();
    const rates = new SlackRates(undefined, clock);
    const instants = await grantedWithin(120_000, clock, () => ask(rates));
    expect(instants.length).toBeGreaterThanOrEqual(2 * perMinute * 0.9);
    const gaps = instants.slice(1).map((at, index) => at - instants[index]!);
    expect(Math.min(instants[0]!, ...gaps)).toBeGreaterThanOrEqual(60_000 / perMinute);
  });

  it('are those of the account if they differ', async () => {
    const clock = new VirtualClock();
    const rates = new SlackRates(100, clock);
    expect(await grantedWithin(10_000, clock, () => rates.post('C1', never, hourMs))).toHaveLength(100);
  });

  it('apply to each channel separately, within the limit of the workspace', async () => {
    const clock = new VirtualClock();
    const rates = new SlackRates(undefined, clock);
    const channels = Array.from({ length: 8 }, (_, n) => `C${n}`);
    const instants = channels.map((channel) => grantedWithin(60_000, clock, () => rates.post(channel, never, hourMs)));
    const all = (await Promise.all(instants)).flat();
    expect(all.length).toBeGreaterThan(200);
    expect(all.length).toBeLessThanOrEqual(240);
  });

  it('report how long Slack blocks one channel, and continue for others', async () => {
    const clock = new VirtualClock();
    const rates = new SlackRates(undefined, clock);
    await clock.advance(2000);
    rates.closePosts('C1', 30_000);
    expect(await rates.post('C1', never, 8000)).toEqual({ waitMs: 30_000 });
    expect(await rates.post('C2', never, 0)).toHaveProperty('permit');
  });

  it('leave permits for texts, however many counts are waiting', async () => {
    const clock = new VirtualClock();
    const rates = new SlackRates(undefined, clock);
    const counts = grantedWithin(60_000, clock, () => rates.count(never));
    const texts = grantedWithin(60_000, clock, () => rates.method('chat.update', never, hourMs));
    expect((await texts).length).toBeGreaterThanOrEqual(28);
    expect((await counts).length).toBeLessThanOrEqual(20);
  });
});
