import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { openLedger } from './ledger.js';
import { LedgerKey } from './ledger-key.js';
import { KeyedHash } from './keyed-hash.js';
import { testKey } from './ledger-key.test-kit.js';
import { keptCredentials } from './kept-credentials.js';

const databases = useBothDatabases();
let at = 0;
/** A different name for each test, because the tests of a file share a store. */
const configured = (): string => `xoxe-1-configured-${(at += 1)}`;

describe.each(kinds)('a credential that changes with use on %s', (kind) => {
  const open = async () => await openLedger(databases.of(kind), testKey);

  it('is replaced by one process at a time, and every process reads the new value', async () => {
    const ledger = await open();
    const [one, other] = [keptCredentials(ledger), keptCredentials(ledger)];
    const name = configured();
    expect(await one.read(name)).toBeUndefined();
    expect(await one.claim(name, 60_000)).toEqual({ version: 0, text: null });
    expect(await other.claim(name, 60_000)).toBeUndefined();
    expect(await one.replace(name, 0, 'xoxe-1-next')).toBe(true);
    expect(await other.read(name)).toEqual({ version: 1, text: 'xoxe-1-next' });
    expect(await other.claim(name, 60_000)).toEqual({ version: 1, text: 'xoxe-1-next' });
    await one.release(name); // a claim of another process
    expect(await one.claim(name, 60_000)).toBeUndefined();
    await other.release(name);
    expect(await one.claim(name, 60_000)).toBeDefined();
  });

  it('can be claimed after its claim has expired, and the first process can no longer overwrite it', async () => {
    const ledger = await open();
    const [dead, other] = [keptCredentials(ledger), keptCredentials(ledger)];
    const name = configured();
    await dead.claim(name, -1);
    expect(await other.claim(name, 60_000)).toEqual({ version: 0, text: null });
    expect(await other.replace(name, 0, 'in force')).toBe(true);
    expect(await dead.replace(name, 0, 'late')).toBe(false);
    expect(await dead.read(name)).toEqual({ version: 1, text: 'in force' });
  });

  it('is stored encrypted, and can be decrypted only under its own name and with the key of its ledger', async () => {
    const ledger = await open();
    const kept = keptCredentials(ledger);
    const [name, another] = [configured(), configured()];
    await kept.claim(name, 60_000);
    await kept.replace(name, 0, 'xoxe-1-secret');
    await kept.claim(another, 60_000);
    await kept.replace(another, 0, 'xoxe-1-secret');
    const rows = await ledger.db.query<{ name: string; sealed: Buffer }>('select name, sealed from kept_credentials');
    const stored = rows.map(({ name: row, sealed }) => `${row} ${Buffer.from(sealed).toString('latin1')}`);
    expect(stored.join('\n')).not.toMatch(/xoxe/);
    expect(new Set(stored).size).toBe(stored.length); // encrypting the same text twice gives different bytes
    const sealedAs = async (from: string, to: string): Promise<void> =>
      void (await ledger.db.query(
        'update kept_credentials set sealed = (select sealed from kept_credentials where name = $1) where name = $2',
        [ledger.hash.fingerprint(from), ledger.hash.fingerprint(to)],
      ));
    await sealedAs(another, name);
    await expect(kept.read(name)).rejects.toThrow();
    const foreign = new KeyedHash(LedgerKey.generate().keys);
    const hash = Object.assign(Object.create(foreign) as KeyedHash, {
      fingerprint: (text: string) => ledger.hash.fingerprint(text),
      sealingKey: () => foreign.sealingKey(),
    });
    await expect(keptCredentials({ ...ledger, hash }).read(another)).rejects.toThrow();
  });
});
