import type { Lane, Outcome, SendResult } from '../sink.js';
import { confirmHeld } from '../while-held.js';
import { classifyFailure } from './classify-failure.js';
import { committedLength, DayFile } from './day-file.js';
import type { FileAccess } from './file-access.js';
import { linesBytes, type FileOperation, isSafePath } from './format.js';

/**
 * Appends the lines of a batch in order and makes them durable before any counts as delivered.
 *
 * The delivered lines are always the first ones of the batch, across all its files: the first failed write ends the
 * batch, and the files keep only the lines before it. If a file cannot be made durable, no line of the batch counts,
 * because the system may have dropped what it could not write.
 */
export async function appendBatch(
  root: string,
  operations: readonly FileOperation[],
  lane: Lane,
  signal: AbortSignal,
  access: FileAccess,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(({ path }) => (isSafePath(path) ? { kind: 'unsent' } : unsafePath));
  const files = new Map<string, DayFile>();
  const written: number[] = [];
  let failure: { readonly position: number; readonly error: unknown } | undefined;
  try {
    for (const run of runsOfOneFile(operations)) {
      if (signal.aborted) break;
      try {
        await confirmHeld();
        const file = await fileFor(run.path);
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
      files.get(path) ?? (await DayFile.openForAppending(root, path, committedLength(lane.memory, path), access));
    files.set(path, file);
    return file;
  }
}

const unsafePath: Outcome = {
  kind: 'rejected',
  cause: 'unsafe-path',
  detail: 'the workspace, list or timestamp of this change cannot be part of a file name',
};

/** Neighbouring operations on the same file, which are written with one call. Unsafe paths are left out. */
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
