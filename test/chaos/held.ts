import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ArchivedChange, readArchive } from '../kit/archive.js';

/** Changes that a sink received, in the order of arrival. */
export type HeldLine = ArchivedChange;

/** Returns the lines of the file sink; none before the first write. */
export function heldByFile(folder: string): HeldLine[] {
  const archive = join(folder, 'archive');
  return existsSync(archive) ? readArchive(archive) : [];
}

/** Returns accepted changes, repeats included. An incomplete last line was not answered and does not count. */
export function heldByReceiver(folder: string, name: string): HeldLine[] {
  const log = join(folder, `${name}.ndjson`);
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { change: HeldLine }).change);
}
