import type { Config } from '../../config/config.js';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import type { RestoredFrom } from '../../ledger/mark-restored.js';
import { type RestoredStore, restoreEmbedded, type RestoreTerms } from './restore-embedded.js';
import { markRestoredStore, restorePostgres } from './restore-postgres.js';
import { readFile } from 'node:fs/promises';
import { erasureListSchema } from '../erasure-list-schema.js';
import type { ErasureList } from '../../people/forget/erasure-list.js';
import { BackupError } from './backup-error.js';

type Mark = Omit<RestoredFrom, 'madeAt'>;

/** Result of a restore. Only embedded stores have metadata of the backup. */
export type Restored = Pick<RestoredStore, 'erasures'> &
  Partial<RestoredStore> & {
    /** Problem to solve before the restored ledger can be opened; null or absent: none. */
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

/** The list that `pigeonpost erasures export` has written. @throws {BackupError} kind `missing` or `unusable` */
export async function readErasureListFile(file: string): Promise<ErasureList> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError('missing', `${file} cannot be read (${error.code}): give the file of "erasures export"`);
  });
  try {
    return erasureListSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new BackupError('unusable', `${file} is no list of erasures: give one that "erasures export" wrote`, {
      cause: error,
    });
  }
}
