import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeEmbeddedStore } from '../../test/embedded-store.js';
import { hasPostgres, startPostgres } from '../../test/postgres.js';
import type { Database } from './database.js';
import { openEmbedded } from './embedded.js';
import { openPostgres } from './postgres.js';
import type { StoreError } from './store-error.js';

/** The drivers that can be tested here. */
export const kinds: Database['kind'][] = hasPostgres() ? ['embedded', 'postgres'] : ['embedded'];

/**
 * Opens a fresh store of each kind before the tests of a file and closes them after; `of` gives one. The embedded one has
 * the newest schema already, which takes a second to make there, unless `isEmpty` is asked for. Its commits do not wait
 * for the disk, for which the tests of a machine whose disk is slow would wait most of their time, unless `isDurable` is.
 */
export function useBothDatabases({ idleInTransactionTimeoutMs = 60_000, isEmpty = false, isDurable = false } = {}): {
  of(kind: Database['kind']): Database;
} {
  const databases = new Map<string, Database>();
  const cleanUps: (() => unknown)[] = [];

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-store-'));
    cleanUps.push(() => rmSync(folder, { recursive: true }));
    const postgres = await startPostgres();
    if (postgres !== null) {
      cleanUps.push(() => postgres.stop());
      databases.set('postgres', await openPostgres({ url: postgres.url, idleInTransactionTimeoutMs }));
    }
    await placeEmbeddedStore(folder);
    const embedded = await openEmbedded({ folder, idleInTransactionTimeoutMs });
    if (!isDurable) await embedded.script('set synchronous_commit = off'); // one session, so for all that follows
    if (isEmpty) await embedded.script('drop schema public cascade; create schema public');
    databases.set('embedded', embedded);
  });
  afterAll(async () => {
    for (const database of databases.values()) await database.close();
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });
  return {
    of(kind) {
      const database = databases.get(kind);
      if (database === undefined) throw new Error(`the store on ${kind} is not open`);
      return database;
    },
  };
}

/** What an action failed with; a failure of the test when it did not, or with something else than a StoreError. */
export async function storeErrorOf(action: Promise<unknown>): Promise<StoreError> {
  const outcome = await action.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  expect(outcome).toMatchObject({ name: 'StoreError' });
  return outcome as StoreError;
}
