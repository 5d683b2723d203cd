import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface ArchivedChange {
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly data: unknown;
}

/**
 * Items that a file sink's folder holds, by list: counted from its lines alone, whatever pigeonpost thinks of them.
 * An item counts once, however many revisions it has, and not at all once its last one is a deletion.
 * @throws {SyntaxError} for a line that is not JSON: while nothing is being written there must be none
 */
export async function countArchive(folder: string): Promise<Map<string, number>> {
  const latest = new Map<string, { list: string; revision: number; exists: boolean }>();
  for (const file of await ndjsonFiles(folder)) {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      const { pigeonholeId, list, key, revision, data } = JSON.parse(line) as ArchivedChange;
      const item = JSON.stringify([pigeonholeId, list, key]);
      if ((latest.get(item)?.revision ?? 0) <= revision) latest.set(item, { list, revision, exists: data !== null });
    }
  }
  const counts = new Map<string, number>();
  for (const { list, exists } of latest.values()) if (exists) counts.set(list, (counts.get(list) ?? 0) + 1);
  return counts;
}

async function ndjsonFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ndjson'))
    .map((entry) => join(entry.parentPath, entry.name));
}
