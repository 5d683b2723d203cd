import { randomBytes, randomUUID } from 'node:crypto';
import { DatabaseClock } from './database-clock.js';
import type { Database } from './drivers/database.js';
import { KeyedHash } from './keyed-hash.js';
import { LedgerError } from './ledger-error.js';
import { migrate, type MigrateOptions } from './migrate.js';

/** The store with what belongs to it: its identity and its keyed hashes. Passed to every query. */
export interface Ledger {
  readonly db: Database;
  /** Made with the ledger; marks destinations as its own. */
  readonly id: string;
  readonly hash: KeyedHash;
  /** What the time is for everyone who shares the store. */
  readonly clock: DatabaseClock;
}

interface LedgerRow {
  id: string;
  hash_key: Buffer;
  subject_key: Buffer;
  fingerprint_key: Buffer;
}

/** Brings the schema up to date and reads, or makes, the ledger's identity. The database stays the caller's to close. */
export async function openLedger(
  db: Database,
  { onProgress }: Pick<MigrateOptions, 'onProgress'> = {},
): Promise<Ledger> {
  await migrate(db, { onProgress });
  await db.query(
    `insert into ledger (id, hash_key, subject_key, fingerprint_key) values ($1, $2, $3, $4)
     on conflict (singleton) do nothing`,
    [randomUUID(), randomBytes(32), randomBytes(32), randomBytes(32)],
  );
  const [row] = await db.query<LedgerRow>('select id, hash_key, subject_key, fingerprint_key from ledger');
  const keys = { hash: row!.hash_key, subject: row!.subject_key, fingerprint: row!.fingerprint_key };
  const clock = new DatabaseClock();
  // oxlint-disable-next-line no-await-in-loop -- the answer that arrives fastest says it best
  for (let n = 0; n < 3; n += 1) await clock.ask(db);
  return { db, id: row!.id, hash: new KeyedHash(keys), clock };
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
