import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import {
  claimedIds,
  dropIntent,
  type Intent,
  intendCreation,
  type Provisioned,
  provisionedOf,
  settleCreation,
} from './provisioned-objects.js';

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
