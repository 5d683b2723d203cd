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

type Kind = Database['kind'];

/** The store of tests whose subject does not depend on it: PostgreSQL if it is installed, because it is faster. */
export const anyStore: Kind = hasPostgres() ? 'postgres' : 'embedded';

/** The stores of tests whose subject depends on them. With QUICK=1, as in `npm test`, one of them. */
export const kinds: Kind[] =
  anyStore === 'embedded' || process.env['QUICK'] === '1' ? [anyStore] : ['embedded', 'postgres'];

interface StoreOptions {
  readonly idleInTransactionTimeoutMs?: number;
  /** Without the schema. */
  readonly isEmpty?: boolean;
  /** Commits of the embedded store wait for the disk, on which most of the time of tests would be spent. */
  readonly isDurable?: boolean;
}

/**
 * Returns a function that opens the only store of a kind of a test file: new on its first call, with the newest schema
 * unless `isEmpty` is set. They are closed after the last test.
 */
export function useStores(options: StoreOptions = {}): { open(kind: Kind): Promise<Database> } {
  const databases = new Map<Kind, Promise<Database>>();
  const cleanUps: (() => unknown)[] = [];
  const openers = { embedded: openNewEmbedded, postgres: openLent } as const;

  afterAll(async () => {
    for (const database of databases.values()) await (await database).close();
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });
  return {
    open(kind) {
      const database = databases.get(kind) ?? openers[kind](options, (cleanUp) => cleanUps.push(cleanUp));
      databases.set(kind, database);
      return database;
    },
  };
}

/** Opens a store of each of `kinds` before the tests of a file, or only one of a kind; `of` returns it. */
export function useBothDatabases({ only, ...options }: StoreOptions & { readonly only?: Kind } = {}): {
  of(kind: Kind): Database;
} {
  const stores = useStores(options);
  const databases = new Map<string, Database>();
  beforeAll(async () => {
    for (const kind of only === undefined ? kinds : [only]) databases.set(kind, await stores.open(kind));
  });
  return {
    of(kind) {
      const database = databases.get(kind);
      if (database === undefined) throw new Error(`the store on ${kind} is not open`);
      return database;
    },
  };
}

type CleanUps = (cleanUp: () => unknown) => void;

async function openLent(
  { idleInTransactionTimeoutMs = 60_000, isEmpty = false }: StoreOptions,
  finallyDo: CleanUps,
): Promise<Database> {
  const postgres = (await lendDatabase({ isEmpty }))!;
  finallyDo(() => postgres.giveBack());
  const connectTimeoutMs = 250_000; // a busy server may accept a connection late
  return await openPostgres({ url: postgres.url, idleInTransactionTimeoutMs, connectTimeoutMs });
}

async function openNewEmbedded(
  { idleInTransactionTimeoutMs = 60_000, isEmpty = false, isDurable = false }: StoreOptions,
  finallyDo: CleanUps,
): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-store-'));
  finallyDo(() => rmSync(folder, { recursive: true }));
  await lasting()?.keepEmbeddedEngine();
  // Does the same as opening a new store, but without syncing each of its 600 files to disk.
  execFileSync('cp', ['-r', newStoreFolder(), join(folder, 'postgres')]);
  const embedded = await openEmbedded({ folder, idleInTransactionTimeoutMs });
  // the embedded store has one session, so this applies to all later statements
  if (!isDurable) await embedded.script('set synchronous_commit = off');
  if (isEmpty) await embedded.script('drop schema public cascade; create schema public');
  return embedded;
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
