import { randomUUID } from 'node:crypto';
import type { Database } from './drivers/database.js';
import { LedgerError } from './ledger-error.js';
import type { Ledger } from './ledger.js';

/* Owner of the table `ledger`, which has one row: the ledger's id, the key it needs, and the cluster that drives it. */

/** The identity of a ledger as its store holds it. */
export interface StoredIdentity {
  readonly id: string;
  /** Identifies the key, which is never in the store. */
  readonly check: Buffer;
}

/** @returns undefined if the store holds no ledger */
export async function readIdentity(db: Database): Promise<StoredIdentity | undefined> {
  const [row] = await db.query<StoredIdentity>('select id, key_check as check from ledger');
  return row;
}

/**
 * Stores the identity of a new ledger. If several processes do this at the same time, the first decides.
 * @param check identifies the key
 * @returns the stored identity, which may be that of another process
 */
export async function createIdentity(db: Database, check: Buffer): Promise<StoredIdentity> {
  await db.query('insert into ledger (id, key_check) values ($1, $2) on conflict (singleton) do nothing', [
    randomUUID(),
    check,
  ]);
  return (await readIdentity(db))!;
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
