import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const cache = join(__dirname, '../node_modules/.cache/pigeonpost-tests');

/** A folder that takes seconds to make and is the same whenever it is made from the same. */
export interface KeptFolder {
  readonly name: string;
  /** Everything that decides what is in it, as text: another text is another folder. */
  readonly madeFrom: readonly string[];
  /** Makes the folder of this path, which is not there yet. */
  readonly make: (folder: string) => unknown;
}

/**
 * Copies a folder to `target`, which is not there yet; the first time, also makes it, and keeps it until there is a newer one or `npm ci`. Test
 * files that do this at once do not disturb each other: what one has made whole is what all copy.
 */
export async function copyKept({ name, madeFrom, make }: KeptFolder, target: string): Promise<void> {
  const key = createHash('sha256').update(JSON.stringify(madeFrom)).digest('hex').slice(0, 16);
  const kept = join(cache, `${name}-${key}`);
  if (!existsSync(kept)) {
    await mkdir(cache, { recursive: true });
    const unfinished = await mkdtemp(`${kept}.new-`);
    await make(join(unfinished, 'folder'));
    // Another one may have been quicker: its folder is as good.
    await rename(join(unfinished, 'folder'), kept).catch((error: unknown) => {
      if (!existsSync(kept)) throw error;
    });
    await rm(unfinished, { recursive: true, force: true });
    const olderOnes = (await readdir(cache)).filter((other) => /^(.*)-[0-9a-f]{16}$/.exec(other)?.[1] === name);
    for (const older of olderOnes.filter((other) => join(cache, other) !== kept)) {
      await rm(join(cache, older), { recursive: true, force: true });
    }
  }
  // Node's own copying takes three times as long and loses owners.
  const copied = spawnSync('cp', ['-a', kept, target], { encoding: 'utf8' });
  if (copied.status !== 0) throw new Error(`cp of ${kept} ended with ${copied.status}: ${copied.stderr}`);
}
