import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { errorEnding, reportEnding } from './dropped-names.js';

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
