import { createHash, randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Collaborators, InUse } from '../../work/collaborators.js';
import { ImportRefusal } from '../desk/import-request.js';
import type { ImportTarget } from '../desk/import-views.js';
import type { ImportFolder } from '../../config/config.js';
import { claimDroppedFile, type DroppedFile, giveBackDroppedFile, settleDroppedFile } from './dropped-file-states.js';
import { discardImport } from '../staging.js';
import { countCleared } from '../../people/forget/read-erasures.js';
import { readImport } from '../read-import.js';
import { findMapping, type ColumnWishes, savedColumns } from '../desk/saved-mappings.js';
import { refOf } from '../../ledger/pigeonholes.js';
import { RegistrantFileError } from '../files/registrant-file.js';
import {
  removeBeside,
  standsBeside,
  writeBeside,
  type DropPlace,
  findDroppedFiles,
  findDropPlaces,
  readDroppedFile,
  type FileLook,
  SettledFiles,
} from './folder-files.js';
import { findTarget } from '../desk/find-target.js';
import { importReportCsv, refuseEnded } from '../desk/import-desk.js';
import { profileFieldsOf } from '../desk/profile-fields.js';
import { startImport } from '../desk/start-import.js';

/** What stands in the way of a file passes, or a person sees to it: it is looked at again after so long. */
const againMs = 60_000;

/** A file that this process has looked at: by its look, so that it is not hashed at every look. */
interface KnownFile {
  readonly look: FileLook;
  readonly file: DroppedFile;
  /** Nothing is left to be done with it, as long as it looks the same and is read in this way; null: something is. */
  settledUnder: string | null;
}

/** Where a file was found, and how the files there are read: see `readingOf`. */
interface Found {
  readonly place: DropPlace;
  readonly reading: string;
}

export interface DropFolderParts {
  readonly editions: InUse;
  /** Starts the workflow of an import, by its UUID. */
  readonly wake: (id: string) => Promise<void>;
}

/**
 * Imports what is put into the folders of `imports:`, each file once, by its content, and writes its report beside it.
 * What was done with a file stands in the ledger, so that a restart, or another process that sees the same folder, does
 * nothing twice; what is remembered here only saves work.
 */
export class DropFolders {
  readonly #settled = new SettledFiles();
  readonly #known = new Map<string, KnownFile>();
  /** Files, pigeonholes included, that are not looked at before. */
  readonly #notBefore = new Map<string, number>();
  /** What stands in the way of which file, as it was told last: it is told once. */
  readonly #told = new Map<string, string>();
  readonly #missing = new Set<string>();

  constructor(private readonly parts: DropFolderParts) {}

