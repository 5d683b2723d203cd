import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ArchivedChange, readArchive } from '../kit/archive.js';

/** What a sink was given, in the order in which it was. */
export type HeldLine = ArchivedChange;

/** The lines of the file sink; empty while it has none. */
export function heldByFile(folder: string): HeldLine[] {
  const archive = join(folder, 'archive');
  return existsSync(archive) ? readArchive(archive) : [];
}

/** What a receiver has taken, repeats included: it writes each down before it answers. A torn last line is no line yet. */
export function heldByReceiver(folder: string, name: string): HeldLine[] {
  const log = join(folder, `${name}.ndjson`);
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { change: HeldLine }).change);
}
