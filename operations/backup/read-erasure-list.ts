import { readFile } from 'node:fs/promises';
import { erasureListSchema } from '../../api/forgotten.js';
import type { ErasureList } from '../../people/forget/erasure-list.js';
import { BackupError } from './backup-error.js';

/** The list that `pigeonpost erasures export` has written. @throws {BackupError} kind `missing` or `unusable` */
export async function readErasureListFile(file: string): Promise<ErasureList> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError('missing', `${file} cannot be read (${error.code}): give the file of "erasures export"`);
  });
  try {
    return erasureListSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new BackupError('unusable', `${file} is no list of erasures: give one that "erasures export" wrote`, {
      cause: error,
    });
  }
}
