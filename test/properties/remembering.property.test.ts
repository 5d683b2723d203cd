import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { runRemembering } from './remembering.js';

const databases = useBothDatabases();

/** Some histories with quiet rounds. `npm run properties` plays a thousand. */
const runs = 5;
const seed = 13;

// A reader decides by what it remembers, which has to be what the ledger would tell it (decision 0088).
describe('a reader that remembers', () => {
  it('leaves the ledger that one leaves which forgets everything before each round', async () => {
    const db = databases.of(kinds.at(-1)!); // reading makes the same decisions on both
    await openLedger(db, testKey);
    const { failures, quietRounds } = await runRemembering(db, { runs, seed });
    expect(failures.map(({ seed: failed, what }) => `seed ${failed}: ${what}`)).toEqual([]);
    expect(quietRounds).toBeGreaterThan(runs); // otherwise nothing was remembered
  }, 600_000);
});
