import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { groupBy } from '../../base/grouping.js';
import { envelopeOf, type HeldLine, type LoggedRevision, RevisionLines } from '../revision-lines.js';
import type { HeldResult, ReadBack } from '../sink.js';
import { type FileOperation, isSafePath, linesWithin, pathOf, reachFolders } from './day-file.js';
import { classifyFailure, DestinationChanged, errorCode, type Folder, NO_FOLLOW } from './file-access.js';

const pieceBytes = 1024 * 1024;
/** Number of files whose index is kept. The slices of an audit return to the same few files. */
const maxIndexes = 100;

/** About a piece of a file, cut between two lines, and the range of the sequences in it. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly lowest: number;
  readonly highest: number;
}

interface FileIndex {
  readonly inode: number;
  readonly size: number;
  readonly changedAtMs: number;
  readonly parts: readonly Part[];
}

/**
 * Finds the lines of revisions in the files of a folder, in memory that does not grow with the files.
 *
 * A line is found by its `sequence`, which rises in a file apart from changes that had to wait and replays. The index of a
 * file therefore has one range of sequences for each MiB, and a look-up reads only the parts whose range fits. The index
 * is extended while the file grows. Before a line counts as missing, a file that changed in any other way is indexed
 * again.
 */
export class LineFinder {
  readonly #indexes = new Map<string, FileIndex>();

  constructor(private readonly folder: Folder) {}

  /** Returns the lines of these revisions; undefined if there is no such file. Also reads lines that are not committed. */
  async find(
    path: string,
    revisions: readonly LoggedRevision[],
    signal: AbortSignal,
  ): Promise<RevisionLines | undefined> {
    const { root, access } = this.folder;
    if (!(await reachFolders({ root, path, access }, false))) return undefined;
    const handle = await this.#open(path);
    if (handle === undefined) return undefined;
    try {
      const known = await this.#index(path, handle, signal);
      const found = await linesIn(handle, known.index, { path, revisions }, signal);
      if (known.isFresh || revisions.every((revision) => found.of(revision) !== undefined)) return found;
      this.#indexes.delete(path);
      const { index } = await this.#index(path, handle, signal);
      return await linesIn(handle, index, { path, revisions }, signal);
    } finally {
      await handle.close();
    }
  }

  async #open(path: string): Promise<FileHandle | undefined> {
    const { root, access } = this.folder;
    try {
      return await access.open(join(root, path), constants.O_RDONLY | NO_FOLLOW);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** @returns `isFresh`: the whole file was read as it is now */
  async #index(
    path: string,
    handle: FileHandle,
    signal: AbortSignal,
  ): Promise<{ readonly index: FileIndex; readonly isFresh: boolean }> {
    const status = await handle.stat();
    if (!status.isFile()) {
      throw new DestinationChanged(`${join(this.folder.root, path)} is not a file: remove what is in its place`);
    }
    const now = { inode: status.ino, size: status.size, changedAtMs: status.mtimeMs };
    const known = this.#indexes.get(path);
    this.#indexes.delete(path); // the last one in the map is the one that was used last
    const hasGrown = known?.inode === now.inode && now.size > known.size;
    const isSame = known?.inode === now.inode && now.size === known.size && now.changedAtMs === known.changedAtMs;
    const kept = isSame ? known.parts : hasGrown ? known.parts.slice(0, -1) : [];
    const rest = isSame ? [] : await partsOf(handle, { from: kept.at(-1)?.to ?? 0, to: now.size }, signal);
    const index = { ...now, parts: [...kept, ...rest] };
    this.#indexes.set(path, index);
    for (const oldest of this.#indexes.keys()) if (this.#indexes.size > maxIndexes) this.#indexes.delete(oldest);
    return { index, isFresh: !hasGrown };
  }
}

async function partsOf(
  handle: FileHandle,
  range: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<Part[]> {
  const parts: Part[] = [];
  let part: Part = { from: range.from, to: range.from, lowest: Infinity, highest: -Infinity };
  for await (const { line, to } of linesWithin(handle, range, pieceBytes)) {
    const { sequence } = envelopeOf(line);
    const at = typeof sequence === 'number' ? [sequence] : [];
    part = { ...part, to, lowest: Math.min(part.lowest, ...at), highest: Math.max(part.highest, ...at) };
    if (to - part.from < pieceBytes) continue;
    signal.throwIfAborted();
    parts.push(part);
    part = { from: to, to, lowest: Infinity, highest: -Infinity };
  }
  return part.to > part.from ? [...parts, part] : parts;
}

async function linesIn(
  handle: FileHandle,
  { parts }: FileIndex,
  { path, revisions }: { readonly path: string; readonly revisions: readonly LoggedRevision[] },
  signal: AbortSignal,
): Promise<RevisionLines> {
  const found = new RevisionLines(revisions);
  for (const part of parts) {
    if (!revisions.some(({ sequence }) => sequence >= part.lowest && sequence <= part.highest)) continue;
    signal.throwIfAborted();
    for await (const { line, from } of linesWithin(handle, part, pieceBytes)) found.add(line, placeOf(path, from));
  }
  return found;
}

/** Returns the place of a line, for operators and for `removeHeld`. */
export function placeOf(path: string, from: number): string {
  return `${path} byte ${from}`;
}

/**
 * Reads the lines of revisions back. A failure counts for the revisions of one file.
 * @param today the UTC day. People may move files of earlier days away, so their lines are not missing
 */
export async function readLines(
  finder: LineFinder,
  wanted: readonly ReadBack<FileOperation>[],
  { root, today, signal }: { readonly root: string; readonly today: string; readonly signal: AbortSignal },
): Promise<HeldResult[]> {
  const results: HeldResult[] = wanted.map(() => ({ kind: 'missing' }));
  const byPath = groupBy([...wanted.keys()], (index) => pathOf(wanted[index]!.change));
  for (const [path, indexes] of byPath) {
    if (!isSafePath(path)) continue; // a line with an unsafe path was never written
    const settle = (resultOf: (revision: LoggedRevision) => HeldResult): void => {
      for (const index of indexes) results[index] = resultOf(wanted[index]!.change);
    };
    try {
      const revisions = indexes.map((index) => wanted[index]!.change);
      const found = await finder.find(path, revisions, signal);
      if (found !== undefined) settle((revision) => resultOf(found.of(revision)));
      else if (!path.endsWith(`/${today}.ndjson`)) settle(() => movedAway(path));
    } catch (error) {
      const failure = signal.aborted ? stopped : classifyFailure(error, root);
      settle(() => failure);
    }
  }
  return results;
}

const stopped = { kind: 'retry', detail: 'stopped before every file was read' } as const;

function resultOf(held: HeldLine | undefined): HeldResult {
  if (held === undefined) return { kind: 'missing' };
  return { kind: 'held', held, ...(held.copies.length > 0 && { copies: held.copies }) };
}

function movedAway(path: string): HeldResult {
  return { kind: 'unreadable', cause: 'file-moved', detail: `${path} was moved or deleted after its day` };
}
