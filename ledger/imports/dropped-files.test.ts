import { randomUUID } from 'node:crypto';
import { kinds, useBothDatabases } from '../drivers/both-databases.test-kit.js';
import { testKey } from '../ledger-key.test-kit.js';
import { type Ledger, openLedger } from '../ledger.js';
import { pigeonholeNumberOf } from '../pigeonholes.js';
import { claimDroppedFile, type DroppedFile, freeDroppedFiles, giveBackDroppedFile } from './dropped-files.js';

const databases = useBothDatabases();

describe.each(kinds)('a dropped file on %s', (kind) => {
  let ledger: Ledger;
  let file: DroppedFile;
  let number = 0;

  beforeEach(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
    file = {
      pigeonholeNumber: await pigeonholeNumberOf(ledger, 'acme', 101),
      contentHash: Buffer.alloc(32, (number += 1)),
    };
  });
  const claim = (terms = 1) =>
    claimDroppedFile(ledger, file, { importId: randomUUID(), termsHash: Buffer.alloc(32, terms), owner: 'process' });

  it('that was being read when three processes ended stays unusable until it is read with other terms', async () => {
    for (let start = 0; start < 3; start += 1) {
      expect(await claim()).toMatchObject({ state: 'claimed' });
      await freeDroppedFiles(ledger); // what the next start does after a kill
    }
    const aside = {
      state: 'unusable',
      problem: expect.stringContaining('crashed 3 times while it was reading this file'),
    };
    expect(await claim()).toMatchObject(aside);
    await freeDroppedFiles(ledger);
    expect(await claim()).toMatchObject(aside);
    expect(await claim(2)).toMatchObject({ state: 'claimed' }); // other terms, such as another mapping
  });

  it('that was released properly can be claimed again any number of times', async () => {
    for (let look = 0; look < 5; look += 1) {
      expect(await claim()).toMatchObject({ state: 'claimed' });
      await giveBackDroppedFile(ledger, file, 'process');
    }
  });
});
