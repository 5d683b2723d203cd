import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { StoreError } from '../../ledger/drivers/store-error.js';
import { type ErasureList, readErasureList } from '../../people/forget/erasure-list.js';

/**
 * What of the store that is about to be replaced has to outlast it: whom it keeps away. A store that is damaged is the
 * very reason for a restore, so it stops none.
 * @returns undefined where there is no store, or none that can be read
 * @throws {StoreError} kind `locked` while a process uses it
 */
export async function lookAtPresentStore(folder: string): Promise<ErasureList | undefined> {
  if (!existsSync(join(folder, 'postgres', 'PG_VERSION'))) return undefined;
  try {
    const db = await openEmbedded({ folder });
    try {
      return await readErasureList(db);
    } finally {
      await db.close();
    }
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'locked') throw error;
    return undefined;
  }
}
