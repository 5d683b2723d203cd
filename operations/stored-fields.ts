import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { openDatabase } from '../ledger/drivers/open-database.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { fieldNotes, mentionedLists } from './field-notes.js';
import { fieldsSeen } from './fields-seen.js';

/**
 * What there is to note about the fields that mappings read, from the ledger of a pigeonpost that does not run. Makes no
 * store and migrates none.
 * @returns undefined when there is no ledger, or it cannot be read now: it is in use, or another version's
 */
export async function storedFieldNotes(config: Config): Promise<string[] | undefined> {
  const { store } = config;
  if (mentionedLists(config).length === 0) return [];
  if (store.kind === 'embedded' && !existsSync(join(store.folder, 'postgres'))) return undefined;
  try {
    const db = await openDatabase(store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal() });
    try {
      return fieldNotes(config, await fieldsSeen({ db }, config));
    } finally {
      await db.close();
    }
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
