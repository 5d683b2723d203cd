import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../base/errors.js';

/** Why a file was not replaced. Then it is as it was. */
export type NotReplaced = { readonly kind: 'changed' } | { readonly kind: 'not-writable'; readonly code: string };

/**
 * Replaces a file in one step, so that a crash leaves the old text or the new one. A link stays a link, and the
 * permissions stay. The new text is first a file of its own, whose name no other file has.
 * @param before the text that the file must still have
 * @returns null if it is replaced
 */
export async function replaceFile(file: string, before: string, text: string): Promise<NotReplaced | null> {
  let written: string | undefined;
  try {
    const target = await realpath(file);
    const { mode } = await stat(target);
    const own = `${target}.${randomUUID()}.new`;
    const handle = await open(own, 'wx', mode);
    written = own;
    try {
      await handle.chmod(mode & 0o7777); // `open` leaves out what the umask of the process forbids
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await readFile(target, 'utf8')) !== before) {
      await rm(own, { force: true });
      return { kind: 'changed' };
    }
    await rename(own, target);
    return null;
  } catch (error) {
    if (written !== undefined) await rm(written, { force: true }).catch(() => undefined);
    return { kind: 'not-writable', code: codeOf(error) };
  }
}

/** Whether this process may probably replace the file. A file that is mounted on its own cannot be, in any case. */
export async function isReplaceable(file: string): Promise<boolean> {
  try {
    const target = await realpath(file);
    await access(target, constants.W_OK);
    await access(dirname(target), constants.W_OK);
    return (await stat(target)).dev === (await stat(dirname(target))).dev;
  } catch {
    return false;
  }
}

let last: Promise<unknown> = Promise.resolve();

/** Runs work that replaces the file of this process and applies it. One at a time, because each could undo the other. */
export function replacingInTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const mine = last.then(work);
  last = mine.catch(() => undefined);
  return mine;
}
