import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CheckLine } from '../sink.js';
import { classifyFailure, DestinationChanged, errorCode, FILE_MODE, type FileAccess } from './file-access.js';
import { MARKER_FILE, readMarker } from './marker.js';

/**
 * Minimum free space. If less is free, the check reports a problem. It is enough for about 100,000 changes, a day of a
 * large event.
 */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
const TRIAL_FILE = '.pigeonpost-check';

/**
 * Checks that the folder is writable, belongs to this sink and has enough space. If the folder does not exist, checks
 * the nearest existing folder above it. Leaves nothing behind. Never throws.
 */
export async function checkFolder(folder: string, sink: string, access: FileAccess): Promise<CheckLine[]> {
  try {
    const existing = await nearestExisting(folder, access);
    if (existing === folder) await requireOwnMarker(folder, sink, access);
    await tryWriting(existing, access);
    return [
      {
        ok: true,
        text: existing === folder ? `${folder} is writable` : `${folder} does not exist yet and can be created`,
      },
      await freeSpace(existing, access),
    ];
  } catch (error) {
    return [{ ok: false, text: classifyFailure(error, folder).detail }];
  }
}

async function nearestExisting(folder: string, access: FileAccess): Promise<string> {
  try {
    if ((await access.stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return nearestExisting(dirname(folder), access);
  }
  throw new DestinationChanged(`${folder} is not a folder: name one in "folder"`);
}

/**
 * Checks the marker's sink name. The check does not know the ledger's id; the sink compares it before it sends for the
 * first time.
 */
async function requireOwnMarker(folder: string, sink: string, access: FileAccess): Promise<void> {
  const entries = await access.readdir(folder);
  const marker = entries.includes(MARKER_FILE) ? await readMarker(folder, access) : undefined;
  if (marker !== undefined && marker.sink !== sink) {
    throw new DestinationChanged(`${folder} belongs to the sink "${marker.sink}": give this sink a folder of its own`);
  }
}

async function tryWriting(folder: string, access: FileAccess): Promise<void> {
  const path = join(folder, `${TRIAL_FILE}-${process.pid}`);
  const handle = await access.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, FILE_MODE);
  try {
    await handle.writeFile('pigeonpost check\n');
  } finally {
    await handle.close();
    await access.rm(path, { force: true });
  }
}

async function freeSpace(folder: string, access: FileAccess): Promise<CheckLine> {
  const { bavail, bsize } = await access.statfs(folder);
  const freeMiB = (bavail * bsize) / 2 ** 20;
  const inWords = freeMiB < 10 * 1024 ? `${Math.floor(freeMiB)} MiB` : `${Math.floor(freeMiB / 1024)} GiB`;
  return bavail * bsize >= MIN_FREE_BYTES
    ? { ok: true, text: `${inWords} are free in ${folder}` }
    : { ok: false, text: `only ${inWords} are free in ${folder}: free more space` };
}
