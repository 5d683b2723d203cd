import { setMaxListeners } from 'node:events';
import { Secret } from '../../config/secret.js';
import { type AccountName, Accounts } from './accounts.js';
import { RollingLimiter } from './rolling-limiter.js';
import { VirtualClock } from './virtual-clock.test-kit.js';

const never = new AbortController().signal;
setMaxListeners(0, never);
const longMs = 3_600_000;

function limiterOf(limit: number, most?: number) {
  const clock = new VirtualClock();
  return { clock, limiter: new RollingLimiter({ limit, windowMs: 10_000 }, most, clock) };
}

/** Returns the largest number of instants within any window. */
function maxWithin(instants: readonly number[], windowMs: number): number {
  const sorted = [...instants].sort((a, b) => a - b);
  return Math.max(...sorted.map((from) => sorted.filter((at) => at >= from && at < from + windowMs).length));
}

describe('a rolling limiter', () => {
  it.each([
    ['immediately', () => 0],
    ['after 100 ms', () => 100],
    ['after various delays', (n: number) => (n * 7919) % 900],
  ])('uses more than 90 %% of the limit, and never more than the limit, if requests arrive %s', async (_, latency) => {
    const { clock, limiter } = limiterOf(100);
    const arrivals: number[] = [];
    let left = 1000;
    const lane = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const permit = (await limiter.take(never, longMs))!;
        const takes = latency(left);
        // The other side receives the request at some point between sending and response.
        const arrives = takes * ((left % 5) / 5);
        await new Promise<void>((resolve) => void clock.after(arrives, resolve));
        arrivals.push(clock.now());
        await new Promise<void>((resolve) => void clock.after(takes - arrives, resolve));
        permit.done();
      }
    };
    const lanes = Promise.all(Array.from({ length: 20 }, lane));
    await clock.advance(200_000);
    await lanes;
    expect(arrivals).toHaveLength(1000);
    expect(maxWithin(arrivals, 10_000)).toBeLessThanOrEqual(100);
    expect(Math.max(...arrivals)).toBeLessThanOrEqual(90_000 / 0.9); // ten bursts of 100, the last after 90 s
  });

  it('grants permits in the order of the requests', async () => {
    const { clock, limiter } = limiterOf(1);
    (await limiter.take(never, longMs))!.done();
    const order: string[] = [];
    const turn = async (name: string): Promise<void> => {
      const permit = await limiter.take(never, longMs);
      order.push(name);
      permit!.done();
    };
    const turns = Promise.all(['a', 'b', 'c'].map(turn));
    await clock.advance(30_000);
    await turns;
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('serves every waiting request even if the clock advances between two readings', async () => {
    const clock = new VirtualClock();
    let looks = 0;
    const hasty = {
      now: () => clock.now() + (looks += 1),
      after: (delayMs: number, call: () => void) => clock.after(delayMs, call),
    };
    const limiter = new RollingLimiter({ limit: 1, windowMs: 2.5 }, undefined, hasty);
    let served = 0;
    const turn = async (): Promise<void> => {
      const permit = await limiter.take(never, longMs);
      served += 1;
      permit?.done();
    };
    const turns = Promise.all(Array.from({ length: 100 }, turn));
    await clock.advance(60_000);
    expect(served).toBe(100);
    await turns;
  });

  it('grants no permit after the maximum wait or an abort', async () => {
    const { clock, limiter } = limiterOf(1);
    (await limiter.take(never, longMs))!.done();
    const stop = new AbortController();
    const late = limiter.take(never, 5000);
    const stopped = limiter.take(stop.signal, longMs);
    await clock.advance(5000);
    stop.abort();
    expect([await late, await stopped]).toEqual([undefined, undefined]);
    expect(clock.pending).toBe(0);
    expect(await limiter.take(stop.signal, longMs)).toBeUndefined();
  });

  it('leaves room for other users of the account', async () => {
    const { clock, limiter } = limiterOf(10);
    (await limiter.take(never, longMs))!.done();
    limiter.learn({ limit: 10, used: 8 });
    const permits = Array.from({ length: 5 }, () => limiter.take(never, 1));
    await clock.advance(1);
    expect((await Promise.all(permits)).filter((permit) => permit !== undefined)).toHaveLength(2);
  });

  it('does not count its own requests as those of other users', async () => {
    const { clock, limiter } = limiterOf(10);
    for (let n = 0; n < 4; n += 1) (await limiter.take(never, longMs))!.done();
    limiter.learn({ limit: 10, used: 4 });
    const permits = Array.from({ length: 8 }, () => limiter.take(never, 1));
    await clock.advance(1);
    expect((await Promise.all(permits)).filter((permit) => permit !== undefined)).toHaveLength(6);
  });

  it.each([
    ['a higher limit', 190, undefined, 190],
    ['a lower limit', 50, undefined, 50],
    ['no higher limit than configured', 190, 120, 120],
  ])('adopts %s', async (_, learnt, most, granted) => {
    const { clock, limiter } = limiterOf(100, most);
    limiter.learn({ limit: learnt });
    const permits = Array.from({ length: 200 }, () => limiter.take(never, 1));
    await clock.advance(1);
    expect((await Promise.all(permits)).filter((permit) => permit !== undefined)).toHaveLength(granted);
  });

  it('grants nothing while it is closed', async () => {
    const { clock, limiter } = limiterOf(10);
    limiter.close(4000);
    const early = limiter.take(never, 3999);
    const later = limiter.take(never, 4001);
    await clock.advance(4000);
    expect(await early).toBeUndefined();
    expect(await later).toBeDefined();
  });

  it('grants permits immediately after it is reopened', async () => {
    const { limiter } = limiterOf(10);
    limiter.close(1_800_000);
    const waiting = limiter.take(never, longMs);
    limiter.reopen();
    expect(await waiting).toBeDefined();
  });
});

const account: AccountName = {
  type: 'hubspot',
  baseUrl: 'https://api.hubapi.com',
  credential: new Secret('pat-eu1-one'),
  limits: undefined,
};

describe('an object that an account shares', () => {
  it('is the same for every sink with the credential, and is created once', () => {
    const accounts = new Accounts();
    const first = accounts.share(account, 'requests', () => ({ made: 1 }));
    expect(accounts.share({ ...account, credential: new Secret('pat-eu1-one') }, 'requests', () => ({ made: 2 }))).toBe(
      first,
    );
  });

  it.each<[string, Partial<AccountName>, string]>([
    ['another credential', { credential: new Secret('pat-eu1-two') }, 'requests'],
    ['another vendor', { type: 'canvas' }, 'requests'],
    ['another address', { baseUrl: 'http://127.0.0.1:9000' }, 'requests'],
    ['other limits', { limits: { per10s: 50 } }, 'requests'],
    ['another kind', {}, 'day'],
  ])('is a separate one for %s', (_, other, kind) => {
    const accounts = new Accounts();
    const first = accounts.share(account, 'requests', () => ({}));
    expect(accounts.share({ ...account, ...other }, kind, () => ({}))).not.toBe(first);
  });

  it('contains no credential', () => {
    const accounts = new Accounts();
    accounts.share(account, 'requests', () => 1);
    expect(JSON.stringify(accounts)).not.toContain('pat-eu1');
  });
});
