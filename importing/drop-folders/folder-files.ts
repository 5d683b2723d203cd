import { constants, createWriteStream } from 'node:fs';
import { open, readdir, stat, access, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config, ImportFolder } from '../../config/config.js';
import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';

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

/** What is written beside a file that was imported, or could not be. */
export const reportEnding = '.report.csv';
export const errorEnding = '.error.txt';

/** What programs leave while they write, and hidden files. Excel's lock begins with `~$`, LibreOffice's with `.~lock`. */
const unfinished = /^(?:\.|~)|~$|\.(?:tmp|part|partial|crdownload|filepart|download|swp|bak)$/i;

/** Whether a file in a drop folder is somebody's list, by its name: not what this program or another one left there. Pure. */
export function isDroppedName(name: string): boolean {
  return !name.endsWith(reportEnding) && !name.endsWith(errorEnding) && !unfinished.test(name);
}

/** What a file looks like from outside: another of these is another content, or soon will be. */
export interface FileLook {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly inode: number;
}

/** A copy over a slow line pauses for less. */
const settleMs = 3000;

/**
 * Tells which files are whole: those that have looked the same for some seconds. By a clock that never jumps, since
 * the times that a file carries may be another machine's.
 */
export class SettledFiles {
  #seen = new Map<string, { readonly look: FileLook; readonly sinceMs: number }>();

  /** @param files all that are there now; of others nothing is remembered */
  whole(files: readonly FileLook[], nowMs: number): FileLook[] {
    const seen = new Map<string, { readonly look: FileLook; readonly sinceMs: number }>();
    for (const look of files) {
      const before = this.#seen.get(look.path);
      seen.set(look.path, before !== undefined && isSame(before.look, look) ? before : { look, sinceMs: nowMs });
    }
    this.#seen = seen;
    return files.filter(({ path }) => nowMs - seen.get(path)!.sinceMs >= settleMs);
  }
}

function isSame(a: FileLook, b: FileLook): boolean {
  return a.bytes === b.bytes && a.modifiedMs === b.modifiedMs && a.inode === b.inode;
}

/** Whether a file's report, or why it could not be used, stands beside it. */
export async function standsBeside(path: string, what: 'report' | 'error'): Promise<boolean> {
  return await access(placeOf(path, what)).then(
    () => true,
    () => false,
  );
}

/** Writes the one and takes the other away: a file has a report or an error. Whole, or not at all. */
export async function writeBeside(
  path: string,
  what: 'report' | 'error',
  parts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const place = placeOf(path, what);
  const draft = `${place}.${randomUUID()}.tmp`; // several processes may write it, of whose ids two can be the same
  try {
    const { mode } = await stat(path); // people's data: for whoever may read the file itself
    await pipeline(parts, createWriteStream(draft, { mode: mode & 0o666 }));
    await rename(draft, place);
  } finally {
    await rm(draft, { force: true });
  }
  await removeBeside(path, what === 'report' ? 'error' : 'report');
}

export async function removeBeside(path: string, what: 'report' | 'error'): Promise<void> {
  await rm(placeOf(path, what), { force: true });
}

function placeOf(path: string, what: 'report' | 'error'): string {
  return `${path}${what === 'report' ? reportEnding : errorEnding}`;
}