  /** Looks once, and does what is to be done; one file after another. @param nowMs by a clock that never jumps */
  async look(nowMs: number): Promise<void> {
    await this.parts.editions.use(async (to) => {
      if (to.config.imports.length === 0) return;
      const onMissing = (folder: string, code: string): void => this.#noteMissing(to, folder, code);
      const places = await findDropPlaces(to.config, onMissing);
      const found = new Map<string, Found>();
      const looks: FileLook[] = [];
      for (const place of places) {
        // oxlint-disable-next-line no-await-in-loop -- a handful of folders
        const files = await findDroppedFiles(place, onMissing);
        // oxlint-disable-next-line no-await-in-loop
        const reading = files.length === 0 ? '' : await readingOf(to, place.entry);
        for (const look of files) found.set(look.path, { place, reading });
        looks.push(...files);
      }
      for (const look of this.#settled.whole(looks, nowMs)) {
        if (to.stopping.aborted) return;
        // oxlint-disable-next-line no-await-in-loop -- one at a time: each reads a whole file
        await this.#see(to, found.get(look.path)!, look, nowMs);
      }
      for (const memory of [this.#known, this.#notBefore, this.#told]) {
        for (const path of memory.keys()) if (!found.has(path)) memory.delete(path);
      }
    });
  }

  async #see(to: Collaborators, { place, reading }: Found, look: FileLook, nowMs: number): Promise<void> {
    const known = this.#known.get(look.path);
    const isKnown = known !== undefined && isSame(known.look, look);
    if (isKnown && known.settledUnder === reading) return;
    if (nowMs < (this.#notBefore.get(look.path) ?? 0) && isKnown) return;
    try {
      const file = isKnown ? known.file : await this.#identify(to, place, look);
      const now: KnownFile = { look, file, settledUnder: null };
      this.#known.set(look.path, now);
      if (await this.#carryOn(to, { place, reading }, look, file)) now.settledUnder = reading;
      this.#notBefore.delete(look.path);
      this.#told.delete(look.path);
    } catch (error) {
      this.#notBefore.set(look.path, nowMs + againMs);
      const sentence = sentenceFor(error);
      if (sentence === undefined) throw error;
      if (this.#told.get(look.path) === sentence) return;
      this.#told.set(look.path, sentence);
      to.log.warn({ place: place.pigeonhole, refused: nameOf(error) }, 'a dropped file has to wait');
      await tellProblem(look.path, `${sentence}\nIt is looked at again by itself.\n`).catch((failure: unknown) =>
        to.log.warn({ folder: place.folder, refused: nameOf(failure) }, 'nothing can be written into a drop folder'),
      );
    }
  }

  /** @returns nothing is left to be done with the file */
  async #carryOn(
    to: Collaborators,
    { place, reading }: Found,
    { path }: FileLook,
    file: DroppedFile,
  ): Promise<boolean> {
    const { ledger } = to;
    const take = { importId: randomUUID(), termsHash: ledger.hash.file(reading), owner: to.owner };
    const standing = await claimDroppedFile(ledger, file, take);
    switch (standing.state) {
      case 'elsewhere':
        return false;
      case 'unusable':
        if (!(await standsBeside(path, 'error'))) await tellProblem(path, `${standing.problem}\n`);
        return true;
      case 'claimed':
        await this.#begin(to, place, { path, file, id: standing.importId });
        return false;
      case 'reported':
        if (!(await standsBeside(path, 'report'))) await writeReport(to, path, standing.importId);
        return true;
      case 'importing':
        if (!(await writeReport(to, path, standing.importId))) return false;
        await settleDroppedFile(ledger, file, { state: 'reported' });
        to.log.info(
          { import: standing.importId, place: place.pigeonhole },
          'the report of a dropped file is beside it',
        );
        return true;
    }
  }

  async #begin(
    to: Collaborators,
    place: DropPlace,
    { path, file, id }: { readonly path: string; readonly file: DroppedFile; readonly id: string },
  ): Promise<void> {
    const { ledger } = to;
    try {
      const begun = await readImport(ledger, id); // by a process that ended before it could say so
      if (begun?.state === 'staging') await discardImport(ledger, begun.number);
      if (begun === undefined || begun.state === 'staging')
        await this.#import(to, place, { path, id, contentHash: file.contentHash });
      await settleDroppedFile(ledger, file, { state: 'importing' });
      await removeBeside(path, 'error');
      await this.parts.wake(id);
    } catch (error) {
      if (!isUnusable(error)) {
        await giveBackDroppedFile(ledger, file, to.owner);
        throw error;
      }
      await settleDroppedFile(ledger, file, { state: 'unusable', problem: error.message });
      await tellProblem(path, `${error.message}\n`);
      to.log.warn({ place: place.pigeonhole, refused: error.name }, 'a dropped file cannot be used');
    }
  }

  async #import(
    to: Collaborators,
    { entry, pigeonhole }: DropPlace,
    { path, id, contentHash }: { path: string; id: string; contentHash: Uint8Array },
  ): Promise<void> {
    const target = await findTarget(to, pigeonhole);
    refuseOthers(entry, target);
    refuseEnded(target, false);
    await startImport(to, readDroppedFile(path), {
      id,
      target,
      file: { name: basename(path) },
      wishes: await wishesOf(to, entry),
      knownFields: await profileFieldsOf(to, target),
      canary: null,
      requestedBy: 'drop folder',
      requestedToken: null,
      content: Buffer.from(contentHash).toString('hex'), // another one would be kept from being imported by this one's claim
      saveMapping: null,
      strangeFields: 'refuse',
    });
  }

  async #identify({ ledger }: Collaborators, { pigeonhole }: DropPlace, { path }: FileLook): Promise<DroppedFile> {
    const [workspace, id] = pigeonhole.split('/') as [string, string];
    const hash = createHash('sha256');
    for await (const piece of readDroppedFile(path)) hash.update(piece);
    return { ref: await refOf(ledger, workspace, Number(id)), contentHash: ledger.hash.file(hash.digest('hex')) };
  }

