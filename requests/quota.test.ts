import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { readQuota as reportedQuota } from '../pigeonhole/response.js';
import {
  askNow,
  noteAnswer,
  noteRefusal,
  planAsk,
  type Priority,
  type QuotaState,
  readQuota,
  readQuotas,
  returnPermits,
  type SpentPermit,
  spendPermits,
} from './quota.js';

const databases = useBothDatabases({ isDurable: true });
const key = 'fingerprint';
const nothing = { limit: null, remaining: null, resetInMs: null };
const minute = 60_000;
const hour = 3_600_000;

describe.each(kinds)('the quota of a key, on %s', (kind) => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
    await ledger.db.query('delete from quotas');
    await readQuota(ledger, key);
  });

  /** Runs a test in one transaction, which stops the clock of the database. */
  const atOneInstant =
    <Given extends unknown[]>(test: (...given: Given) => Promise<void>) =>
    (...given: Given): Promise<void> =>
      ledger.db.transaction(async (tx) => {
        ledger = { ...ledger, db: tx as Database };
        await test(...given);
      });
  const take = async ({ priority = 'live' as Priority, mustRemain = 0, count = 1 } = {}) =>
    await spendPermits(ledger, key, priority, { count, mustRemain });
  /** Takes one permit, which has to be granted. */
  const spend = async (given: { priority?: Priority; mustRemain?: number } = {}): Promise<SpentPermit> =>
    (await take(given))!.permit;
  const state = async (): Promise<QuotaState> => await readQuota(ledger, key);
  /** Makes one request whose response reports this. */
  const report = async (limit: number | null, remaining: number, resetInMs: number | null = hour) =>
    await noteAnswer(ledger, key, await spend(), { limit, remaining, resetInMs });
  const refuse = async (
    permit: SpentPermit,
    waitMs: number,
    { limit = null as number | null, untilReset = false } = {},
  ) => await noteRefusal(ledger, key, permit, { limit, waitMs, untilReset });
  /** Moves this row's instants into the past. */
  const pass = async (ms: number) =>
    await ledger.db.query(
      `update quotas set reset_at = reset_at - $1::float8 * interval '1 millisecond',
         ask_at = ask_at - $1::float8 * interval '1 millisecond'`,
      [ms],
    );

  it('is counted and not limited before anything is known about it', async () => {
    await spend();
    expect((await take())!.state).toMatchObject({ limit: null, remaining: null, used: 2, window: 1, resetInMs: null });
  });

  it('grants the requests of a poll together, at most what is left for them', async () => {
    await report(100, 20);
    const some = { count: 8, mustRemain: 10 };
    expect(await take(some)).toMatchObject({ granted: 8, state: { used: 9, remaining: 12 } });
    const rest = await take(some);
    expect(rest).toMatchObject({ granted: 2, state: { used: 11, remaining: 10 } });
    expect(await take(some)).toBeNull();
    await returnPermits(ledger, key, rest!.permit, 2);
    expect(await state()).toMatchObject({ used: 9, remaining: 12 });
  });

  it('grants each permit once, however many processes take some at the same time', async () => {
    await report(200, 100);
    const taken = await Promise.all(Array.from({ length: 20 }, async () => (await take({ count: 8 }))?.granted ?? 0));
    expect(taken.reduce((sum, granted) => sum + granted, 0)).toBe(100);
    expect(await state()).toMatchObject({ remaining: 0, used: 101 });
  });

  it('is the lower of the reported and the counted number of remaining requests', async () => {
    expect(await report(1000, 700)).toMatchObject({ limit: 1000, remaining: 700 });
    const permit = await spend();
    expect(await noteAnswer(ledger, key, permit, { ...nothing, remaining: 705 })).toMatchObject({ remaining: 699 });
    expect(await noteAnswer(ledger, key, permit, { ...nothing, remaining: 650 })).toMatchObject({ remaining: 650 });
  });

  it.each(['2147483647', '4294967295', '999999999999999', '9223372036854775807'])(
    'can be stored and spent if a header reports %s',
    async (value) => {
      for (const name of ['limit', 'remaining', 'reset']) {
        const read = reportedQuota({ [`x-ratelimit-${name}`]: value }, Date.now())!;
        await noteAnswer(ledger, key, await spend(), read);
        const { asks } = await refuse(await spend(), 0, { limit: read.limit });
        expect(asks).toBe(1);
        await ledger.db.query('update quotas set asks = 0, ask_at = null, remaining = request_limit');
      }
    },
  );

  it('follows a change of the plan within a window', async () => {
    await report(1000, 10);
    expect(await report(2000, 1009)).toMatchObject({ limit: 2000, remaining: 1009, window: 1 });
  });

  it('counts no more requests than the service if a limit is reported for the first time', async () => {
    for (let n = 0; n < 39; n += 1) await spend();
    expect(await report(100, 90)).toMatchObject({ limit: 100, remaining: 90, used: 10 });
    expect(await noteAnswer(ledger, key, await spend(), { ...nothing, remaining: 80 })).toMatchObject({ used: 11 });
    expect(await noteAnswer(ledger, key, await spend(), { ...nothing, limit: 5 })).toMatchObject({ used: 5 });
  });

  it('counts no negative number of requests if more remain than the limit allows', async () => {
    await report(6, 3, hour);
    expect(await report(6, 8, 2 * hour)).toMatchObject({ used: 0, remaining: 8, window: 2 });
  });

  it('never counts more than the limit that a refusal names', async () => {
    for (let n = 0; n < 9; n += 1) await spend();
    expect(await refuse(await spend(), 1000, { limit: 6 })).toMatchObject({ limit: 6, used: 6, remaining: 0 });
  });

  it('grants no permit below the minimum that must remain', async () => {
    await report(1000, 101);
    expect(await take({ mustRemain: 100 })).toMatchObject({ state: { remaining: 100 } });
    expect(await take({ mustRemain: 100 })).toBeNull();
    expect(await take({ priority: 'import' })).toMatchObject({ state: { remaining: 99, usedImports: 1 } });
  });

  it('counts sweeps, idle polls and imports separately', async () => {
    await report(1000, 900);
    for (const priority of ['sweep', 'sweep', 'idle', 'import'] as const) await spend({ priority });
    expect(await state()).toMatchObject({ usedSweeps: 2, usedIdle: 1, usedImports: 1, used: 5 });
  });

  it('is not known after the reset until a response reports it, and restarts the count', async () => {
    await report(1000, 0);
    expect(await take()).toBeNull();
    await pass(hour - 600_000);
    expect(await take()).toBeNull();
    await pass(600_000);
    expect(await state()).toMatchObject({ remaining: null, used: 0, resetInMs: null });
    expect(await take()).toMatchObject({ state: { remaining: null, used: 1, window: 2 } });
    expect(await report(1000, 998)).toMatchObject({ remaining: 998, window: 2 });
  });

  it('ignores a response from an earlier window', async () => {
    await report(1000, 500);
    const old = await spend();
    await pass(hour);
    await report(1000, 999);
    expect(await noteAnswer(ledger, key, old, { limit: 1000, remaining: 3, resetInMs: 0 })).toMatchObject({
      remaining: 999,
    });
    expect(await refuse(old, minute)).toMatchObject({ remaining: 999, asks: 0 });
    await returnPermits(ledger, key, old, 1);
    expect(await state()).toMatchObject({ remaining: 999, used: 1 });
  });

  it('detects a new window by its later reset', async () => {
    await report(1000, 3);
    expect(await report(1000, 998, 24 * hour)).toMatchObject({ remaining: 998, used: 2, window: 2 });
  });

  it('without a reported reset detects a new window by an increase of the remaining requests', async () => {
    expect(await report(300, 120, null)).toMatchObject({ limit: 300, remaining: 120, window: 1, resetInMs: null });
    expect(await report(300, 139, null)).toMatchObject({ remaining: 119, window: 1 }); // arrived out of order
    expect(await report(300, 298, null)).toMatchObject({ remaining: 298, used: 2, window: 2 });
  });

  it('without a reported reset is asked by one request after a wait when too little remains', async () => {
    await report(300, 0, null);
    expect(await take()).toBeNull();
    expect(await planAsk(ledger, key, minute)).toMatchObject({ asks: 1, remaining: 0 });
    expect(await planAsk(ledger, key, minute)).toMatchObject({ asks: 1 }); // another process at the same time
    expect(await take()).toBeNull();
    await pass(minute);
    const asking = await take({ count: 8 });
    expect(asking).toMatchObject({ granted: 1, permit: { isAsking: true, asks: 1 }, state: { asks: 2, remaining: 0 } });
    expect(await take()).toBeNull(); // nobody else asks meanwhile
    expect(
      await noteAnswer(ledger, key, asking!.permit, { limit: 300, remaining: 299, resetInMs: null }),
    ).toMatchObject({ remaining: 299, used: 1, asks: 0, askInMs: null, window: 2 });
    expect(await take()).toMatchObject({ permit: { isAsking: false } });
  });

  it('is asked as planned, although responses to earlier requests arrive', async () => {
    await report(300, 1, null);
    const last = await spend();
    expect(await planAsk(ledger, key, minute)).toMatchObject({ asks: 1 });
    expect(await noteAnswer(ledger, key, last, { limit: 300, remaining: 0, resetInMs: null })).toMatchObject({
      asks: 1,
    });
    expect((await state()).askInMs).toBeGreaterThan(0.9 * minute);
  });

  it('is asked again, after a longer wait, if the process that asked got no response', async () => {
    await refuse(await spend(), minute);
    await pass(minute);
    expect(await take()).toMatchObject({ permit: { isAsking: true } });
    await pass(minute);
    expect(await take()).toBeNull();
    await pass(minute);
    expect(await take()).toMatchObject({ permit: { isAsking: true, asks: 2 }, state: { asks: 3 } });
    expect((await state()).askInMs).toBeGreaterThan(3.9 * minute);
  });

  it('receives permits back whose requests were not counted', async () => {
    await report(1000, 500);
    const permit = await spend({ priority: 'sweep' });
    await returnPermits(ledger, key, permit, 1);
    expect(await state()).toMatchObject({ remaining: 500, used: 1, usedSweeps: 0 });
  });

  it('grants no permit after a refusal until the reset that it reports, and then every request', async () => {
    await report(1000, 400);
    const refused = await refuse(await spend(), minute, { limit: 1000, untilReset: true });
    expect(refused).toMatchObject({ remaining: 0, asks: 1, askInMs: null });
    expect(refused.resetInMs).toBeGreaterThan(59_000);
    expect(await take({ priority: 'import' })).toBeNull();
    await pass(minute + 1000);
    expect(await take({ count: 8 })).toMatchObject({ granted: 8, permit: { isAsking: false, asks: 1 } });
    expect(await report(1000, 990)).toMatchObject({ remaining: 990, asks: 0 });
  });

  it(
    'is asked after the wait that a refusal names, although the known reset is later',
    atOneInstant(async () => {
      await report(1000, 400);
      const permit = await spend();
      expect(await refuse(permit, 10_000)).toMatchObject({ asks: 1, remaining: 0, askInMs: 10_000 });
      expect(await refuse(permit, 10_000)).toMatchObject({ asks: 1 }); // a refusal at the same time
      expect(await take()).toBeNull();
      await pass(10_000);
      const asking = await take();
      expect(await take()).toBeNull();
      const response = { limit: 1000, remaining: 399, resetInMs: asking!.state.resetInMs };
      // The window has not ended: what imports have used still counts.
      const before = (await state()).window;
      expect(await noteAnswer(ledger, key, asking!.permit, response)).toMatchObject({ remaining: 399, window: before });
      expect(await take()).toMatchObject({ permit: { isAsking: false } });
    }),
  );

  it('without any report is not limited after a request that asked succeeded, until it is refused again', async () => {
    for (let n = 0; n < 40; n += 1) await spend();
    const permit = await spend();
    expect(await refuse(permit, minute)).toMatchObject({ limit: null, used: 40, remaining: 0 });
    expect(await noteAnswer(ledger, key, permit, nothing)).toMatchObject({ remaining: 0 }); // sent before the refusal
    await pass(minute);
    expect(await noteAnswer(ledger, key, await spend(), nothing)).toMatchObject({ remaining: null, used: 1, asks: 0 });
    expect(await take({ count: 8 })).toMatchObject({ granted: 8, state: { used: 9 } });
  });

  it.each([
    ['the window has not ended', hour, { limit: 1000, remaining: 690, resetInMs: hour }, 2],
    ['the quota was raised within the window', hour, { limit: 5000, remaining: 4690, resetInMs: hour }, 2],
    ['a new window has started', hour, { limit: 1000, remaining: 999, resetInMs: 2 * hour }, 0],
    ['the service reports no reset and no increase', null, { limit: 1000, remaining: 690, resetInMs: null }, 2],
    ['the service reports no reset but an increase', null, { limit: 1000, remaining: 999, resetInMs: null }, 0],
  ] as const)(
    'that an operator has tried has the remaining requests of the response; imports keep their count: %s',
    atOneInstant(async (_case, resetInMs, response, usedImports) => {
      const first = await spend({ priority: 'import' });
      await noteAnswer(ledger, key, first, { limit: 1000, remaining: 700, resetInMs });
      const { window } = await spend({ priority: 'import' });
      expect(await take({ priority: 'sweep', mustRemain: 900 })).toBeNull();
      await askNow(ledger, key);
      const asking = await spend({ priority: 'sweep', mustRemain: 900 });
      expect(asking).toMatchObject({ isAsking: true, asks: 0 });
      expect(await noteAnswer(ledger, key, asking, response)).toMatchObject({
        limit: response.limit,
        remaining: response.remaining,
        usedImports,
        window: usedImports === 0 ? window + 1 : window,
      });
    }),
  );

  it('belongs to one key', async () => {
    await report(1000, 0);
    await readQuota(ledger, 'another');
    expect(await spendPermits(ledger, 'another', 'live', { count: 1, mustRemain: 0 })).toMatchObject({
      state: { used: 1 },
    });
    expect([...(await readQuotas(ledger, [key, 'another', 'unheard-of'])).keys()].toSorted()).toEqual(['another', key]);
  });

  it('does not change the durability of other statements', async () => {
    const setting = () => ledger.db.query(`select current_setting('synchronous_commit') as value`);
    const [before] = await setting();
    const after = await Promise.all(Array.from({ length: 5 }, () => spend().then(setting)));
    expect(after.flat()).toEqual(Array.from({ length: 5 }, () => before));
  });
});
