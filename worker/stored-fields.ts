import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { openDatabase } from '../ledger/drivers/open-database.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { seenFields } from '../ledger/queries/seen-fields.js';
import type { SeenByList } from './field-notes.js';

/**
 * The fields of these lists in the ledger of a pigeonpost that does not run. Makes no store and migrates none.
 * @returns undefined when there is no ledger, or it cannot be read now: it is in use, or another version's
 */
export async function storedFields({ store }: Config, lists: readonly string[]): Promise<SeenByList | undefined> {
  if (store.kind === 'embedded' && !existsSync(join(store.folder, 'postgres'))) return undefined;
  try {
    const db = await openDatabase(store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal() });
    try {
      const found = lists.map(
        async (list) => [list, await seenFields({ db }, { list, workspace: null, pigeonholeId: null })] as const,
      );
      return new Map(await Promise.all(found));
    } finally {
      await db.close();
    }
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
