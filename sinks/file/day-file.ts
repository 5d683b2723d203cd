import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { confirmHeld } from '../../base/lease.js';
import {
  DestinationChanged,
  errorCode,
  FILE_MODE,
  type FileAccess,
  FOLDER_MODE,
  NO_FOLLOW,
  syncFolder,
} from './file-access.js';
import { type Change, changeJson } from '../change.js';
import type { Operation, Subject } from '../sink.js';

const NEWLINE = 0x0a;
const copyPieceBytes = 1024 * 1024;

/** A file, and its length at the last commit. */
export interface DayFileOptions {
  readonly root: string;
  /** The path relative to `root`. */
  readonly path: string;
  /** In bytes. */
  readonly committedLength: number;
  readonly access: FileAccess;
}

/**
 * An open file of lines. The lane's memory contains its length at the last commit. Bytes beyond that length belong to
 * no committed delivery.
 */
export class DayFile {
  /** Length in bytes, including what this attempt has written. */
  length: number;

  private constructor(
    private readonly place: DayFileOptions,
    private readonly handle: FileHandle,
  ) {
    this.length = place.committedLength;
  }

  /** Length in bytes at the last commit, from the lane's memory. */
  get committedLength(): number {
    return this.place.committedLength;
  }

  /**
   * Opens a file to append lines. If it has no committed lines yet, creates the file and its folders. Cuts off
   * everything beyond the committed length, which a failed write left behind. The caller must confirm its lease between
   * opening and appending; `replaceByCopy` explains why.
   * @throws {DestinationChanged} if the file is missing, shorter, or has no end of line at the committed length
   */
  static async openForAppending(place: DayFileOptions): Promise<DayFile> {
    const { root, path, committedLength } = place;
    await reachFolders(place, committedLength === 0);
    const creation = committedLength === 0 ? constants.O_CREAT : 0;
    const file = await DayFile.open(place, constants.O_RDWR | creation);
    if (file === undefined) {
      throw new DestinationChanged(
        `${join(root, path)} is missing, although lines were written to it: restore the file`,
      );
    }
    return file.afterChecks(async () => {
      if ((await file.size()) <= committedLength) return;
      await confirmHeld();
      await file.handle.truncate(committedLength);
    });
  }

  /**
   * Opens a file to read what is beyond the committed length; undefined if there is no such file.
   * @throws {DestinationChanged} if the file is shorter than the committed length, or has no end of line there
   */
  static async openForRecovery(place: DayFileOptions): Promise<DayFile | undefined> {
    if (!(await reachFolders(place, false))) return undefined;
    const file = await DayFile.open(place, constants.O_RDONLY);
    return file?.afterChecks(async () => undefined);
  }

