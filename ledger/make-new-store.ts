import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Database } from './drivers/database.js';
import { openEmbedded } from './drivers/embedded.js';
import { emptyFoldersFile, newStoreFolder } from './drivers/embedded-folder.js';
import { startEmbeddedPostgres } from './drivers/start-embedded-postgres.js';
import { migrate } from './migrate.js';

/**
 * Creates, during the build, the database that a first start copies (`embeddedFolder`). It has the newest schema and no
 * rows except the numbers of the migrations. Creating it takes seconds and 700 MB of memory; copying it takes a
 * fraction of a second. If neither the engine nor the migrations have changed since the last build, the existing
 * database is kept.
 */
export async function makeNewStore(): Promise<void> {
  const target = newStoreFolder();
  const stamp = `${target}.made-from`;
  const madeFrom = fingerprint();
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === madeFrom) return;
  await rm(target, { recursive: true, force: true });
  const unfinished = await mkdtemp(`${target}.new-`);
  try {
    await (await startEmbeddedPostgres(join(unfinished, 'postgres'))).close();
    const db = await openEmbedded({ folder: unfinished });
    await migrate(db);
    await dropTemplates(db);
    await db.close();
    await rename(join(unfinished, 'postgres'), target);
    await writeFile(emptyFoldersFile(), `${JSON.stringify(emptyFoldersIn(target))}\n`);
    await writeFile(stamp, madeFrom);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function emptyFoldersIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((folder) => readdirSync(folder).length === 0)
    .map((folder) => relative(root, folder))
    .toSorted();
}

/**
 * Drops the two template databases. The embedded engine never creates a second database, and without the templates a
 * new store has half as many files to copy and sync, and every backup is 14 MB smaller.
 */
async function dropTemplates(db: Database): Promise<void> {
  await db.query("UPDATE pg_database SET datistemplate = false WHERE datname IN ('template0', 'template1')");
  await db.query('DROP DATABASE template0');
  await db.query('DROP DATABASE template1');
}

/** Hashes everything that decides the contents of a new store. */
function fingerprint(): string {
  const migrations = join(__dirname, 'migrations');
  const files = [
    join(dirname(require.resolve('@electric-sql/pglite')), '../package.json'),
    join(__dirname, 'drivers/start-embedded-postgres.js'),
    join(__dirname, 'make-new-store.js'),
    join(__dirname, 'migrate.js'),
    ...readdirSync(migrations)
      .toSorted()
      .map((name) => join(migrations, name)),
  ];
  const hash = createHash('sha256');
  for (const file of files) hash.update(file.slice(__dirname.length)).update(readFileSync(file));
  return hash.digest('hex');
}
