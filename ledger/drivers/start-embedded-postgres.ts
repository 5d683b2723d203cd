import { PGlite } from '@electric-sql/pglite';
import { type EngineHooks, SyncedNodeFs } from './synced-node-fs.js';

/**
 * PGlite's own start parameters, less `-F` (which turns fsync off), plus:
 * - `wal_sync_method=fsync`: the one that reaches `SyncedNodeFs`; others are flags of open() that Emscripten drops
 * - `shared_buffers=16MB`: 177 MB of memory instead of 309, no clear loss of speed
 * - `max_wal_size`: bounds the disk that the log takes (1 GB by default) and the recovery after a kill to a second
 */
const startParams = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...['fsync=on', 'wal_sync_method=fsync', 'shared_buffers=16MB', 'max_wal_size=128MB'].flatMap((set) => ['-c', set]),
];

/**
 * Starts PostgreSQL on the calling thread, on a folder that this process has locked. Makes the database when the
 * folder is empty, which only the build does: it takes seconds and leaves the process at 700 MB.
 * @throws {Error} when a commit does not sync: an upgrade of PGlite undid `SyncedNodeFs`
 */
export async function startEmbeddedPostgres(folder: string, hooks: EngineHooks = {}): Promise<PGlite> {
  const files = new SyncedNodeFs(folder, hooks);
  const pglite = await PGlite.create({ fs: files, dataDir: folder, startParams });
  const before = files.syncCount;
  // A transaction that writes to the log and to no table.
  await pglite.query(`select pg_logical_emit_message(true, 'pigeonpost', 'does a commit sync?')`);
  if (files.syncCount === before) throw new Error('a commit of the embedded store did not sync its log to disk');
  return pglite;
}
