import { constants } from 'node:fs';
import { join } from 'node:path';
import { groupBy } from '../../base/grouping.js';
import { confirmHeld } from '../../base/lease.js';
import type { ExtraHeld, Lane, Outcome } from '../sink.js';
import { committedLength, DayFile, type FileOperation, isSafePath, linesWithin, pathOf } from './day-file.js';
import { finishErasing, rewriteFile } from './erase-files.js';
import { classifyFailure, errorCode, type Folder, NO_FOLLOW } from './file-access.js';
import { type LineFinder, placeOf } from './read-back.js';

const NEWLINE = 0x0a;
const pieceBytes = 1024 * 1024;

/**
 * Accepts the files of a lane as they are now, so that the sink can append to a file that was cut or edited. Stores
 * the present length up to the last complete line of each file that no longer ends where the sink left it. Bytes after a
 * line that does end there stay uncommitted, as after a crash. A file of an earlier day that was moved away stays
 * expected, so that a late change does not create it again. May run again.
 * @param today the UTC day
 */
export async function acceptFiles({ root, access }: Folder, lane: Lane, today: string): Promise<void> {
  await finishErasing(root, lane, access);
  const changed: Record<string, number> = {};
  for (const path of Object.keys(lane.memory).filter(isSafePath)) {
    const length = committedLength(lane.memory, path);
    if (length === 0) continue;
    const now = await lengthNow(join(root, path), length);
    if (now === undefined && !path.endsWith(`/${today}.ndjson`)) continue;
    if (now !== length) changed[path] = now ?? 0;
  }
  await confirmHeld();
  if (Object.keys(changed).length > 0) await lane.remember(changed);

  /** Returns the committed length if a line ends there, otherwise the end of the last complete line; undefined without a file. */
  async function lengthNow(place: string, committed: number): Promise<number | undefined> {
    let handle;
    try {
      handle = await access.open(place, constants.O_RDONLY | NO_FOLLOW);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    try {
      const { size } = await handle.stat();
      const last = Buffer.alloc(1);
      if (size >= committed) await handle.read(last, 0, 1, committed - 1);
      if (last[0] === NEWLINE) return committed;
      let end = 0;
      for await (const { to } of linesWithin(handle, { from: 0, to: size }, pieceBytes)) end = to;
      return end;
    } finally {
      await handle.close();
    }
  }
}

/**
 * Removes lines from the files of a lane: all lines of revisions that must not be there, and the further copies of all
 * others. First accepts the files as they are now, and cuts off what is not committed. Each file is then rewritten as in
 * an erasure. May run again.
 */
export async function removeLines(
  { root, access }: Folder,
  extras: readonly ExtraHeld<FileOperation>[],
  {
    today,
    ...run
  }: { readonly lane: Lane; readonly finder: LineFinder; readonly today: string; readonly signal: AbortSignal },
): Promise<Outcome[]> {
  const { finder, signal } = run;
  let memory = run.lane.memory;
  const lane: Lane = {
    ...run.lane,
    get memory() {
      return memory;
    },
    async remember(more) {
      await run.lane.remember(more);
      memory = { ...memory, ...more };
    },
  };
  const outcomes: Outcome[] = extras.map(() => ({ kind: 'unsent' }));
  await acceptFiles({ root, access }, lane, today);
  for (const [path, indexes] of groupBy([...extras.keys()], (index) => pathOf(extras[index]!.change))) {
    if (signal.aborted) break;
    const outcome = await removeFrom(
      path,
      indexes.map((index) => extras[index]!),
    );
    for (const index of indexes) outcomes[index] = outcome;
  }
  return outcomes;

  async function removeFrom(path: string, own: readonly ExtraHeld<FileOperation>[]): Promise<Outcome> {
    if (!isSafePath(path)) return { kind: 'delivered' }; // no line was written
    try {
      const source = { root, path, committedLength: committedLength(memory, path), access };
      await (await DayFile.openForAppending(source)).close();
      const revisions = own.map(({ change }) => change);
      const found = await finder.find(path, revisions, signal);
      const places = own.flatMap(({ change, expected }) =>
        expected === 'absence' ? found?.placesOf(change) : found?.of(change)?.copies,
      );
      const removed = new Set(places);
      await rewriteFile(source, lane, ({ line, from }) => (removed.has(placeOf(path, from)) ? null : line));
      return { kind: 'delivered' };
    } catch (error) {
      return signal.aborted ? { kind: 'unsent' } : classifyFailure(error, root);
    }
  }
}
