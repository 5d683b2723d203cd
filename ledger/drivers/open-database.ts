import type { Database } from './database.js';
import { openEmbedded } from './embedded.js';
import { openPostgres } from './postgres.js';

/** Location of the store: a folder of this machine, or a PostgreSQL server. */
type StoreLocation =
  | { readonly kind: 'embedded'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly maxConnections?: number };

/**
 * Opens the store. The caller closes it.
 * @throws {StoreError} `locked`, `unreachable`, `full`, or `other` for a version that does not fit
 */
export async function openDatabase(store: StoreLocation): Promise<Database> {
  return store.kind === 'embedded' ? openEmbedded({ folder: store.folder }) : openPostgres(store);
}
