import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openEmbedded } from '../ledger/drivers/embedded.js';
import { migrate } from '../ledger/migrate.js';
import { copyKept } from './kept-folder.js';
import { lasting } from './lasting.js';

const drivers = join(__dirname, '../dist/ledger/drivers');
const migrations = join(__dirname, '../ledger/migrations');

/**
 * Puts into the folder of an embedded store what its first start would make there, a database with the newest schema, in
 * a tenth of a second instead of six. For tests that are about something else than that. Needs `npm run build`.
 */
export async function placeEmbeddedStore(storeFolder: string): Promise<void> {
  await lasting()?.keepEmbeddedEngine();
  mkdirSync(storeFolder, { recursive: true });
  const makers = ['make-embedded-folder.js', 'start-embedded-postgres.js', 'synced-node-fs.js'];
  const decisive = [
    join(dirname(require.resolve('@electric-sql/pglite')), '../package.json'),
    ...makers.map((name) => join(drivers, name)),
    ...readdirSync(migrations)
      .toSorted()
      .map((name) => join(migrations, name)),
  ];
  const madeFrom = decisive.map((file) => readFileSync(file, 'utf8'));
  await copyKept({ name: 'embedded', madeFrom, make: makeStore }, join(storeFolder, 'postgres'));
}

async function makeStore(folder: string): Promise<void> {
  const store = dirname(folder);
  const db = await openEmbedded({ folder: store });
  await migrate(db);
  await db.close();
  await rename(join(store, 'postgres'), folder);
}
