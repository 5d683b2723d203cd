import { DatabaseClock } from './database-clock.js';
import type { Database } from './drivers/database.js';
import type { KeyPlace } from './key-place.js';
import { KeyedHash } from './keyed-hash.js';
import { LedgerError } from './ledger-error.js';
import { migrate, type MigrateOptions } from './migrate.js';
import { adoptKey } from './adopt-key.js';

/** The store with what belongs to it: its identity and its keyed hashes. Passed to every query. */
export interface Ledger {
  readonly db: Database;
  /** Made with the ledger; marks destinations as its own. */
  readonly id: string;
  readonly hash: KeyedHash;
  /** The clock that all processes on this store share. */
  readonly clock: DatabaseClock;
}

export interface OpenLedgerOptions extends Pick<MigrateOptions, 'onProgress'> {
  /** A sentence for the operator, when the key has to stay in the store for now. */
  readonly onNotice?: (sentence: string) => void;
}

/**
 * Brings the schema up to date and reads, or makes, the ledger's identity. The key is read from its place and never
 * stored here. The database stays the caller's to close.
 * @throws {LedgerError} kind `key` when the place holds no key, or another ledger's
 */
export async function openLedger(
  db: Database,
  place: KeyPlace,
  { onProgress, onNotice = () => undefined }: OpenLedgerOptions = {},
): Promise<Ledger> {
  await migrate(db, { onProgress });
  const { id, key } = await adoptKey(db, place, onNotice);
  const clock = new DatabaseClock();
  // One after another, because the fastest answer is the best measure.
  for (let n = 0; n < 3; n += 1) await clock.ask(db);
  return { db, id, hash: new KeyedHash(key.keys), clock };
}

/**
 * Binds the ledger to the Temporal that drives it. Two of them would each run every workflow, so a second one is
 * refused; `adopt` hands the ledger over, for a Temporal that was replaced or lost.
 * @throws {LedgerError} kind `cluster`
 */
export async function bindCluster(
  ledger: Pick<Ledger, 'db'>,
  by: { clusterId: string; namespace: string; adopt: boolean },
): Promise<void> {
  const rows = await ledger.db.query(
    `update ledger set cluster_id = $1, namespace = $2
     where $3::boolean or cluster_id is null or (cluster_id = $1 and namespace = $2) returning id`,
    [by.clusterId, by.namespace, by.adopt],
  );
  if (rows.length === 0) {
    throw new LedgerError(
      'cluster',
      'another Temporal cluster or namespace drives this ledger: stop its workers, then start once with --adopt',
    );
  }
}
