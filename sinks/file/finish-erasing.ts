import { dirname, join } from 'node:path';
import type { Lane } from '../sink.js';
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
 * remembers is the new file's already. Does nothing when it is done; whoever takes the lane does it before anything else.
 */
export async function finishErasing(root: string, lane: Lane, access: FileAccess): Promise<void> {
  const path = lane.memory[pendingKey];
  if (typeof path !== 'string' || !isSafePath(path)) return;
  const place = join(root, path);
  try {
    await access.rename(withEnding(place), place);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error; // it stands in its place: only the memory is behind
  }
  await syncFolder(dirname(place), access);
  await lane.remember({ [pendingKey]: null });
}
