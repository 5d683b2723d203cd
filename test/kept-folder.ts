import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FolderLock, lockFolder } from '../ledger/drivers/folder-lock.js';
import { StoreError } from '../ledger/drivers/store-error.js';
import { until } from './until.js';

const cache = join(__dirname, '../node_modules/.cache/pigeonpost-tests');

/** A folder whose creation takes seconds, and whose content depends only on `madeFrom`. */
export interface KeptFolder {
  readonly name: string;
  /** Texts that determine the content. Another text is another folder. */
  readonly madeFrom: readonly string[];
  /** Creates the folder at this path, which does not exist. */
  readonly make: (folder: string) => unknown;
}

/**
 * Copies a folder to `target`, which must not exist. The first call creates the folder and stores it until there is a
 * newer one or until `npm ci`. Concurrent calls wait, so that only one process creates it.
 */
export async function copyKept({ name, madeFrom, make }: KeptFolder, target: string): Promise<void> {
  const key = createHash('sha256').update(JSON.stringify(madeFrom)).digest('hex').slice(0, 16);
  const kept = join(cache, `${name}-${key}`);
  if (!existsSync(kept)) {
    const lock = await untilLocked(join(cache, `${name}.lock`));
    try {
      if (!existsSync(kept)) await makeKept(name, kept, make);
    } finally {
      await lock.release();
    }
  }
  // Node's copy function needs three times as long and does not keep owners.
  const copied = spawnSync('cp', ['-a', kept, target], { encoding: 'utf8' });
  if (copied.status !== 0) throw new Error(`cp of ${kept} ended with ${copied.status}: ${copied.stderr}`);
}

async function makeKept(name: string, kept: string, make: KeptFolder['make']): Promise<void> {
  const older = (await readdir(cache)).filter((other) => other.startsWith(`${name}-`)); // includes unfinished ones
  for (const folder of older) await rm(join(cache, folder), { recursive: true, force: true });
  const unfinished = await mkdtemp(`${kept}.new-`);
  await make(join(unfinished, 'folder'));
  await rename(join(unfinished, 'folder'), kept);
  await rm(unfinished, { recursive: true });
}

async function untilLocked(folder: string): Promise<FolderLock> {
  let lock: FolderLock | undefined;
  await until(
    `${folder} is free`,
    async () => {
      lock = await lockFolder(folder).catch((error: unknown) => {
        if (error instanceof StoreError && error.kind === 'locked') return undefined;
        throw error;
      });
      return lock !== undefined;
    },
    250_000,
  );
  return lock!;
}
