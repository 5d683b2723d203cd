import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './errors.js';

/**
 * Returns the code of the error with which creating a folder, or a file in it, would fail; undefined if it would
 * succeed. Creates nothing: if the folder does not exist, this checks the nearest parent that does.
 * @param atFile the code if a file is in its place
 */
export function whyNotWritable(folder: string, atFile = 'EEXIST'): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return atFile;
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const parent = dirname(folder);
    return codeOf(error) === 'ENOENT' && parent !== folder ? whyNotWritable(parent, 'ENOTDIR') : codeOf(error);
  }
}
