import { basename, join } from 'node:path';
import type { Config } from '../config/config.js';
import type { Database } from '../ledger/drivers/database.js';
import { givenKey, keyFile, type KeyPlace, ledgerKeyFile, readKeyFile, LedgerKey } from '../ledger/ledger-key.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { missingKey, otherKey, unwritableKey } from '../ledger/adopt-key.js';
import { readIdentity } from '../ledger/identity.js';

export { type LedgerKey, readKeyFile };

/** The parts of a configuration that determine where the ledger's key is. */
type KeyConfig = Pick<Config, 'ledgerKey' | 'store' | 'folder' | 'file'>;

/** Returns the key from the configuration; undefined if the key is in a file of the data folder. */
export function configuredKey({ ledgerKey }: Pick<Config, 'ledgerKey'>): LedgerKey | undefined {
  // the schema of the configuration has checked the form
  return ledgerKey === undefined ? undefined : LedgerKey.parse(ledgerKey.reveal())!;
}

/**
 * Returns the place of the ledger's key: the configuration or, if it has no key, a file beside the administrator's
 * token.
 */
export function keyPlaceOf(config: KeyConfig): KeyPlace {
  const { store, folder, file } = config;
  const key = configuredKey(config);
  if (key !== undefined) return givenKey(key);
  return store.kind === 'embedded'
    ? keyFile(join(store.folder, ledgerKeyFile), { isBesideSources: false })
    : keyFile(join(folder, '.pigeonpost', `${basename(file)}.${ledgerKeyFile}`), { isBesideSources: true });
}

/**
 * Returns the ledger's key for an operator who backs it up.
 * @throws {LedgerError} kind `key` if there is none
 */
export async function findLedgerKey(config: KeyConfig): Promise<LedgerKey> {
  const place = keyPlaceOf(config);
  const found = await place.read();
  if (found !== undefined) return found;
  throw new LedgerError(
    'key',
    `there is no key in ${place.name}: "pigeonpost start" creates one for a new ledger; restore the key of an existing ledger`,
  );
}

/**
 * Finds the key with which a start would open the ledger in a database. Changes nothing.
 * @returns undefined if the start would create the ledger
 * @throws {LedgerError} kind `key` if the start could neither open nor create the ledger
 */
export async function keyForStart(db: Database, config: KeyConfig): Promise<LedgerKey | undefined> {
  const [table] = await db.query(`select 1 from pg_tables where tablename = 'ledger'`);
  const identity = table === undefined ? undefined : await readIdentity(db);
  const place = keyPlaceOf(config);
  const key = await place.read();
  if (identity === undefined) {
    if (key === undefined && !place.mayKeep()) throw unwritableKey(place);
    return undefined;
  }
  if (key === undefined) throw missingKey(place);
  if (!key.check.equals(identity.check)) throw otherKey(place);
  return key;
}
