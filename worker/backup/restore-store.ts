import type { Config } from '../../config/config.js';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import type { RestoredFrom } from '../../ledger/mark-restored.js';
import { type RestoredStore, restoreEmbedded } from './restore-embedded.js';
import { markRestoredStore, restorePostgres } from './restore-postgres.js';

type Mark = Omit<RestoredFrom, 'madeAt'>;

/** Restores a backup into the store that is configured. @returns what a backup of an embedded store says about itself */
export async function restoreStore(
  file: string,
  store: Config['store'],
  mark: Mark,
  environment: Environment = processEnvironment(),
): Promise<Partial<RestoredStore>> {
  if (store.kind === 'embedded') return await restoreEmbedded(file, store.folder, mark);
  await restorePostgres(file, store.url.reveal(), mark, environment);
  return {};
}

/** Marks a store that was restored by other means. */
export async function markStoreRestored(store: Config['store'], mark: Mark): Promise<void> {
  const db = await openDatabase(store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal() });
  try {
    await markRestoredStore(db, { ...mark, madeAt: null });
  } finally {
    await db.close();
  }
}
