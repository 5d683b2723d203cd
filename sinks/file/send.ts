import type { Lane, Outcome, SendResult } from '../sink.js';
import { confirmHeld } from '../../base/lease.js';
import { classifyFailure, errorCode, type FileAccess, type Folder } from './file-access.js';
import { committedLength, DayFile, type FileOperation, isSafePath, lineBytes, linesBytes } from './day-file.js';
import { join } from 'node:path';

/**
 * Appends the lines of a batch in order, and makes them durable before any of them counts as delivered.
 *
 * The first failed write ends the batch, and the files keep only the lines before it. The delivered lines are therefore
 * always the first ones of the batch, across all its files. If a file cannot be made durable, no line of the batch
 * counts, because the system may have discarded what it could not write.
 */
export async function appendBatch(
  { root, access }: Folder,
  operations: readonly FileOperation[],
  lane: Lane,
  signal: AbortSignal,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(({ path }) => (isSafePath(path) ? { kind: 'unsent' } : unsafePath));
  const files = new Map<string, DayFile>();
  const written: number[] = [];
  let failure: { readonly position: number; readonly error: unknown } | undefined;
  try {
    for (const run of runsOfOneFile(operations)) {
      if (signal.aborted) break;
      try {
        const file = await fileFor(run.path);
        await confirmHeld();
        await file.append(linesBytes(run.positions.map((position) => operations[position]!)));
      } catch (error) {
        failure = { position: run.positions[0]!, error };
        break;
      }
      written.push(...run.positions);
    }
    const touched = [...files.values()].filter((file) => file.length > file.committedLength);
    try {
      await Promise.all(touched.map((file) => file.sync()));
    } catch (error) {
      await Promise.allSettled(touched.map((file) => file.cut(file.committedLength)));
      failure = { position: written[0]!, error };
      written.length = 0;
    }
  } finally {
    await Promise.allSettled([...files.values()].map((file) => file.close()));
  }
  for (const position of written) outcomes[position] = { kind: 'delivered' };
  if (failure !== undefined) outcomes[failure.position] = classifyFailure(failure.error, root);
  const grown = [...files].filter(([, file]) => file.length > file.committedLength);
  return { outcomes, memory: Object.fromEntries(grown.map(([path, file]) => [path, file.length])) };

  async function fileFor(path: string): Promise<DayFile> {
    const file =
      files.get(path) ??
      (await DayFile.openForAppending({ root, path, committedLength: committedLength(lane.memory, path), access }));
    files.set(path, file);
    return file;
  }
}

const unsafePath: Outcome = {
  kind: 'rejected',
  cause: 'unsafe-path',
  detail: 'the workspace, list or timestamp of this change cannot be part of a file name',
};

/**
 * Groups consecutive operations on the same file, which are written with one call. Operations with unsafe paths are
 * left out.
 */
function runsOfOneFile(
  operations: readonly FileOperation[],
): { readonly path: string; readonly positions: number[] }[] {
  const runs: { readonly path: string; readonly positions: number[] }[] = [];
  operations.forEach(({ path }, position) => {
    if (!isSafePath(path)) return;
    const last = runs.at(-1);
    if (last?.path === path) last.positions.push(position);
    else runs.push({ path, positions: [position] });
  });
  return runs;
}

/**
 * Settles the lines that a dead attempt may have written. Lines beyond the committed lengths count as delivered if they
 * are exactly the lines of these operations, in order and without a gap. All other bytes beyond the committed lengths
 * are cut off.
 *
 * The following lines are cut off: an incomplete line; all lines after the first operation that is not found, to keep
 * the order within the pigeonhole; a line whose operation has changed since (because the identity was hidden or
 * erased), which is written again in its present form; and lines of other operations. The engine passes all operations
 * in flight and counts none of the cut lines as delivered, so it sends them again if they are still wanted. If they
 * were kept, they would be duplicates. A second run has the same result.
 *
 * A missing or shorter file of an earlier day is not a fault, because people may move old files away.
 * @throws {DestinationChanged} if a file that this function opens is shorter than its committed length, or has no end
 *   of line at that length
 */
export async function recoverBatch(
  { root, access }: Folder,
  operations: readonly FileOperation[],
  lane: Lane,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const files = new Map<string, DayFile | undefined>();
  try {
    for (const [position, operation] of operations.entries()) {
      if (!isSafePath(operation.path)) continue; // a line with an unsafe path was never written
      const file = await fileFor(operation.path);
      if (!(await file?.accept(lineBytes(operation)))) break;
      outcomes[position] = { kind: 'delivered' };
    }
    for (const path of await grownFiles(root, lane, access)) await fileFor(path);
    for (const file of files.values()) {
      // Replaces the file even if nothing has to be cut off, because the previous holder may be paused just before it
      // writes or cuts.
      await file?.replaceByCopy();
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
      files.set(
        path,
        await DayFile.openForRecovery({ root, path, committedLength: committedLength(lane.memory, path), access }),
      );
    }
    return files.get(path);
  }
}

/** Returns the files of the lane that are longer than their committed length, whichever operations wrote to them. */
async function grownFiles(root: string, lane: Lane, access: FileAccess): Promise<string[]> {
  const folder = `${lane.workspace}/${lane.pigeonholeId}`;
  const grown: string[] = [];
  for (const list of await namesIn(join(root, folder), 'folder', access)) {
    for (const name of await namesIn(join(root, folder, list), 'file', access)) {
      const path = `${folder}/${list}/${name}`;
      if (!isSafePath(path)) continue; // this sink did not create the file
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
