import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { readQuota as reportedQuota } from '../../pigeonhole/response.js';
import {
  allowProbe,
  noteAnswer,
  notePassed,
  noteRefusal,
  noteUsedUp,
  type Priority,
  type QuotaState,
  readQuota,
  readQuotas,
  type SpentPermit,
  spendPermits,
} from './quota.js';

const databases = useBothDatabases({ isDurable: true });
const key = 'fingerprint';
const nothing = { limit: null, remaining: null, resetInMs: null };
const hour = 3_600_000;

describe.each(kinds)('the quota of a key, on %s', (kind) => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
    await ledger.db.query('delete from quotas');
    await readQuota(ledger, key);
  });

  /** Runs a test in one transaction, which stops the clock of the database, in a window that has just started. */
  const atOneInstant =
    <Given extends unknown[]>(test: (...given: Given) => Promise<void>) =>
    (...given: Given): Promise<void> =>
      ledger.db.transaction(async (tx) => {
        await tx.query('update quotas set window_from = now()');
        ledger = { ...ledger, db: tx as Database };
        await test(...given);
      });
  const spend = async (
    limit: number | null,
    { priority = 'live' as Priority, mustRemain = 0, exclusiveBelow = 0 } = {},
  ) => (await spendPermits(ledger, key, priority, { count: 1, limit, mustRemain, exclusiveBelow }))?.state ?? null;
  const permit = (state: QuotaState | null, more: Partial<SpentPermit> = {}): SpentPermit => ({
    priority: 'live',
    window: state!.window,
    probe: state!.refusals > 0,
    exclusive: false,
    ...more,
  });
  const report = (limit: number, remaining: number, resetInMs = hour) =>
    spend(null).then((state) => noteAnswer(ledger, key, permit(state), { limit, remaining, resetInMs }));
  /** Moves this row's instants into the past. */
  const pass = (ms: number) =>
    ledger.db.query(
      `update quotas set window_from = window_from - $1::float8 * interval '1 millisecond',
         reset_at = reset_at - $1::float8 * interval '1 millisecond',
         limit_until = limit_until - $1::float8 * interval '1 millisecond',
         wait_until = wait_until - $1::float8 * interval '1 millisecond',
         alone_until = alone_until - $1::float8 * interval '1 millisecond'`,
      [ms],
    );

  it('grants the requests of a poll together, at most what is left for them', async () => {
    await report(100, 20);
    const take = async (count: number, mustRemain: number) =>
      await spendPermits(ledger, key, 'live', { count, limit: 100, mustRemain, exclusiveBelow: 0 });
    expect(await take(8, 10)).toMatchObject({ granted: 8, state: { used: 9, remaining: 12 } });
    const rest = await take(8, 10);
    expect(rest).toMatchObject({ granted: 2, state: { used: 11, remaining: 10 } });
    expect(await take(8, 10)).toBeNull();
    await notePassed(ledger, key, permit(rest!.state), false, 2);
    expect(await readQuota(ledger, key)).toMatchObject({ used: 9, remaining: 12 });
  });

  it('grants each permit once, however many processes take some at the same time', async () => {
    await report(200, 100);
    const taken = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const terms = { count: 8, limit: 200, mustRemain: 0, exclusiveBelow: 0 };
        return (await spendPermits(ledger, key, 'live', terms))?.granted ?? 0;
      }),
    );
    expect(taken.reduce((sum, granted) => sum + granted, 0)).toBe(100);
    expect(await readQuota(ledger, key)).toMatchObject({ remaining: 0 });
  });

  it('is counted and not limited before anything is known about it', async () => {
    const states = [await spend(null), await spend(null)];
    expect(states).toMatchObject([
      { limit: null, remaining: null, used: 1, window: 1 },
      { used: 2, resetReported: false },
    ]);
  });

  it('is the lower of the reported and the counted number of remaining requests', async () => {
    expect(await report(1000, 700)).toMatchObject({
      limit: 1000,
      limitReported: true,
      remaining: 700,
      resetReported: true,
    });
    const spent = await spend(1000);
    expect(spent).toMatchObject({ remaining: 699 });
    expect(await noteAnswer(ledger, key, permit(spent), { ...nothing, remaining: 705 })).toMatchObject({
      remaining: 699,
    });
    expect(await noteAnswer(ledger, key, permit(spent), { ...nothing, remaining: 650 })).toMatchObject({
      remaining: 650,
    });
  });

  it.each(['2147483647', '4294967295', '999999999999999', '9223372036854775807'])(
    'can be stored and spent if a header reports %s',
    async (value) => {
      for (const name of ['limit', 'remaining', 'reset']) {
        const read = reportedQuota({ [`x-ratelimit-${name}`]: value }, Date.now())!;
        const { limit } = await noteAnswer(
          ledger,
          key,
          permit(await spend((await readQuota(ledger, key)).limit)),
          read,
        );
        expect(await noteRefusal(ledger, key, permit(await spend(limit)), { ...read, waitMs: 0 })).toMatchObject({
          refusals: 1,
        });
        await ledger.db.query('update quotas set refusals = 0, wait_until = null, remaining = request_limit');
      }
    },
  );

  it('follows a change of the plan within a window', async () => {
    await report(1000, 10);
    const spent = await spend(1000);
    expect(
      await noteAnswer(ledger, key, permit(spent), { limit: 2000, remaining: 1009, resetInMs: hour }),
    ).toMatchObject({ limit: 2000, remaining: 1009 });
  });

  it('restarts the count when a quota appears, or shrinks below the count', async () => {
    for (let n = 0; n < 9; n += 1) await spend(null);
    const spent = await spend(null);
    expect(spent).toMatchObject({ used: 10, limit: null });
    expect(await noteAnswer(ledger, key, permit(spent), { limit: 6, remaining: 5, resetInMs: hour })).toMatchObject({
      limit: 6,
      used: 1,
      remaining: 5,
    });
    const again = await spend(6);
    expect(await noteAnswer(ledger, key, permit(again), { ...nothing, limit: 1 })).toMatchObject({
      used: 1,
      remaining: 0,
    });
  });

  it.each([
    ['does not include', 99],
    ['includes', 98],
  ])(
    'counts a concurrent request once if the first reported rest %s it',
    atOneInstant(async (_, remaining) => {
      const first = await spend(null);
      const concurrent = permit(await spend(null));
      const reported = { limit: 100, remaining, resetInMs: hour };
      expect(await noteAnswer(ledger, key, permit(first), reported)).toMatchObject({
        limit: 100,
        used: 2,
        remaining: 98,
      });
      expect(await noteAnswer(ledger, key, concurrent, reported)).toMatchObject({ remaining: 98 });
    }),
  );

  it('restarts the count when a limit appears in a window of which the service has counted much less', async () => {
    for (let n = 0; n < 39; n += 1) await spend(null);
    const spent = permit(await spend(null), { priority: 'import' });
    expect(await noteAnswer(ledger, key, spent, { limit: 100, remaining: 90, resetInMs: hour })).toMatchObject({
      used: 10,
      remaining: 90,
      window: 2,
    });
  });

  it('counts no negative number of requests if more remain than the limit allows', async () => {
    for (let n = 0; n < 9; n += 1) await spend(null);
    const reported = { limit: 6, remaining: 8, resetInMs: hour };
    expect(await noteAnswer(ledger, key, permit(await spend(null)), reported)).toMatchObject({ used: 0, remaining: 8 });
  });

  it('never counts more than the limit that a refusal names', async () => {
    for (let n = 0; n < 9; n += 1) await spend(null);
    const refused = await noteRefusal(ledger, key, permit(await spend(null)), {
      limit: 6,
      remaining: 0,
      resetInMs: hour,
      waitMs: 1000,
    });
    expect(refused).toMatchObject({ limit: 6, used: 6, remaining: 0 });
  });

  it('grants no permit below the minimum that must remain, nor if the caller assumes another limit', async () => {
    await report(1000, 101);
    expect(await spend(null)).toBeNull();
    expect(await spend(1000, { mustRemain: 100 })).toMatchObject({ remaining: 100 });
    expect(await spend(1000, { mustRemain: 100 })).toBeNull();
    expect(await spend(1000, { priority: 'import' })).toMatchObject({ remaining: 99, usedImports: 1 });
  });

  it('is never overspent by concurrent callers', async () => {
    await report(1000, 10);
    const all = await Promise.all(Array.from({ length: 25 }, () => spend(1000)));
    expect(all.filter((state) => state !== null)).toHaveLength(10);
    expect(await readQuota(ledger, key)).toMatchObject({ remaining: 0, used: 11 });
  });

  it('counts sweeps, idle polls and imports separately', async () => {
    await report(1000, 900);
    for (const priority of ['sweep', 'sweep', 'idle', 'import'] as const) await spend(1000, { priority });
    expect(await readQuota(ledger, key)).toMatchObject({ usedSweeps: 2, usedIdle: 1, usedImports: 1, used: 5 });
  });

  it(
    'allows one request at a time near its end, until the response or the deadline',
    atOneInstant(async () => {
      await report(1000, 20);
      const first = await spend(1000, { exclusiveBelow: 20 });
      expect(first).toMatchObject({ remaining: 19 });
      expect(await spend(1000, { exclusiveBelow: 20 })).toBeNull();
      await noteAnswer(ledger, key, permit(first, { exclusive: true }), nothing);
      expect(await spend(1000, { exclusiveBelow: 20 })).toMatchObject({ remaining: 18 });
      expect(await spend(1000, { exclusiveBelow: 20 })).toBeNull();
      await pass(36_000);
      expect(await spend(1000, { exclusiveBelow: 20 })).toMatchObject({ remaining: 17 });
    }),
  );

  it('is full after the reset and restarts the count', async () => {
    await report(1000, 0);
    expect(await spend(1000)).toBeNull();
    await pass(hour - 600_000);
    expect(await spend(1000)).toBeNull();
    await pass(600_000);
    expect(await readQuota(ledger, key)).toMatchObject({ remaining: 1000, used: 0, resetInMs: 0 });
    expect(await spend(1000)).toMatchObject({ remaining: 999, used: 1, window: 2, resetReported: false });
  });

  it('without a reported reset has a window no longer than the longest reported one', async () => {
    await report(31, 30, hour);
    const second = permit(await spend(31));
    await noteAnswer(ledger, key, second, { limit: 31, remaining: 29, resetInMs: hour / 2 });
    await pass(hour);
    const silent = await spend(31);
    expect(silent).toMatchObject({ window: 2, remaining: 30, resetReported: false });
    expect(silent!.resetInMs).toBeLessThanOrEqual(hour);
    expect(silent!.resetInMs).toBeGreaterThan(hour / 2);
    for (let n = 0; n < 30; n += 1) await spend(31);
    expect(await spend(31)).toBeNull();
    await pass(hour);
    expect(await spend(31)).toMatchObject({ window: 3 });
  });

  it('ignores a response from an earlier window', async () => {
    const old = permit(await report(1000, 500));
    await pass(hour);
    await spend(1000);
    expect(await noteAnswer(ledger, key, old, { limit: 1000, remaining: 3, resetInMs: 0 })).toMatchObject({
      remaining: 999,
      resetReported: false,
    });
    await notePassed(ledger, key, old, false);
    expect(await readQuota(ledger, key)).toMatchObject({ remaining: 999, used: 1 });
  });

  it('detects a new window by its later reset', async () => {
    await report(1000, 3);
    const spent = await spend(1000);
    const state = await noteAnswer(ledger, key, permit(spent), { limit: 1000, remaining: 998, resetInMs: 24 * hour });
    expect(state).toMatchObject({ remaining: 998, used: 2, window: 2 });
  });

  it(
    'without a reported reset detects a new window by an increase of the remaining requests',
    atOneInstant(async () => {
      const say = async (remaining: number): Promise<QuotaState> => {
        const spent = await spend((await readQuota(ledger, key)).limit);
        return await noteAnswer(ledger, key, permit(spent), { limit: 300, remaining, resetInMs: null });
      };
      expect(await say(120)).toMatchObject({ limit: 300, remaining: 120, window: 1, resetReported: false });
      expect(await say(149)).toMatchObject({ remaining: 119, window: 1 }); // a response that arrived out of order
      await pass(90_000);
      const state = await say(298);
      expect(state).toMatchObject({ remaining: 298, used: 2, window: 2 });
      expect(state.resetInMs).toBeGreaterThan(60_000);
      expect(state.resetInMs).toBeLessThan(120_000);
    }),
  );

  it(
    'must last four times as long as its window so far if the length of the window is unknown',
    atOneInstant(async () => {
      const say = async (remaining: number, resetInMs: number | null): Promise<QuotaState> => {
        const spent = await spend((await readQuota(ledger, key)).limit);
        return await noteAnswer(ledger, key, permit(spent), { limit: 300, remaining, resetInMs });
      };
      expect((await say(290, null)).planInMs).toBe(60_000);
      await pass(hour / 4);
      const { planInMs, resetInMs } = await say(200, null);
      expect(planInMs / hour).toBeCloseTo(1, 1);
      expect(resetInMs).toBeGreaterThan(20 * hour);
      const learnt = await say(298, null);
      expect(learnt.planInMs).toBe(learnt.resetInMs);
      expect((await say(290, 5 * hour)).planInMs / hour).toBeCloseTo(5, 1);
    }),
  );

  it('without a reported reset is probed when no request remains', async () => {
    const spent = await spend(null);
    await noteAnswer(ledger, key, permit(spent), { limit: 300, remaining: 0, resetInMs: null });
    expect(await spend(300)).toBeNull();
    expect(await noteUsedUp(ledger, key, 60_000)).toMatchObject({ refusals: 1, remaining: null });
    expect(await noteUsedUp(ledger, key, 60_000)).toMatchObject({ refusals: 1 }); // another process at the same time
    expect(await spend(300)).toBeNull();
    await pass(60_000);
    const probe = await spend(300, { exclusiveBelow: 6 });
    expect(probe).toMatchObject({ refusals: 1 });
    expect(await spend(300, { exclusiveBelow: 6 })).toBeNull(); // the probe is exclusive
    expect(
      await noteAnswer(ledger, key, permit(probe, { exclusive: true }), {
        limit: 300,
        remaining: 299,
        resetInMs: null,
      }),
    ).toMatchObject({ remaining: 299, refusals: 0, window: 2 });
  });

  it('receives a permit back if the service certainly did not count the request', async () => {
    await report(1000, 500);
    const spent = await spend(1000, { priority: 'sweep' });
    await notePassed(ledger, key, permit(spent, { priority: 'sweep' }), true);
    expect(await readQuota(ledger, key)).toMatchObject({ remaining: 499, used: 2, usedSweeps: 1 });
    await notePassed(ledger, key, permit(spent, { priority: 'sweep' }), false);
    expect(await readQuota(ledger, key)).toMatchObject({ remaining: 500, used: 1, usedSweeps: 0 });
  });

  it('grants no permit until the wait after a refusal ends, and then one at a time until a response', async () => {
    await report(1000, 400);
    const spent = await spend(1000);
    const state = await noteRefusal(ledger, key, permit(spent), {
      limit: 1000,
      remaining: 0,
      resetInMs: 60_000,
      waitMs: 60_000,
    });
    expect(state).toMatchObject({ remaining: 0, refusals: 1, limit: 1000 });
    expect(state.waitMs).toBeGreaterThan(59_000);
    expect(await spend(1000, { priority: 'import' })).toBeNull();
    await pass(61_000);
    const probe = await spend(1000);
    expect(probe).toMatchObject({ window: 2, remaining: 999 });
    expect(await spend(1000)).toBeNull();
    expect(await noteAnswer(ledger, key, permit(probe, { exclusive: true }), nothing)).toMatchObject({
      window: 2,
      remaining: 999,
      refusals: 0,
    });
    expect(await spend(1000)).toMatchObject({ remaining: 998 });
  });

  it.each([
    ['reports no quota', nothing],
    ['reports remaining requests', { limit: 1000, remaining: 399, resetInMs: hour }],
  ])(
    'is probed after the wait, not only after the reset, if a refusal %s',
    atOneInstant(async (_, refusal) => {
      await report(1000, 400);
      const spent = await spend(1000);
      // The service reports the same reset again.
      const resetInMs = refusal.resetInMs === null ? null : spent!.resetInMs;
      const refused = { ...refusal, resetInMs, waitMs: 10_000 };
      expect(await noteRefusal(ledger, key, permit(spent), refused)).toMatchObject({ refusals: 1 });
      expect(await spend(1000)).toBeNull();
      await pass(10_000);
      const probe = await spend(1000);
      expect(await spend(1000)).toBeNull();
      const response = { limit: 1000, remaining: 399, resetInMs: probe!.resetInMs };
      expect(await noteAnswer(ledger, key, permit(probe, { exclusive: true }), response)).toMatchObject({
        remaining: 399,
        window: 1,
        refusals: 0,
      });
    }),
  );

  it('is used up until the reset if a refusal without a quota asks to wait for so long', async () => {
    await report(1000, 400);
    const refused = permit(await spend(1000));
    expect(await noteRefusal(ledger, key, refused, { ...nothing, waitMs: hour })).toMatchObject({ remaining: 0 });
  });

  /** Uses up a window for which the service reports no quota, until requests are refused. */
  async function window(accepted: number, inFlight = 3): Promise<QuotaState> {
    const limit = (await readQuota(ledger, key)).limit;
    const permits: SpentPermit[] = [];
    for (let n = (await readQuota(ledger, key)).used; n < accepted + inFlight; n += 1)
      permits.push(permit(await spend(limit)));
    let state = await readQuota(ledger, key);
    for (const refused of permits.slice(-inFlight))
      state = await noteRefusal(ledger, key, refused, { ...nothing, waitMs: 60_000 });
    return state;
  }

  async function fullAgain(afterMs: number): Promise<QuotaState> {
    await pass(afterMs);
    const probe = await spend((await readQuota(ledger, key)).limit);
    return await noteAnswer(ledger, key, permit(probe, { exclusive: true }), nothing);
  }

  it('is learnt from a refusal in a window whose start was observed, without the refused requests', async () => {
    // The start of the first window was not observed: other requests may have used part of it.
    expect(await window(40)).toMatchObject({ limit: null, used: 40, refusals: 1 });
    expect(await fullAgain(hour)).toMatchObject({ limit: null, window: 2, used: 1, refusals: 0, remaining: null });
    expect(await window(40)).toMatchObject({ limit: 40, limitReported: false, used: 40, remaining: null });
    const state = await fullAgain(hour / 2);
    expect(state).toMatchObject({ limit: 40, window: 3, used: 1, remaining: 39 });
    expect(state.resetInMs).toBeLessThanOrEqual(0.6 * hour); // the shortest window observed
  });

  it('is learnt without requests that may not have arrived', async () => {
    await window(40);
    const state = await fullAgain(hour);
    await notePassed(ledger, key, permit(state), 'unsure');
    expect(await window(40)).toMatchObject({ limit: 39, used: 40 });
    await notePassed(ledger, key, permit(state), 'unsure'); // another request, which ends after the refusal
    expect(await readQuota(ledger, key)).toMatchObject({ limit: 38, used: 40 });
    await notePassed(ledger, key, permit(state), false);
    expect(await readQuota(ledger, key)).toMatchObject({ limit: 37, used: 39 });
    await notePassed(ledger, key, permit(state), true);
    expect(await readQuota(ledger, key)).toMatchObject({ limit: 37, used: 39 });
  });

  it('that was learnt is replaced by a reported one, and expires after seven windows', async () => {
    await window(40);
    await fullAgain(hour);
    await window(40);
    await fullAgain(hour);
    const spent = await spend(40);
    await pass(7.5 * hour);
    expect(await readQuota(ledger, key)).toMatchObject({ limit: null, remaining: null });
    expect(await spend(null)).toMatchObject({ limit: null, remaining: null, used: 1 });
    expect(await noteAnswer(ledger, key, permit(spent), { limit: 100, remaining: 90, resetInMs: hour })).toMatchObject({
      limit: 100,
      limitReported: true,
    });
  });

  it('that was learnt expires after seven of the windows observed since, however long they seemed before', async () => {
    await window(40);
    await fullAgain(hour);
    await window(40);
    expect(await fullAgain(120_000)).toMatchObject({ limit: 40 });
    await pass(7.5 * 120_000);
    expect(await readQuota(ledger, key)).toMatchObject({ limit: null });
  });

  it('without a reported reset is probed repeatedly, and each refused probe counts as one refusal', async () => {
    await window(10, 4);
    await pass(60_000);
    const probe = await spend(null);
    const state = await noteRefusal(ledger, key, permit(probe, { exclusive: true }), { ...nothing, waitMs: 120_000 });
    expect(state).toMatchObject({ refusals: 2, used: 10 });
    expect(state.waitMs).toBeGreaterThan(119_000);
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
      const first = await spend(null, { priority: 'import' });
      await noteAnswer(ledger, key, permit(first), { limit: 1000, remaining: 700, resetInMs });
      const before = await spend(1000, { priority: 'import' });
      await allowProbe(ledger, key, 0.2);
      const probe = await spend(1000, { priority: 'sweep', mustRemain: 900 });
      // The known reset does not move.
      const again = response.resetInMs === hour ? probe!.resetInMs : response.resetInMs;
      expect(await noteAnswer(ledger, key, permit(probe), { ...response, resetInMs: again })).toMatchObject({
        limit: response.limit,
        remaining: response.remaining,
        usedImports,
        window: usedImports === 0 ? before!.window + 1 : before!.window,
        refusals: 0,
      });
    }),
  );

  it('belongs to one key', async () => {
    await report(1000, 0);
    await readQuota(ledger, 'another');
    expect(
      await spendPermits(ledger, 'another', 'live', { count: 1, limit: null, mustRemain: 0, exclusiveBelow: 0 }),
    ).toMatchObject({ state: { used: 1 } });
    expect([...(await readQuotas(ledger, [key, 'another', 'unheard-of'])).keys()].toSorted()).toEqual(['another', key]);
  });

  it('does not change the durability of other statements', async () => {
    const setting = () => ledger.db.query(`select current_setting('synchronous_commit') as value`);
    const [before] = await setting();
    const after = await Promise.all(Array.from({ length: 5 }, () => spend(null).then(setting)));
    expect(after.flat()).toEqual(Array.from({ length: 5 }, () => before));
  });
});
