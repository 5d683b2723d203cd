import { readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { makerExitCodes, noSpace } from './embedded-messages.js';
import { startEmbeddedPostgres } from './start-embedded-postgres.js';

/**
 * A program of its own: makes an embedded database in the folder named by its argument and ends. It exists because
 * making one leaves a process at 700 MB, which the worker would keep for its whole life.
 */
async function makeEmbeddedFolder(folder: string): Promise<void> {
  const pglite = await startEmbeddedPostgres(folder);
  await pglite.close();
  // PGlite copies the new files without syncing them. The caller renames the folder next, which declares it whole.
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    await syncPath(join(entry.parentPath, entry.name));
  }
  await syncPath(folder);
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

if (require.main === module) {
  process.stdin.on('end', () => process.exit(makerExitCodes.failed)).resume(); // our parent is gone
  makeEmbeddedFolder(process.argv[2] ?? '').then(
    () => process.exit(0),
    (error: unknown) => process.exit(noSpace.test(String(error)) ? makerExitCodes.full : makerExitCodes.failed),
  );
}
