import { mkdirSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { embeddedFolder } from '../ledger/drivers/embedded-folder.js';
import { copyKept } from './kept-folder.js';

const built = join(__dirname, '../dist/ledger/drivers');
const maker = join(built, 'make-embedded-folder.js');

/**
 * Puts into the folder of an embedded store the empty database that its first start would make, in a tenth of a second
 * instead of five. For tests that are about something else than the first start. Needs `npm run build`.
 */
export async function placeEmbeddedStore(storeFolder: string): Promise<void> {
  mkdirSync(storeFolder, { recursive: true });
  const madeBy = [maker, join(built, 'start-embedded-postgres.js'), join(built, 'synced-node-fs.js'), pglite()];
  const make = async (folder: string): Promise<void> => {
    await rename(await embeddedFolder(dirname(folder), maker), folder);
  };
  const madeFrom = madeBy.map((file) => readFileSync(file, 'utf8'));
  await copyKept({ name: 'embedded', madeFrom, make }, join(storeFolder, 'postgres'));
}

/** The file that names PGlite's version. */
function pglite(): string {
  return join(dirname(require.resolve('@electric-sql/pglite')), '../package.json');
}
