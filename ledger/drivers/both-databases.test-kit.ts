import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lasting } from '../../test/lasting.js';
import { lendDatabase } from '../../test/lend-database.js';
import { hasPostgres } from '../../test/postgres.js';
import type { Database } from './database.js';
import { openEmbedded } from './embedded.js';
import { newStoreFolder } from './embedded-folder.js';
import { openPostgres } from './postgres.js';
import type { StoreError } from './store-error.js';

/** The drivers that can be tested on this machine. */
export const kinds: Database['kind'][] = hasPostgres() ? ['embedded', 'postgres'] : ['embedded'];

/**
 * Opens a new store of each kind before the tests of a file, and closes them afterwards; `of` returns one. Both have
 * the newest schema, unless `isEmpty` is set. Commits of the embedded store do not wait for the disk unless `isDurable`
 * is set, because tests would spend most of their time waiting on a slow disk.
 */
export function useBothDatabases({ idleInTransactionTimeoutMs = 60_000, isEmpty = false, isDurable = false } = {}): {
  of(kind: Database['kind']): Database;
} {
  const databases = new Map<string, Database>();
  const cleanUps: (() => unknown)[] = [];

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-store-'));
    cleanUps.push(() => rmSync(folder, { recursive: true }));
    const postgres = await lendDatabase({ isEmpty });
    if (postgres !== null) {
      cleanUps.push(() => postgres.giveBack());
      const connectTimeoutMs = 250_000; // a busy server may accept a connection late
      const { url } = postgres;
      databases.set('postgres', await openPostgres({ url, idleInTransactionTimeoutMs, connectTimeoutMs }));
    }
    await lasting()?.keepEmbeddedEngine();
    // Does the same as opening a new store, but without syncing each of its 600 files to disk.
    execFileSync('cp', ['-r', newStoreFolder(), join(folder, 'postgres')]);
    const embedded = await openEmbedded({ folder, idleInTransactionTimeoutMs });
    // the embedded store has one session, so this applies to all later statements
    if (!isDurable) await embedded.script('set synchronous_commit = off');
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

/** Returns the StoreError that an action fails with; fails the test if the action succeeds or throws anything else. */
export async function storeErrorOf(action: Promise<unknown>): Promise<StoreError> {
  const outcome = await action.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  expect(outcome).toMatchObject({ name: 'StoreError' });
  return outcome as StoreError;
}
