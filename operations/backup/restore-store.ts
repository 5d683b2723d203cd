import type { Config } from '../../config/config.js';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import type { RestoredFrom } from '../../ledger/mark-restored.js';
import { type RestoredStore, restoreEmbedded, type RestoreTerms } from './restore-embedded.js';
import { markRestoredStore, restorePostgres } from './restore-postgres.js';

type Mark = Omit<RestoredFrom, 'madeAt'>;

/** What a restore of any store tells; what a backup says about itself is known of embedded stores alone. */
export type Restored = Pick<RestoredStore, 'erasures'> &
  Partial<RestoredStore> & {
    /** What has to be seen to before the restored ledger can be opened; null or absent: nothing. */
    readonly keyProblem?: string | null;
  };

/** Restores a backup into the store that is configured. */
export async function restoreStore(
  file: string,
  store: Config['store'],
  mark: Mark,
  terms: RestoreTerms = { erasures: null, otherLedger: false },
  environment: Environment = processEnvironment(),
): Promise<Restored> {
  if (store.kind === 'embedded') return await restoreEmbedded(file, store.folder, mark, terms);
  return await restorePostgres(file, store.url.reveal(), mark, environment, terms);
}

/** Marks a store that was restored by other means. */
export async function markStoreRestored(
  store: Config['store'],
  mark: Mark,
  erasures: RestoreTerms['erasures'] = null,
): Promise<Restored> {
  const db = await openDatabase(store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal() });
  try {
    return { erasures: await markRestoredStore(db, { ...mark, madeAt: null }, erasures) };
  } finally {
    await db.close();
  }
}
