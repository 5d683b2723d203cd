import { randomUUID } from 'node:crypto';
import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { beginCanary, canariesLeft, type NewCanary, noteCanary, takeAbandonedCanaries } from './canaries.js';

const databases = useBothDatabases();
const one = { owner: 'one', leaseMs: 60_000 };
const other = { owner: 'other', leaseMs: 60_000 };
const died = { owner: 'one', leaseMs: 0 };

/** Another one for each test: the tests of a file share a store. */
let place = { workspace: 'acme', pigeonholeId: 0 };
beforeEach(() => {
  place = { ...place, pigeonholeId: place.pigeonholeId + 10 };
});

let marks = 0;
const canary = (more: Partial<NewCanary> = {}): NewCanary => ({
  mark: (marks += 1),
  ...place,
  sink: 'crm',
  list: 'attendees',
  changeId: randomUUID(),
  withdrawalId: randomUUID(),
  ...more,
});

describe.each(kinds)('a canary on %s', (kind) => {
  const open = async () => await openLedger(databases.of(kind), testKey);

  it('is one at a time for a sink and pigeonhole, and beside those of others', async () => {
    const ledger = await open();
    expect(await beginCanary(ledger, canary(), one)).toMatchObject({ state: 'sending', object: null, memory: {} });
    expect(await beginCanary(ledger, canary(), other)).toBeUndefined();
    expect(await beginCanary(ledger, canary({ sink: 'hooks' }), one)).toMatchObject({ sink: 'hooks' });
    const elsewhere = { pigeonholeId: place.pigeonholeId + 1 };
    expect(await beginCanary(ledger, canary(elsewhere), one)).toMatchObject(elsewhere);
  });

  it('allows the next one once it is settled or left to an operator', async () => {
    const ledger = await open();
    for (const state of ['settled', 'left'] as const) {
      const begun = (await beginCanary(ledger, canary(), one))!;
      await noteCanary(ledger, { ...begun, state }, one);
      expect(await canariesLeft(ledger, place)).toHaveLength(state === 'left' ? 1 : 0);
    }
    expect(await beginCanary(ledger, canary(), one)).toBeDefined();
    expect(await canariesLeft(ledger, place)).toEqual([]); // its lease is held
  });

  it('is taken over by one process after its lease expires, with the object that the sink created', async () => {
    const ledger = await open();
    const begun = (await beginCanary(ledger, canary(), one))!;
    const standing = {
      ...begun,
      state: 'standing' as const,
      object: { id: '7' },
      memory: { a: [1] },
      detail: 'HTTP 200',
    };
    await noteCanary(ledger, standing, died);

    expect(await canariesLeft(ledger, place)).toEqual([standing]);
    expect(await takeAbandonedCanaries(ledger, { ...place, pigeonholeId: 1 }, other)).toEqual([]);
    expect(await takeAbandonedCanaries(ledger, place, other)).toEqual([standing]);
    expect(await takeAbandonedCanaries(ledger, place, one)).toEqual([]);
    await expect(noteCanary(ledger, standing, one)).rejects.toThrow('taken over by another process');
  });

  it('is never taken over while its process is at it, nor once it is over', async () => {
    const ledger = await open();
    const begun = (await beginCanary(ledger, canary(), one))!;
    expect(await takeAbandonedCanaries(ledger, place, other)).toEqual([]);
    await noteCanary(ledger, { ...begun, state: 'settled' }, died);
    expect(await takeAbandonedCanaries(ledger, null, other)).toEqual([]);
  });
});
