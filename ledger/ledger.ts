import { DatabaseClock } from './database-clock.js';
import type { Database } from './drivers/database.js';
import type { KeyPlace } from './ledger-key.js';
import { KeyedHash } from './keyed-hash.js';
import { LedgerError } from './ledger-error.js';
import { migrate, type MigrateOptions } from './migrate.js';
import { adoptKey } from './adopt-key.js';

/** The store together with its identity, its keyed hashes and its clock. Passed to every query. */
export interface Ledger {
  readonly db: Database;
  /** Created together with the ledger. Sinks mark objects at their destinations with it. */
  readonly id: string;
  readonly hash: KeyedHash;
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
  return { db, id, hash: new KeyedHash(key.keys), clock };
}

/**
 * Binds the ledger to the Temporal cluster and namespace that drive it. Two clusters would each run every workflow, so
 * a second one is refused. With `adopt`, the ledger is bound to the new cluster, because the previous one was replaced
 * or lost.
 * @throws {LedgerError} kind `cluster`
 */
export async function bindCluster(
  ledger: Pick<Ledger, 'db'>,
  by: { clusterId: string; namespace: string; adopt: boolean },
): Promise<void> {
  // This runs before every start of a workflow, so the usual case writes nothing.
  const bound = await ledger.db.query('select id from ledger where cluster_id = $1 and namespace = $2', [
    by.clusterId,
    by.namespace,
  ]);
  if (bound.length > 0) return;
  const rows = await ledger.db.query(
    `update ledger set cluster_id = $1, namespace = $2 where $3::boolean or cluster_id is null returning id`,
    [by.clusterId, by.namespace, by.adopt],
  );
  if (rows.length === 0) throw otherCluster();
}

/**
 * Refuses a Temporal that `bindCluster` would refuse without `adopt`. Changes nothing.
 * @throws {LedgerError} kind `cluster`
 */
export async function refuseOtherCluster(
  ledger: Pick<Ledger, 'db'>,
  by: { clusterId: string; namespace: string },
): Promise<void> {
  const bound = await ledger.db.query(
    'select 1 from ledger where cluster_id is not null and (cluster_id <> $1 or namespace <> $2)',
    [by.clusterId, by.namespace],
  );
  if (bound.length > 0) throw otherCluster();
}

function otherCluster(): LedgerError {
  return new LedgerError(
    'cluster',
    'another Temporal cluster or namespace drives this ledger: stop its workers, then start once with --adopt',
  );
}