  #noteMissing(to: Collaborators, folder: string, code: string): void {
    if (this.#missing.has(folder)) return;
    this.#missing.add(folder);
    to.log.warn({ folder, code }, 'a drop folder cannot be read: make it, or check its permissions');
  }
}

/** @returns false while the import has not ended */
async function writeReport({ ledger }: Collaborators, path: string, importId: string): Promise<boolean> {
  const progress = await readImport(ledger, importId);
  if (progress === undefined || (progress.state !== 'done' && progress.state !== 'cancelled')) return false;
  await writeBeside(path, 'report', importReportCsv(ledger, progress.number, progress.mapping));
  return true;
}

async function tellProblem(path: string, text: string): Promise<void> {
  await writeBeside(path, 'error', [text]);
}

async function wishesOf({ ledger }: Collaborators, { map, workspace }: ImportFolder): Promise<ColumnWishes> {
  // Both are for whatever comes: a file may lack a column of which it has no need.
  return { own: {}, saved: typeof map === 'string' ? await savedColumns(ledger, workspace, map) : (map ?? {}) };
}

/**
 * All of `imports:` and of the mapping it names that decides whether a file can be used: one that could not be is tried
 * again when this changes.
 */
async function readingOf({ ledger }: Collaborators, { map, pigeonhole, workspace }: ImportFolder): Promise<string> {
  const columns =
    typeof map === 'string' ? ((await findMapping(ledger, workspace, map))?.columns ?? null) : (map ?? {});
  // After an erasure every file is looked at again: a report that told of the person is written anew.
  const cleared = await countCleared(ledger);
  return JSON.stringify([
    columns,
    typeof pigeonhole === 'number' ? null : pigeonhole.name,
    ...(cleared > 0 ? [cleared] : []),
  ]);
}

/** A sub-folder of a pigeonhole that the pattern does not mean. @throws {ImportRefusal} */
function refuseOthers({ pigeonhole }: ImportFolder, { name, pigeonholeId }: ImportTarget): void {
  if (typeof pigeonhole === 'number' || (name !== null && new RegExp(pigeonhole.name).test(name))) return;
  throw new ImportRefusal(
    'wrong',
    `the name of pigeonhole ${pigeonholeId} does not match ${pigeonhole.name}: put the file into another folder, or change "imports" of pigeonpost.yaml`,
  );
}

/** Another look at the same file would find the same. */
function isUnusable(error: unknown): error is RegistrantFileError | ImportRefusal {
  return error instanceof RegistrantFileError || (error instanceof ImportRefusal && error.kind === 'wrong');
}

/** Undefined: it is no matter of this file. */
function sentenceFor(error: unknown): string | undefined {
  if (error instanceof ImportRefusal) return error.message;
  if (!isOfFile(error)) return undefined;
  return `the file cannot be read, or nothing written beside it (${error.code}): check the permissions of the folder`;
}

function isOfFile(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'code' in error && 'syscall' in error && 'path' in error;
}

/** What a log may hold: a message could name the file. */
function nameOf(error: unknown): string {
  return isOfFile(error) ? (error.code ?? error.name) : error instanceof Error ? error.name : 'unknown';
}

function isSame(a: FileLook, b: FileLook): boolean {
  return a.bytes === b.bytes && a.modifiedMs === b.modifiedMs && a.inode === b.inode;
}
