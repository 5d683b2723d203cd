import { constants } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { FILE_MODE, FOLDER_MODE, type Folder, NO_FOLLOW, syncFolder } from './file-access.js';

/** The folder of whole files, beside those of the workspaces. Its name cannot be that of a workspace. */
const EXPORTS = '_exports';

/**
 * Writes a whole file in one step: first a draft beside it, which then takes its place. A killed process leaves a draft,
 * which the next attempt removes.
 */
export async function putWholeFile(
  { root, access }: Folder,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const place = join(root, EXPORTS, name);
  const folder = dirname(place);
  await access.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const prefix = `.${basename(place)}.`;
  for (const each of await access.readdir(folder)) {
    if (each.startsWith(prefix)) await access.rm(join(folder, each), { force: true });
  }
  const draft = join(folder, `${prefix}${randomUUID()}`);
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
    const handle = await access.open(draft, flags, FILE_MODE);
    try {
      for await (const part of bytes) {
        signal.throwIfAborted();
        await handle.writeFile(part);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    signal.throwIfAborted();
    await access.rename(draft, place);
  } catch (error) {
    await access.rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  for (let made = folder; made.startsWith(root); made = dirname(made)) await syncFolder(made, access);
}

/** Removes a whole file. A second call changes nothing. */
export async function removeWholeFile({ root, access }: Folder, name: string): Promise<void> {
  await access.rm(join(root, EXPORTS, name), { force: true });
}
