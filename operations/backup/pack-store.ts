import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../ledger/drivers/database.js';
import { cleanCopy } from './clean-copy.js';
import { type BackupFacts, backupFactsOf, factsFile } from './backup-facts.js';
import { runTool } from './run-tool.js';

/** What the next start of the store clears away, should this process be killed: see embedded-folder.ts. */
const clearedAtStart = 'postgres.new-';

/** What to do where there is no tar. */
export const withoutTar = 'install tar, or stop pigeonpost and copy the folder of the store';

/**
 * An embedded store as one compressed archive: `backup.json`, then its files. The store stands still only while its files
 * are copied beside it (a second for some hundred megabytes, nothing at all where the file system can share blocks);
 * the copy is then rewritten without what was erased or overwritten (decision 0031), and packing takes as long as whoever
 * reads.
 * @param folder of the store
 * @throws {BackupError}, {StoreError}; the stream ends with a BackupError when packing fails
 */
export async function packStore(
  db: Database,
  folder: string,
): Promise<{ readonly facts: BackupFacts; readonly bytes: AsyncGenerator<Uint8Array, void, undefined> }> {
  const work = await mkdtemp(join(folder, clearedAtStart));
  try {
    const facts = await backupFactsOf(db);
    await db.copyFiles(join(work, 'postgres'));
    await cleanCopy(work);
    await writeFile(join(work, factsFile), `${JSON.stringify(facts, null, 2)}\n`);
    return { facts, bytes: pack(work) };
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

async function* pack(work: string): AsyncGenerator<Uint8Array, void, undefined> {
  const tar = runTool({
    command: 'tar',
    args: ['-C', work, '-czf', '-', factsFile, 'postgres'],
    stdio: ['ignore', 'pipe', 'pipe'],
    otherwise: withoutTar,
  });
  try {
    for await (const bytes of tar.child.stdout!) yield bytes as Uint8Array;
    await tar.done;
  } finally {
    tar.child.kill(); // whoever reads may have stopped
    await tar.done.catch(() => undefined);
    await rm(work, { recursive: true, force: true });
  }
}
