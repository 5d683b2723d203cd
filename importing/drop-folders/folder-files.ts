import { codeOf } from '../../base/errors.js';
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

/** Called for a folder that cannot be read. */
type OnMissing = (folder: string, code: string, entry: ImportFolder) => void;

/** Returns the configured folders; for an entry with a name pattern, each of its sub-folders whose name is an ID. */
export async function findDropPlaces(
  config: Pick<Config, 'imports' | 'folder'>,
  onMissing: OnMissing,
): Promise<DropPlace[]> {
  const places = await Promise.all(
    config.imports.map(async (entry): Promise<DropPlace[]> => {
      const folder = resolve(config.folder, entry.folder);
      const { workspace, pigeonhole } = entry;
      if (typeof pigeonhole === 'number') return [{ entry, folder, pigeonhole: `${workspace}/${pigeonhole}` }];
      const inside = await entriesOf(folder, entry, onMissing);
      return inside
        .filter((each) => each.isDirectory() && /^[1-9]\d{0,14}$/.test(each.name))
        .map(({ name }) => ({ entry, folder: join(folder, name), pigeonhole: `${workspace}/${name}` }));
    }),
  );
  return places.flat();
}

/** Returns the files of a folder that may be lists of registrants, sorted by name. */
export async function findDroppedFiles({ entry, folder }: DropPlace, onMissing: OnMissing): Promise<FileLook[]> {
  const names = (await entriesOf(folder, entry, onMissing))
    .filter((each) => each.isFile() && isDroppedName(each.name))
    .map(({ name }) => name)
    .toSorted();
  const looks = await Promise.all(
    names.map(async (name): Promise<FileLook | undefined> => {
      const path = join(folder, name);
      const found = await stat(path).catch(() => undefined); // it was just removed
      return found && { path, bytes: found.size, modifiedMs: found.mtimeMs, inode: found.ino };
    }),
  );
  return looks.filter((look) => look !== undefined);
}

/**
 * Reads such a file. A user with write access may have replaced it since: links to other files are not followed, and
 * pipes are not waited for.
 */
export async function* readDroppedFile(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  for await (const piece of file.createReadStream()) yield piece as Buffer;
}

async function entriesOf(folder: string, entry: ImportFolder, onMissing: OnMissing) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    onMissing(folder, codeOf(error), entry);
    return [];
  }
}

/** Suffixes of the files written beside an imported or unusable file. */
const reportEnding = '.report.csv';
const errorEnding = '.error.txt';

/** Temporary and hidden files. Excel's lock starts with `~$`, LibreOffice's with `.~lock`. */
const unfinished = /^(?:\.|~)|~$|\.(?:tmp|part|partial|crdownload|filepart|download|swp|bak)$/i;

/** Whether the name of a file in a drop folder is that of a list, not of a report or temporary file. Pure. */
export function isDroppedName(name: string): boolean {
  return !name.endsWith(reportEnding) && !name.endsWith(errorEnding) && !unfinished.test(name);
}

/** Metadata of a file. If any of it changes, the content has changed or will soon. */
export interface FileLook {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly inode: number;
}

/** Longer than the pauses of a copy over a slow connection. */
const settleMs = 3000;

/**
 * Finds complete files: those whose metadata has not changed for 3 s, by a clock that never jumps, because file times
 * may come from another machine.
 */
export class SettledFiles {
  #seen = new Map<string, { readonly look: FileLook; readonly sinceMs: number }>();

  /** @param files all files that exist now; others are dropped from memory */
  whole(files: readonly FileLook[], nowMs: number): FileLook[] {
    const seen = new Map<string, { readonly look: FileLook; readonly sinceMs: number }>();
    for (const look of files) {
      const before = this.#seen.get(look.path);
      seen.set(look.path, before !== undefined && isUnchanged(before.look, look) ? before : { look, sinceMs: nowMs });
    }
    this.#seen = seen;
    return files.filter(({ path }) => nowMs - seen.get(path)!.sinceMs >= settleMs);
  }
}

/** Whether a file looks as it did before. */
export function isUnchanged(a: FileLook, b: FileLook): boolean {
  return a.bytes === b.bytes && a.modifiedMs === b.modifiedMs && a.inode === b.inode;
}

/** Whether the report or error file of a file exists. */
export async function standsBeside(path: string, what: 'report' | 'error'): Promise<boolean> {
  return await access(placeOf(path, what)).then(
    () => true,
    () => false,
  );
}

/** Writes a report or error file atomically and removes the other. */
export async function writeBeside(
  path: string,
  what: 'report' | 'error',
  parts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const place = placeOf(path, what);
  const draft = `${place}.${randomUUID()}.tmp`; // several processes may write it, and in containers their process ids may be equal
  try {
    const { mode } = await stat(path); // personal data: readable by the same users as the file itself
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
