import { Secret } from '../../config/secret.js';
import { Accounts } from '../network/accounts.js';
import type { RollingLimiter } from '../network/rolling-limiter.js';
import type { Outcome, Planned, Sink } from '../sink.js';
import { item, lane, open, planOne, records, send, stage } from './receiver-stage.test-kit.js';

// The limiters' clock is stopped, so that no window ends between two requests, however long they take.
beforeEach(() => jest.spyOn(performance, 'now').mockReturnValue(performance.now()));
afterEach(() => jest.restoreAllMocks());

/** Keeps the limiters that a sink creates. */
class SeenAccounts extends Accounts {
  readonly limiters: [kind: string, limiter: RollingLimiter][] = [];

  override share<Value>(...[account, kind, make]: Parameters<typeof Accounts.prototype.share<Value>>): Value {
    const limiter = super.share(account, kind, make);
    this.limiters.push([kind, limiter as RollingLimiter]);
    return limiter;
  }

  get windows(): [string, number][] {
    return this.limiters.map(([kind, { windowMs }]) => [kind, windowMs]);
  }
}

/** Returns the number of permits that a limiter grants without a wait. */
async function permitsOf([, limiter]: SeenAccounts['limiters'][number]): Promise<number> {
  let permits = 0;
  while ((await limiter.take(new AbortController().signal, 0)) !== undefined) permits += 1;
  return permits;
}

/** Sends another item and stops waiting for a permit. Without a limit, the item would be delivered. */
async function kindWithoutPermit(sink: Sink): Promise<string> {
  const planned = (await planOne(sink, item('3'))) as Extract<Planned, { kind: 'send' }>;
  const stop = new AbortController();
  const sending = sink.send([planned.operation], lane, stop.signal);
  setImmediate(() => stop.abort());
  return (await sending).outcomes[0]!.kind;
}

const airtable = {
  preset: 'airtable',
  auth: { token: new Secret('pat') },
  records: [{ from: 'questions', properties: { Text: 'item.text' } }],
};

describe('the limits of an http sink', () => {
  it.each([{ per10s: 2 }, { perDay: 2 }, { per10s: 9, perDay: 2 }, { per10s: 2, perDay: 9 }])(
    'allow no more requests than %j',
    async (limits) => {
      const sink = open(records({}), { limits });
      expect((await send(sink, item('1'), item('2'))).map(({ kind }) => kind)).toEqual(['delivered', 'delivered']);
      expect(await kindWithoutPermit(sink)).toBe('perDay' in limits && limits.perDay === 2 ? 'retry' : 'unsent');
      expect(stage.api.requests).toHaveLength(2);
    },
  );

  it('wait for a permit of ten seconds, although the difference of two instants is not exact', async () => {
    const nowMs = 6384.857142857143;
    expect(nowMs + 10_000 - nowMs).toBeGreaterThan(10_000);
    jest.spyOn(performance, 'now').mockReturnValue(nowMs);
    const sink = open(records({}), { limits: { per10s: 1 } });
    await send(sink, item('1'));
    expect(await kindWithoutPermit(sink)).toBe('unsent');
  });

  it('state the reason and the wait if the requests of a day are used up, and leave the rest of the batch unsent', async () => {
    const sink = open(records({}), { limits: { perDay: 1 } });
    expect((await send(sink, item('1'), item('2'))).map(({ kind }) => kind)).toEqual(['delivered', 'unsent']);
    const [outcome] = (await send(sink, item('2'))) as Extract<Outcome, { kind: 'retry' }>[];
    expect(outcome).toMatchObject({ kind: 'retry', detail: expect.stringContaining('limits.perDay') });
    expect(outcome!.afterMs! / 3_600_000).toBeCloseTo(24, 1);
    expect(stage.api.requests).toHaveLength(1);
  });

  it('use windows of 10 seconds and 24 hours', () => {
    const accounts = new SeenAccounts();
    open(records({}), { accounts, limits: { per10s: 2, perDay: 9 } });
    expect(accounts.windows).toEqual([
      ['per10s', 10_000],
      ['perDay', 86_400_000],
    ]);
    const without = new SeenAccounts();
    open(records({}), { accounts: without });
    expect(without.windows).toEqual([]);
  });

  it.each([
    ['are those of the preset', undefined, [5, 50]],
    ['replace those of the preset', { per10s: 3 }, [3]],
    ['are added to those of the preset', { perDay: 4 }, [5, 50, 4]],
  ])('%s', async (_, limits, expected) => {
    const accounts = new SeenAccounts();
    open(airtable, { accounts, limits });
    expect(await Promise.all(accounts.limiters.map(permitsOf))).toEqual(expected);
  });

  it('are shared by all sinks of an account', async () => {
    const accounts = new SeenAccounts();
    const sinks = [1, 2].map(() => open(records({}), { accounts, limits: { per10s: 1 } }));
    expect((await send(sinks[0]!, item('1'))).map(({ kind }) => kind)).toEqual(['delivered']);
    expect(await kindWithoutPermit(sinks[1]!)).toBe('unsent');
    expect(stage.api.requests).toHaveLength(1);
  });
});
