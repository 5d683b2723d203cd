import { join } from 'node:path';
import type { Lane, Outcome, SendResult } from '../sink.js';
import { committedLength, DayFile } from './day-file.js';
import { errorCode, type FileAccess } from './file-access.js';
import { lineBytes, type FileOperation, isSafePath } from './format.js';

/**
 * Settles what a dead attempt may have written. Lines beyond the committed lengths count as delivered if they are
 * exactly the lines of these operations, in order and without a gap. Everything else beyond is cut.
 *
 * It cuts a torn line; all lines after the first operation that is not found, to keep the order within the pigeonhole;
 * a line whose operation has changed since (identity hidden or erased), which is written again in its current form; and
 * lines of other operations. The ledger passes everything in flight and counts none of the cut lines as delivered, so
 * it sends those still wanted again; keeping them would duplicate them. A second run has the same result.
 *
 * A missing or shorter file of an earlier day is not a fault, because people may move old files away.
 * @throws {DestinationChanged} if a relevant file is shorter than its committed length or was changed there
 */
export async function recoverBatch(
  root: string,
  operations: readonly FileOperation[],
  lane: Lane,
  access: FileAccess,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const files = new Map<string, DayFile | undefined>();
  try {
    for (const [position, operation] of operations.entries()) {
      if (!isSafePath(operation.path)) continue; // was never written
      const file = await fileFor(operation.path);
      if (!(await file?.accept(lineBytes(operation)))) break;
      outcomes[position] = { kind: 'delivered' };
    }
    for (const path of await grownFiles(root, lane, access)) await fileFor(path);
    for (const file of files.values()) {
      if (file === undefined) continue;
      const isLonger = (await file.size()) > file.length;
      if (isLonger) await file.cut(file.length);
      if (isLonger || file.length > file.committedLength) await file.sync();
    }
  } finally {
    await Promise.allSettled([...files.values()].map(async (file) => file?.close()));
  }
  const grown = [...files].flatMap(([path, file]) =>
    file !== undefined && file.length > file.committedLength ? [[path, file.length] as const] : [],
  );
  return { outcomes, memory: Object.fromEntries(grown) };

  async function fileFor(path: string): Promise<DayFile | undefined> {
    if (!files.has(path)) {
      files.set(path, await DayFile.openForRecovery(root, path, committedLength(lane.memory, path), access));
    }
    return files.get(path);
  }
}

/** The files of the lane that are longer than the lane remembers, whichever operations wrote there. */
async function grownFiles(root: string, lane: Lane, access: FileAccess): Promise<string[]> {
  const folder = `${lane.workspace}/${lane.pigeonholeId}`;
  const grown: string[] = [];
  for (const list of await namesIn(join(root, folder), 'folder', access)) {
    for (const name of await namesIn(join(root, folder, list), 'file', access)) {
      const path = `${folder}/${list}/${name}`;
      if (!isSafePath(path)) continue; // not of this sink's making
      const { size } = await access.lstat(join(root, path));
      if (size > committedLength(lane.memory, path)) grown.push(path);
    }
  }
  return grown;
}

async function namesIn(folder: string, kind: 'file' | 'folder', access: FileAccess): Promise<string[]> {
  try {
    const entries = await access.readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => (kind === 'file' ? entry.isFile() : entry.isDirectory())).map(({ name }) => name);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
