import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/config.js';
import type { Database } from '../../ledger/drivers/database.js';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import type { LedgerKey } from '../../ledger/ledger-key.js';
import { markRestored, type RestoredFrom } from './mark-restored.js';
import { migrate } from '../../ledger/migrate.js';
import { readStoredKey } from '../../ledger/adopt-key.js';
import { type ErasureList, takeOverErasures } from '../../people/erasure-list.js';
import { erasureListSchema } from '../erasure-list-schema.js';
import { BackupError } from './backup-error.js';

/**
 * Marks a store that was restored by other means (pg_restore, a snapshot, point-in-time recovery): every sink and every
 * import in progress is paused, so that nothing is sent without an operator's decision. A second run changes nothing more.
 * @param terms.erasures erasures that were made after the backup; null: no list was given
 * @returns the number of erasures that will run again, null if they are not known; and the problem that would stop the
 *   next start, null if there is none
 * @throws {BackupError} kind `inUse` while processes use it; {LedgerError} kind `otherLedger`, when everything except
 *   the list is done
 */
export async function markStoreRestored(
  store: Config['store'],
  mark: Omit<RestoredFrom, 'madeAt'>,
  terms: { readonly erasures: ErasureList | null; readonly configuredKey?: LedgerKey | undefined },
): Promise<{ readonly erasures: number | null; readonly keyProblem: string | null }> {
  const db = await openDatabase(store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal() });
  try {
    await refuseInUse(db);
    await migrate(db);
    await db.script(markRestored({ ...mark, madeAt: null }));
    const erasures = terms.erasures === null ? null : await takeOverErasures(db, terms.erasures);
    const keyProblem = db.kind === 'postgres' ? await keyProblemOf(db, terms.configuredKey) : null;
    return { erasures, keyProblem };
  } finally {
    await db.close();
  }
}

/** Reads the list that `pigeonpost erasures export` has written. @throws {BackupError} kind `missing` or `unusable` */
export async function readErasureListFile(file: string): Promise<ErasureList> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError('missing', `${file} cannot be read (${error.code}): give the file of "erasures export"`);
  });
  try {
    return erasureListSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new BackupError('unusable', `${file} is not a list of erasures: give one that "erasures export" wrote`, {
      cause: error,
    });
  }
}

async function refuseInUse(db: Database): Promise<void> {
  if (db.kind === 'embedded') return; // its folder's lock excludes other processes
  const [found] = await db.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
     where datname = current_database() and application_name = 'pigeonpost' and pid <> pg_backend_pid()`,
  );
  if (found!.others === 0) return;
  throw new BackupError('inUse', 'pigeonpost runs on this database: stop its processes first');
}

/** Returns the key problem that would stop the next start, so that the operator sees it during the restore. */
async function keyProblemOf(db: Database, key: LedgerKey | undefined): Promise<string | null> {
  const stored = await readStoredKey(db);
  if (stored === undefined || stored.kind === 'inside') return null;
  if (key === undefined) return "the ledger's key is in no backup: set LEDGER_KEY before you start pigeonpost";
  return key.check.equals(stored.check)
    ? null
    : 'LEDGER_KEY is not the key of the restored ledger: set that key before you start pigeonpost';
}