  private static async open(place: DayFileOptions, flags: number): Promise<DayFile | undefined> {
    try {
      const handle = await place.access.open(join(place.root, place.path), flags | NO_FOLLOW, FILE_MODE);
      return new DayFile(place, handle);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async size(): Promise<number> {
    return (await this.handle.stat()).size;
  }

  /**
   * Appends bytes after the last complete line. If the write fails, cuts the file back to that line. If that fails too,
   * the next opening cuts it.
   */
  async append(bytes: Buffer): Promise<void> {
    try {
      await writeAll(this.handle, bytes, this.length);
    } catch (error) {
      await this.handle.truncate(this.length).catch(() => undefined);
      throw error;
    }
    this.length += bytes.length;
  }

  /** Checks whether these bytes are next in the file. If they are, counts them as written and continues after them. */
  async accept(bytes: Buffer): Promise<boolean> {
    const found = Buffer.alloc(bytes.length);
    const { bytesRead } = await this.handle.read(found, 0, bytes.length, this.length);
    if (bytesRead !== bytes.length || !found.equals(bytes)) return false;
    this.length += bytes.length;
    return true;
  }

  /** Reads the committed lines, in pieces of the given size in bytes. */
  lines(pieceBytes: number): AsyncGenerator<PlacedLine, void, undefined> {
    return linesWithin(this.handle, { from: 0, to: this.committedLength }, pieceBytes);
  }

  /**
   * Replaces the file by a copy of its first `length` bytes.
   *
   * The previous holder of the lane may be paused, not dead, and have this file open. Whatever it still writes or cuts
   * then reaches only the old file. If it opens the file by name later, it finds that its lease was lost, because it
   * confirms the lease after opening. If it is about to put a copy of its own in place, it finds that copy removed.
   */
  async replaceByCopy(): Promise<void> {
    const { root, path, access } = this.place;
    const place = join(root, path);
    const prefix = `${basename(place)}.copy-`;
    for (const name of await access.readdir(dirname(place))) {
      if (name.startsWith(prefix)) await access.rm(join(dirname(place), name), { force: true });
    }
    const copy = join(dirname(place), `${prefix}${randomUUID()}`);
    try {
      await this.copyTo(copy);
      await confirmHeld();
      await access.rename(copy, place);
    } catch (error) {
      await access.rm(copy, { force: true }).catch(() => undefined);
      throw error;
    }
    await this.syncFolders();
  }

  private async copyTo(copy: string): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    const target = await this.place.access.open(copy, flags, FILE_MODE);
    try {
      const piece = Buffer.alloc(Math.min(copyPieceBytes, this.length));
      for (let at = 0; at < this.length;) {
        const { bytesRead } = await this.handle.read(piece, 0, Math.min(piece.length, this.length - at), at);
        if (bytesRead === 0) throw new Error('the previous holder cut the file while it was copied');
        await writeAll(target, piece.subarray(0, bytesRead), at);
        at += bytesRead;
      }
      await target.sync();
    } finally {
      await target.close();
    }
  }

  /** Cuts off everything beyond a length. */
  async cut(length: number): Promise<void> {
    this.length = length; // set even if `truncate` fails: bytes beyond this length do not count, and the next opening cuts them
    await this.handle.truncate(length);
  }

  /**
   * Makes the content durable. If the file has no committed lines yet, also makes its entry and those of its folders
   * durable.
   */
  async sync(): Promise<void> {
    await this.handle.sync();
    if (this.committedLength === 0) await this.syncFolders();
  }

  /**
   * Makes the file's entry in its folder durable. If the file has no committed lines yet, syncs all folders above it,
   * because an earlier attempt may have created a folder and died before it synced it.
   */
  private async syncFolders(): Promise<void> {
    const { root, path, access } = this.place;
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      await syncFolder(join(root, folder), access);
      if (folder === '.' || this.committedLength > 0) return;
    }
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  private async afterChecks(next: () => Promise<void>): Promise<this> {
    try {
      await this.requireCommittedPart();
      await next();
      return this;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  private async requireCommittedPart(): Promise<void> {
    const where = join(this.place.root, this.place.path);
    const status = await this.handle.stat();
    if (!status.isFile()) throw new DestinationChanged(`${where} is not a file: remove what is in its place`);
    if (this.committedLength === 0) return;
    if (status.size < this.committedLength) {
      throw new DestinationChanged(
        `${where} has ${status.size} bytes, although ${this.committedLength} were written: restore the whole file`,
      );
    }
    const last = Buffer.alloc(1);
    await this.handle.read(last, 0, 1, this.committedLength - 1);
    if (last[0] !== NEWLINE) {
      throw new DestinationChanged(`${where} was changed after it was written: restore the file as it was`);
    }
  }
}

/** A line without its newline, and the bytes of the file that it takes up with it. */
export interface PlacedLine {
  readonly line: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the complete lines of a part of a file, in pieces of the given size in bytes. Ends early if the file is shorter
 * than the part, because it was shortened since its length was read.
 */
export async function* linesWithin(
  handle: FileHandle,
  part: { readonly from: number; readonly to: number },
  pieceBytes: number,
): AsyncGenerator<PlacedLine, void, undefined> {
  let rest = Buffer.alloc(0);
  let lineAt = part.from;
  for (let at = part.from; at < part.to;) {
    const piece = Buffer.alloc(Math.min(pieceBytes, part.to - at));
    // One piece after another, because the file may be large.
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    const bytes = Buffer.concat([rest, piece.subarray(0, bytesRead)]);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      const to = lineAt + end + 1 - from;
      yield { line: bytes.toString('utf8', from, end), from: lineAt, to };
      lineAt = to;
      from = end + 1;
    }
    rest = bytes.subarray(from);
  }
}

/** Writes all bytes at a position, because one call may write only a part of them. */
export async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/**
 * Checks, and if allowed creates, each folder of a file's path. Refuses links, because a link could lead out of the
 * root.
 * @returns false if a folder is missing and may not be created
 */
export async function reachFolders(
  { root, path, access }: Pick<DayFileOptions, 'root' | 'path' | 'access'>,
  mayMake: boolean,
): Promise<boolean> {
  let folder = root;
  for (const name of dirname(path).split('/')) {
    folder = join(folder, name);
    try {
      if (mayMake) await access.mkdir(folder, { mode: FOLDER_MODE });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    try {
      if ((await access.lstat(folder)).isDirectory()) continue;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
    throw new DestinationChanged(`${folder} is not a folder: remove what is in its place`);
  }
  return true;
}

/**
 * Returns the committed length of a file in bytes, from the lane's memory; 0 if the memory does not contain the file.
 */
export function committedLength(memory: Readonly<Record<string, unknown>>, path: string): number {
  const length = Object.hasOwn(memory, path) ? memory[path] : 0;
  return typeof length === 'number' && Number.isSafeInteger(length) && length > 0 ? length : 0;
}

export interface FileOperation extends Operation {
  /** The path relative to the sink's folder, with `/`. It must be checked with isSafePath before it is used. */
  readonly path: string;
  /** The line without the newline at its end. */
  readonly line: string;
}

/** Returns the line of a change and its file: one file for each list and UTC day of the change. */
export function toFileOperation({ change, dataJson }: Subject): FileOperation {
  return { changeId: change.id, path: pathOf(change), line: changeJson(change, dataJson) };
}

/** Returns the path of the file in which the line of a change belongs. It must be checked with isSafePath. */
export function pathOf({
  workspace,
  pigeonholeId,
  list,
  timestamp,
}: Pick<Change, 'workspace' | 'pigeonholeId' | 'list' | 'timestamp'>): string {
  return `${workspace}/${pigeonholeId}/${list}/${timestamp.slice(0, 'YYYY-MM-DD'.length)}.ndjson`;
}

export function lineBytes(operation: FileOperation): Buffer {
  return linesBytes([operation]);
}

/** Returns the bytes of consecutive lines in one file. */
export function linesBytes(operations: readonly FileOperation[]): Buffer {
  return Buffer.from(`${operations.map(({ line }) => line).join('\n')}\n`);
}

const SLUG = '[A-Za-z0-9][A-Za-z0-9_-]{0,99}';
const SAFE_PATH = new RegExp(`^${SLUG}/\\d{1,16}/${SLUG}/\\d{4}-\\d{2}-\\d{2}\\.ndjson$`);

/**
 * Whether a path has the form `<workspace>/<pigeonholeId>/<list>/<YYYY-MM-DD>.ndjson`, so that it cannot leave the
 * sink's folder. The names of workspaces and lists are checked earlier; this check still protects the folder if the
 * earlier check has a defect.
 */
export function isSafePath(path: string): boolean {
  return SAFE_PATH.test(path);
}
