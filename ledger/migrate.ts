import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from './drivers/database.js';
import { LedgerError } from './ledger-error.js';

const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;

const ownFolder = join(__dirname, 'migrations');

/** The number of the newest migration that this version has. */
export async function newestMigration(folder = ownFolder): Promise<number> {
  return Number((await migrationFiles(folder)).at(-1)?.slice(0, 4) ?? 0);
}

async function migrationFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => fileName.test(name)).toSorted();
}

/**
 * Brings the schema to the newest version this code knows; a second run does nothing. Each migration runs in a
 * transaction that records its number first, under a lock on that table, so two processes cannot both apply one.
 * @throws {LedgerError} kind `version` when the store was written by a newer version of pigeonpost
 */
export async function migrate(db: Database, folder = ownFolder): Promise<void> {
  const files = await migrationFiles(folder);
  await db.transaction(async (tx) => {
    // "if not exists" alone lets two first starts at once collide in PostgreSQL's catalogue.
    await tx.query('select pg_advisory_xact_lock(hashtext($1))', ['pigeonpost migrations']);
    await tx.query(
      'create table if not exists migrations (number integer primary key, applied_at timestamptz not null default now())',
    );
  });
  const applied = await db.query<{ number: number }>('select number from migrations order by number');
  const newest = applied.at(-1)?.number ?? 0;
  const known = await newestMigration(folder);
  if (newest > known) {
    throw new LedgerError(
      'version',
      `the store is at version ${newest}, this pigeonpost knows ${known}: start the newer version again`,
    );
  }
  for (const name of files) {
    const number = Number(name.slice(0, 4));
    // Not by the newest number: parts of a version that are made side by side arrive in any order.
    if (applied.some((row) => row.number === number)) continue;
    const sql = await readFile(join(folder, name), 'utf8');
    await db.transaction(async (tx) => {
      await tx.query('lock table migrations in exclusive mode');
      const added = await tx.query(
        'insert into migrations (number) values ($1) on conflict (number) do nothing returning number',
        [number],
      );
      if (added.length === 1) await tx.script(sql);
    });
  }
}
