import type { Ledger } from './ledger.js';

export interface RegisteredSync {
  readonly name: string;
  readonly workspace: string;
  /** The rule by which the sync selects pigeonholes, as JSON text. Rules are compared as text. */
  readonly choice: string;
}

/** Returns the names of the syncs that the ledger knows with a different selection rule or workspace. */
export async function changedSyncs(ledger: Ledger, syncs: readonly RegisteredSync[]): Promise<string[]> {
  const rows = await ledger.db.query<RegisteredSync>(
    'select name, workspace, choice from syncs where name = any($1::text[])',
    [syncs.map(({ name }) => name)],
  );
  const known = new Map(rows.map((row) => [row.name, row]));
  return syncs
    .filter(({ name, workspace, choice }) => {
      const row = known.get(name);
      return row !== undefined && (row.choice !== choice || row.workspace !== workspace);
    })
    .map(({ name }) => name);
}

/**
 * Registers the configured syncs, and archives all others. An archived sync keeps its selections, and uses them again
 * when it is configured again.
 */
export async function registerSyncs(ledger: Ledger, syncs: readonly RegisteredSync[]): Promise<void> {
  const names = syncs.map(({ name }) => name);
  await ledger.db.transaction(async (tx) => {
    await tx.query(
      `insert into syncs (name, workspace, choice) select * from unnest($1::text[], $2::text[], $3::json[])
       on conflict (name) do update set workspace = excluded.workspace, choice = excluded.choice, archived_at = null`,
      [names, syncs.map(({ workspace }) => workspace), syncs.map(({ choice }) => choice)],
    );
    await tx.query('update syncs set archived_at = now() where archived_at is null and not name = any($1::text[])', [
      names,
    ]);
  });
}

export interface Selection {
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
}

/**
 * Returns the pigeonholes that a sync reads, except those that its configuration no longer selects. The sync itself may
 * be archived.
 */
export async function selectionsOf(ledger: Ledger, sync: string): Promise<Selection[]> {
  return await ledger.db.query<Selection>(
    `select p.ref, p.workspace, p.pigeonhole_id as "pigeonholeId" from selections s join pigeonholes p on p.ref = s.ref
     where s.sync = $1 and s.archived_at is null order by p.ref`,
    [sync],
  );
}

/** Archives pigeonholes that the configuration of a sync no longer selects. They return when it selects them again. */
export async function archiveSelections(ledger: Ledger, sync: string, refs: readonly number[]): Promise<void> {
  await ledger.db.query(
    'update selections set archived_at = now() where sync = $1 and ref = any($2::int4[]) and archived_at is null',
    [sync, refs],
  );
}
