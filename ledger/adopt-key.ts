import type { Database } from './drivers/database.js';
import { createIdentity, readIdentity, type StoredIdentity } from './identity.js';
import { type KeyPlace, LedgerKey } from './ledger-key.js';
import { LedgerError } from './ledger-error.js';

/**
 * Returns the ledger's id, and the key from the place where this process finds it. If the ledger is new and the place
 * has no key, creates one. If several processes do this at the same time, the first to insert the ledger's row decides,
 * and a process with another key is refused.
 * @throws {LedgerError} kind `key` if the place holds no key, cannot keep a new one, or holds the key of another ledger
 */
export async function adoptKey(db: Database, place: KeyPlace): Promise<{ id: string; key: LedgerKey }> {
  const found = await place.read();
  const { id, check } = (await readIdentity(db)) ?? (await makeLedger(db, place, found));
  const key = found ?? (await place.read()); // another process may just have created the key and the ledger
  if (key === undefined) throw missingKey(place);
  if (!key.check.equals(check)) throw otherKey(place);
  return { id, key };
}

async function makeLedger(db: Database, place: KeyPlace, found: LedgerKey | undefined): Promise<StoredIdentity> {
  const key = found ?? (await place.keep(LedgerKey.generate()));
  if (key === undefined) throw unwritableKey(place);
  return await createIdentity(db, key.check);
}

/** The error for a new ledger whose key cannot be stored. */
export function unwritableKey({ name }: KeyPlace): LedgerError {
  return new LedgerError(
    'key',
    `a new ledger needs a key, and ${name} cannot be written: create one with "openssl rand -base64 32", and set LEDGER_KEY for every process`,
  );
}

export function missingKey({ name }: KeyPlace): LedgerError {
  return new LedgerError(
    'key',
    `the ledger's key is not in ${name}: restore it there, or set LEDGER_KEY. The ledger cannot be used without it. If it is lost, see docs/operations.md, "When the ledger's key is missing"`,
  );
}

export function otherKey({ name }: KeyPlace): LedgerError {
  return new LedgerError(
    'key',
    `the key in ${name} belongs to another ledger: give this process the key with which the ledger was created`,
  );
}
