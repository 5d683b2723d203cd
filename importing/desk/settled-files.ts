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
