import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ErasedItems, rewriteLine } from '../change.js';
import type { EraseResult, Lane } from '../sink.js';
import { committedLength, DayFile, type DayFileOptions, isSafePath, type PlacedLine, writeAll } from './day-file.js';
import { FILE_MODE, type FileAccess, type Folder, syncFolder, errorCode } from './file-access.js';
import { confirmHeld } from '../../base/lease.js';

const pieceBytes = 1024 * 1024;

/**
 * Removes erased data from the files of a lane. For each file, writes a new version beside the old one and makes it
 * durable. Then commits the new length and the pending replacement to the lane's memory. Only then does the new version
 * replace the old one. If the process dies in between, the next holder of the lane completes the replacement first
 * (`finishErasing`), so that a file always matches the lane's memory. A file without erased data stays as it is. Lines
 * that are not committed are ignored.
 */
export async function eraseFiles(
  { root, access }: Folder,
  erased: ErasedItems,
  lane: Lane,
  signal: AbortSignal,
): Promise<EraseResult> {
  await finishErasing(root, lane, access);
  let count = 0;
  let missing = 0;
  for (const path of Object.keys(lane.memory).filter(isSafePath).toSorted()) {
    if (signal.aborted) return { kind: 'retry', detail: 'stopped before every file was checked' };
    const length = committedLength(lane.memory, path);
    if (length === 0 || !concerns(path, erased)) continue;
    // One after another, because each file changes the lane's memory.
    const list = path.split('/')[2]!;
    const done = await rewriteFile({ root, path, committedLength: length, access }, lane, ({ line }) =>
      rewriteLine(line, list, erased),
    );
    if (done === 'missing') missing += 1;
    else count += done;
  }
  return { kind: 'erased', count, missing };
}

/** Whether a file can contain erased data. The third part of its path is the list. */
function concerns(path: string, { keys, questions }: ErasedItems): boolean {
  const list = path.split('/')[2]!;
  return keys.has(list) || questions.size > 0;
}

/**
 * Writes a new version of a file with other lines, and puts it into the place of the old one (`eraseFiles`).
 * @param rewrite returns a line as it has to be; null to remove it
 * @returns the number of changed lines; `missing` if there is no such file
 */
export async function rewriteFile(
  source: DayFileOptions,
  lane: Lane,
  rewrite: (placed: PlacedLine) => string | null,
): Promise<number | 'missing'> {
  const { root, path, access } = source;
  const file = await DayFile.openForRecovery(source);
  if (file === undefined) return 'missing';
  const place = newVersionOf(join(root, path));
  let changed = 0;
  let written = 0;
  try {
    // Creates a new file even if there is a draft, because a paused previous holder may still write to that draft.
    await access.rm(place, { force: true });
    const draft = await access.open(place, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, FILE_MODE);
    try {
      let piece: string[] = [];
      let pieceLength = 0;
      const flush = async (): Promise<void> => {
        if (piece.length === 0) return;
        const bytes = Buffer.from(piece.join(''));
        await writeAll(draft, bytes, written);
        written += bytes.length;
        piece = [];
        pieceLength = 0;
      };
      for await (const placed of file.lines(pieceBytes)) {
        const rewritten = rewrite(placed);
        if (rewritten !== placed.line) changed += 1;
        if (rewritten !== null) {
          piece.push(rewritten, '\n');
          pieceLength += rewritten.length;
        }
        if (pieceLength >= pieceBytes) await flush();
      }
      await flush();
      if (changed > 0) await draft.sync();
    } finally {
      await draft.close();
    }
  } finally {
    await file.close();
    if (changed === 0) await access.rm(place, { force: true });
  }
  if (changed === 0) return 0;
  await syncFolder(dirname(place), access);
  await lane.remember({ [path]: written, [pendingKey]: path });
  await finishErasing(root, { ...lane, memory: { ...lane.memory, [path]: written, [pendingKey]: path } }, access);
  return changed;
}

/** Key of a pending replacement in the lane's memory. It cannot be the path of a file. */
const pendingKey = 'erasing';

/** Returns the path of the new version of a file. It does not have the form of a data file's path (`isSafePath`). */
function newVersionOf(place: string): string {
  return `${place}.erasing`;
}

/**
 * Completes a replacement that the lane's memory marks as pending: moves the new version into the place of the old one.
 * The length in the lane's memory is already that of the new version, which is empty if every line was erased. The
 * empty file stays, because a paused previous holder could otherwise delete it by its name after new lines were
 * appended. A second run does nothing. Each new holder of the lane runs this first.
 */
export async function finishErasing(root: string, lane: Lane, access: FileAccess): Promise<void> {
  const path = lane.memory[pendingKey];
  if (typeof path !== 'string' || !isSafePath(path)) return;
  await confirmHeld();
  const place = join(root, path);
  // The new version is missing if only the lane's memory was not updated.
  await access.rename(newVersionOf(place), place).catch(unlessMissing);
  // The folder is missing if a person removed the empty file together with its folders.
  await syncFolder(dirname(place), access).catch(unlessMissing);
  await lane.remember({ [pendingKey]: null });
}

function unlessMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error;
}
