import { dirname, join } from 'node:path';
import type { Lane } from '../sink.js';
import { confirmHeld } from '../while-held.js';
import { committedLength } from './committed-length.js';
import { errorCode, type FileAccess, syncFolder } from './file-access.js';
import { isSafePath } from './safe-path.js';

/** Where a lane remembers the file that is about to take the place of another: no path is called so. */
export const pendingKey = 'erasing';

/** The name of what is to take a file's place: none that is taken for a file of lines. */
export function withEnding(place: string): string {
  return `${place}.erasing`;
}

/**
 * Puts a rewritten file into its place, where the lane remembers that this was about to happen: the length that it
 * remembers is the new file's already. One in which nothing is left goes, with the folders that held nothing else. Does
 * nothing when it is done; whoever takes the lane does it before anything else.
 */
export async function finishErasing(root: string, lane: Lane, access: FileAccess): Promise<void> {
  const path = lane.memory[pendingKey];
  if (typeof path !== 'string' || !isSafePath(path)) return;
  await confirmHeld();
  const place = join(root, path);
  if (committedLength(lane.memory, path) === 0) await removeEmpty(place, access);
  else {
    try {
      await access.rename(withEnding(place), place);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error; // it stands in its place: only the memory is behind
    }
    await syncFolder(dirname(place), access);
  }
  await lane.remember({ [pendingKey]: null });
}

/** The folders of the list and of the pigeonhole are the lane's own: nobody makes a file there meanwhile. */
async function removeEmpty(place: string, access: FileAccess): Promise<void> {
  await access.rm(place, { force: true });
  await access.rm(withEnding(place), { force: true });
  let folder = dirname(place);
  for (const _ of ['list', 'pigeonhole']) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- the inner one first
      await access.rmdir(folder);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) throw error;
      break;
    }
    folder = dirname(folder);
  }
  await syncFolder(folder, access).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
}
