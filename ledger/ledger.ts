import type { SigningKey } from '../base/ed25519.js';
import { DatabaseClock } from './database-clock.js';
import type { Database } from './drivers/database.js';
import type { KeyPlace } from './ledger-key.js';
import { KeyedHash } from './keyed-hash.js';
import { migrate, type MigrateOptions } from './migrate.js';
import { adoptKey } from './adopt-key.js';

/** The store together with its identity, its keyed hashes and its clock. Passed to every query. */
export interface Ledger {
  readonly db: Database;
  /** Created together with the ledger. Sinks mark objects at their destinations with it. */
  readonly id: string;
  readonly hash: KeyedHash;
  /** Signs statements. */
  readonly signing: SigningKey;
  /** The clock that all processes on this store share. */
  readonly clock: DatabaseClock;
}

/**
 * Migrates the schema to the newest version, and reads the ledger's identity or creates it. The key is read from its
 * place and is not stored in the ledger. The caller closes the database.
 * @throws {LedgerError} kind `key` if the place holds no key, or the key of another ledger
 */
export async function openLedger(
  db: Database,
  place: KeyPlace,
  options: Pick<MigrateOptions, 'onProgress'> = {},
): Promise<Ledger> {
  await migrate(db, options);
  const { id, key } = await adoptKey(db, place);
  const clock = new DatabaseClock();
  // Asks three times in sequence, because the fastest answer gives the most accurate time.
  for (let n = 0; n < 3; n += 1) await clock.ask(db);
  return { db, id, hash: new KeyedHash(key.keys), signing: key.signing, clock };
}
