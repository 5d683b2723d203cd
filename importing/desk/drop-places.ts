import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config, ImportFolder } from '../../config/config.js';
import { isDroppedName } from './dropped-names.js';
import type { FileLook } from './settled-files.js';

/** A folder whose files go to one pigeonhole. */
export interface DropPlace {
  readonly entry: ImportFolder;
  readonly folder: string;
  /** WORKSPACE/ID. */
  readonly pigeonhole: string;
}

/**
 * The folders that the configuration names, as far as they are there; where a pattern chooses, each sub-folder that is
 * called like an id.
 * @param onMissing told of a folder that cannot be read
 */
export async function findDropPlaces(
  config: Pick<Config, 'imports' | 'folder'>,
  onMissing: (folder: string, code: string) => void,
): Promise<DropPlace[]> {
  const places = await Promise.all(
    config.imports.map(async (entry): Promise<DropPlace[]> => {
      const folder = resolve(config.folder, entry.folder);
      const { workspace, pigeonhole } = entry;
      if (typeof pigeonhole === 'number') return [{ entry, folder, pigeonhole: `${workspace}/${pigeonhole}` }];
      const inside = await entriesOf(folder, onMissing);
      return inside
        .filter((each) => each.isDirectory() && /^[1-9]\d{0,14}$/.test(each.name))
        .map(({ name }) => ({ entry, folder: join(folder, name), pigeonhole: `${workspace}/${name}` }));
    }),
  );
  return places.flat();
}

/** The files of a place that could be somebody's list, in the order of their names. */
export async function findDroppedFiles(
  { folder }: DropPlace,
  onMissing: (folder: string, code: string) => void,
): Promise<FileLook[]> {
  const names = (await entriesOf(folder, onMissing))
    .filter((each) => each.isFile() && isDroppedName(each.name))
    .map(({ name }) => name)
    .toSorted();
  const looks = await Promise.all(
    names.map(async (name): Promise<FileLook | undefined> => {
      const path = join(folder, name);
      const found = await stat(path).catch(() => undefined); // it was taken away this moment
      return found && { path, bytes: found.size, modifiedMs: found.mtimeMs, inode: found.ino };
    }),
  );
  return looks.filter((look) => look !== undefined);
}

/**
 * The bytes of such a file. Whoever may write into the folder can put something else in its place after it was found:
 * a link to a file that is not theirs is not followed, and a pipe is not waited for.
 */
export async function* readDroppedFile(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  for await (const piece of file.createReadStream()) yield piece as Buffer;
}

async function entriesOf(folder: string, onMissing: (folder: string, code: string) => void) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    onMissing(folder, (error as NodeJS.ErrnoException).code ?? 'unknown error');
    return [];
  }
}
