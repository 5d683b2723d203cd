import { ApiError, type ApiErrorFacts, type ApiErrorKind } from '../../pigeonhole/api-error.js';
import { PermitRefusal } from '../../requests/quota-rules.js';
import {
  judgeRequestFailure,
  claimedIds,
  dropIntent,
  type Intent,
  intendCreation,
  type Provisioned,
  provisionedOf,
  settleCreation,
} from './create-object.js';
import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';

const failed = (kind: ApiErrorKind, facts: Partial<ApiErrorFacts> = {}): ApiError =>
  new ApiError(
    { method: 'GET', path: '/v2/pigeonholes' },
    { kind, problem: 'it failed', mayHaveTakenEffect: false, ...facts },
  );
const quota = { limit: 10, remaining: 0, resetInMs: 5000, resetAtMs: 105_000 };

it.each<[string, ApiError | PermitRefusal, object]>([
  [
    'a refused permit',
    new PermitRefusal({ scope: 'key', reason: 'used-up', waitMs: 77 }),
    { kind: 'wait', why: 'quota', waitMs: 77 },
  ],
  ['code 8000 with a reset', failed('quota', { quota }), { kind: 'wait', why: 'quota', waitMs: 5000 }],
  ['code 8000 without a reset', failed('quota'), { kind: 'wait', why: 'quota', waitMs: 60_000 }],
  ['throttling', failed('throttled', { retryAfterMs: 9000 }), { kind: 'wait', why: 'throttled', waitMs: 9000 }],
  ['a network failure', failed('transient'), { kind: 'wait', why: 'unreachable', waitMs: 2000 }],
  ['the end of the process', failed('aborted'), { kind: 'wait', why: 'stopping' }],
  ['a refused key', failed('credential'), { kind: 'stop', why: 'credential' }],
  ['a refused field', failed('invalid'), { kind: 'stop', why: 'refused' }],
  ['a response that violates the contract', failed('protocol'), { kind: 'stop', why: 'refused' }],
])('%s means %j', (_, error, expected) => {
  expect(judgeRequestFailure(error, 100_000)).toMatchObject(expected);
});

const databases = useBothDatabases();
const opening = { workspace: 'acme', event: 'summit', object: 'opening' };
const closing = { ...opening, object: 'closing' };
const intent: Intent = { parentId: 101, attempt: 0, sent: { name: 'Opening' }, knownBefore: [7, 9], by: 'ada' };
const claim = { parentId: 101, remoteId: 5001, attempt: 0, by: null };

describe.each(kinds)('the objects of an event file, on %s', (kind) => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
    await ledger.db.query('delete from provisioned');
  });

  const stored = async (): Promise<Provisioned | undefined> => (await provisionedOf(ledger, opening)).get('opening');

  it('store what is sent before the response arrives', async () => {
    expect(await intendCreation(ledger, opening, intent)).toBe(1);
    expect(await stored()).toMatchObject({
      object: 'opening',
      parentId: 101,
      state: 'sending',
      attempt: 1,
      remoteId: null,
      sent: { name: 'Opening' },
      knownBefore: [7, 9],
    });
    expect((await stored())!.sentMsAgo).toBeLessThan(60_000);
    expect(await provisionedOf(ledger, { workspace: 'acme', event: 'autumn' })).toEqual(new Map());
  });

  it('are sent by only one of several processes that decide to send them', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => intendCreation(ledger, opening, intent)));
    expect(all.filter((attempt) => attempt !== undefined)).toEqual([1]);
    const again = await Promise.all(
      Array.from({ length: 5 }, () => intendCreation(ledger, opening, { ...intent, attempt: 1 })),
    );
    expect(again.filter((attempt) => attempt !== undefined)).toEqual([2]);
  });

  it('are not sent with an attempt number that does not follow the stored one', async () => {
    expect(await intendCreation(ledger, opening, { ...intent, attempt: 3 })).toBeUndefined();
    expect(await settleCreation(ledger, opening, { ...claim, attempt: 3 })).toBe(false);
    expect(await stored()).toBeUndefined();
  });

  it('exist once their latest attempt is settled, and ignore an earlier attempt', async () => {
    await intendCreation(ledger, opening, intent);
    await intendCreation(ledger, opening, { ...intent, attempt: 1 });
    expect(await settleCreation(ledger, opening, { ...claim, attempt: 1 })).toBe(false);
    await dropIntent(ledger, opening, 1);
    expect(await stored()).toMatchObject({ state: 'sending', attempt: 2 });
    expect(await settleCreation(ledger, opening, { ...claim, attempt: 2 })).toBe(true);
    expect(await stored()).toMatchObject({ state: 'made', remoteId: 5001, attempt: 3 });
    expect(await claimedIds(ledger, 'acme', 101)).toEqual(new Map([[5001, 'summit/opening']]));
    expect(await claimedIds(ledger, 'acme', 102)).toEqual(new Map());
  });

  it('continue to count attempts after one that created nothing', async () => {
    await intendCreation(ledger, opening, intent);
    await dropIntent(ledger, opening, 1);
    expect(await stored()).toMatchObject({ state: 'none', remoteId: null });
    expect(await intendCreation(ledger, opening, intent)).toBeUndefined();
    expect(await intendCreation(ledger, opening, { ...intent, attempt: 1 })).toBe(2);
  });

  it('can be claimed without a request, each id by only one object', async () => {
    expect(await settleCreation(ledger, opening, claim)).toBe(true);
    expect(await settleCreation(ledger, closing, claim)).toBe(false);
    expect(await settleCreation(ledger, { ...opening, event: 'autumn' }, claim)).toBe(false);
    // ids of pigeonholes and of sessions are independent
    expect(await settleCreation(ledger, { ...opening, object: 'pigeonhole' }, { ...claim, parentId: 0 })).toBe(true);
    const all = [opening, closing].map((name) =>
      settleCreation(ledger, name, { ...claim, remoteId: 5011, attempt: 1 }),
    );
    expect(await Promise.all(all)).toEqual([true, false]);
    expect(await stored()).toMatchObject({ remoteId: 5011 });
  });

  it('can be sent again after they were deleted', async () => {
    await settleCreation(ledger, opening, claim);
    expect(await intendCreation(ledger, opening, { ...intent, parentId: 102, attempt: 1 })).toBe(2);
    expect(await stored()).toMatchObject({ state: 'sending', parentId: 102, remoteId: null });
  });
});
