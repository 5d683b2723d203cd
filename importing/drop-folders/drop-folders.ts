import { createHash, randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Collaborators, InUse } from '../../work/collaborators.js';
import { ImportRefusal } from '../desk/import-request.js';
import type { ImportTarget } from '../desk/import-views.js';
import type { ImportFolder } from '../../config/config.js';
import { claimDroppedFile, type DroppedFile, giveBackDroppedFile, settleDroppedFile } from './dropped-file-states.js';
import { discardImport } from '../staging.js';
import { countCleared } from '../../people/erasures.js';
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
  isUnchanged,
  SettledFiles,
} from './folder-files.js';
import { findTarget, profileFieldsOf } from '../desk/find-target.js';
import { importReportCsv, refuseEnded } from '../desk/import-desk.js';
import { startImport } from '../desk/start-import.js';

/** Milliseconds before a file that could not be imported is tried again. */
const againMs = 60_000;

/** A file that this process has seen, so that it is not hashed again while its metadata is unchanged. */
interface KnownFile {
  readonly look: FileLook;
  readonly file: DroppedFile;
  /** The settings (see `readingOf`) with which the unchanged file was finished; null: it is not finished. */
  settledUnder: string | null;
}

/** The folder of a file, and the settings for reading it: see `readingOf`. */
interface Found {
  readonly place: DropPlace;
  readonly reading: string;
}

interface DropFolderParts {
  readonly editions: InUse;
  /** Starts the workflow of an import by its UUID. */
  readonly wake: (id: string) => Promise<void>;
}

/**
 * Imports the files in the folders of `imports:` and writes the report of each beside it. Each content is imported
 * once: the ledger records what was done with it, so neither a restart nor another process with the same folder repeats
 * it. The fields of this class are only caches that avoid repeated work.
 */
export class DropFolders {
  readonly #settled = new SettledFiles();
  readonly #known = new Map<string, KnownFile>();
  /** Time before which a file is not tried again. */
  readonly #notBefore = new Map<string, number>();
  /** The last reported problem of a file, so that it is reported once. */
  readonly #told = new Map<string, string>();
  readonly #missing = new Set<string>();

  constructor(private readonly parts: DropFolderParts) {}

  /** Checks the folders once and processes their files one after another. @param nowMs by a clock that never jumps */
  async look(nowMs: number): Promise<void> {
    await this.parts.editions.use(async (deps) => {
      if (deps.config.imports.length === 0) return;
      const onMissing = (folder: string, code: string): void => this.#noteMissing(deps, folder, code);
      const places = await findDropPlaces(deps.config, onMissing);
      const found = new Map<string, Found>();
      const looks: FileLook[] = [];
      for (const place of places) {
        const files = await findDroppedFiles(place, onMissing);
        const reading = files.length === 0 ? '' : await readingOf(deps, place.entry);
        for (const look of files) found.set(look.path, { place, reading });
        looks.push(...files);
      }
      for (const look of this.#settled.whole(looks, nowMs)) {
        if (deps.stopping.aborted) return;
        // One at a time, because each reads a whole file.
        await this.#see(deps, found.get(look.path)!, look, nowMs);
      }
      for (const memory of [this.#known, this.#notBefore, this.#told]) {
        for (const path of memory.keys()) if (!found.has(path)) memory.delete(path);
      }
    });
  }

  async #see(deps: Collaborators, { place, reading }: Found, look: FileLook, nowMs: number): Promise<void> {
    const known = this.#known.get(look.path);
    const isKnown = known !== undefined && isUnchanged(known.look, look);
    if (isKnown && known.settledUnder === reading) return;
    if (nowMs < (this.#notBefore.get(look.path) ?? 0) && isKnown) return;
    try {
      const file = isKnown ? known.file : await this.#identify(deps, place, look);
      const now: KnownFile = { look, file, settledUnder: null };
      this.#known.set(look.path, now);
      if (await this.#carryOn(deps, { place, reading }, look, file)) now.settledUnder = reading;
      this.#notBefore.delete(look.path);
      this.#told.delete(look.path);
    } catch (error) {
      this.#notBefore.set(look.path, nowMs + againMs);
      const sentence = sentenceFor(error);
      if (sentence === undefined) throw error;
      if (this.#told.get(look.path) === sentence) return;
      this.#told.set(look.path, sentence);
      deps.log.warn({ place: place.pigeonhole, refused: nameOf(error) }, 'a dropped file has to wait');
      await tellProblem(look.path, `${sentence}\npigeonpost will try again automatically.\n`).catch(
        (failure: unknown) =>
          deps.log.warn({ folder: place.folder, refused: nameOf(failure) }, 'cannot write into a drop folder'),
      );
    }
  }

  /** @returns whether nothing is left to do with the file */
  async #carryOn(
    deps: Collaborators,
    { place, reading }: Found,
    { path }: FileLook,
    file: DroppedFile,
  ): Promise<boolean> {
    const { ledger } = deps;
    const take = { importId: randomUUID(), termsHash: ledger.hash.file(reading), owner: deps.owner };
    const standing = await claimDroppedFile(ledger, file, take);
    switch (standing.state) {
      case 'elsewhere':
        return false;
      case 'unusable':
        if (!(await standsBeside(path, 'error'))) await tellProblem(path, `${standing.problem}\n`);
        return true;
      case 'claimed':
        await this.#begin(deps, place, { path, file, id: standing.importId });
        return false;
      case 'reported':
        if (!(await standsBeside(path, 'report'))) await writeReport(deps, path, standing.importId);
        return true;
      case 'importing':
        if (!(await writeReport(deps, path, standing.importId))) return false;
        await settleDroppedFile(ledger, file, { state: 'reported' });
        deps.log.info(
          { import: standing.importId, place: place.pigeonhole },
          'wrote the report beside the dropped file',
        );
        return true;
    }
  }

  async #begin(
    deps: Collaborators,
    place: DropPlace,
    { path, file, id }: { readonly path: string; readonly file: DroppedFile; readonly id: string },
  ): Promise<void> {
    const { ledger } = deps;
    try {
      const begun = await readImport(ledger, id); // started by a process that ended before it recorded the result
      if (begun?.state === 'staging') await discardImport(ledger, begun.number);
      if (begun === undefined || begun.state === 'staging')
        await this.#import(deps, place, { path, id, contentHash: file.contentHash });
      await settleDroppedFile(ledger, file, { state: 'importing' });
      await removeBeside(path, 'error');
      await this.parts.wake(id);
    } catch (error) {
      if (!isUnusable(error)) {
        await giveBackDroppedFile(ledger, file, deps.owner);
        throw error;
      }
      await settleDroppedFile(ledger, file, { state: 'unusable', problem: error.message });
      await tellProblem(path, `${error.message}\n`);
      deps.log.warn({ place: place.pigeonhole, refused: error.name }, 'a dropped file cannot be used');
    }
  }

  async #import(
    deps: Collaborators,
    { entry, pigeonhole }: DropPlace,
    { path, id, contentHash }: { path: string; id: string; contentHash: Uint8Array },
  ): Promise<void> {
    const target = await findTarget(deps, pigeonhole);
    refuseOthers(entry, target);
    refuseEnded(target, 'to import the file anyway, run "pigeonpost import" with --force');
    const content = readDroppedFile(path);
    try {
      await startImport(deps, content, {
        id,
        target,
        file: { name: basename(path) },
        wishes: await wishesOf(deps, entry),
        knownFields: await profileFieldsOf(deps, target),
        canary: null,
        requestedBy: 'drop folder',
        requestedToken: null,
        content: Buffer.from(contentHash).toString('hex'), // refuses the file if its content has changed since the claim
        saveMapping: null,
        strangeFields: 'refuse',
      });
    } finally {
      await content.return(); // closes a file that was refused before it was read to its end
    }
  }

  async #identify({ ledger }: Collaborators, { pigeonhole }: DropPlace, { path }: FileLook): Promise<DroppedFile> {
    const [workspace, id] = pigeonhole.split('/') as [string, string];
    const hash = createHash('sha256');
    for await (const piece of readDroppedFile(path)) hash.update(piece);
    return { ref: await refOf(ledger, workspace, Number(id)), contentHash: ledger.hash.file(hash.digest('hex')) };
  }

  #noteMissing(deps: Collaborators, folder: string, code: string): void {
    if (this.#missing.has(folder)) return;
    this.#missing.add(folder);
    deps.log.warn({ folder, code }, 'a drop folder cannot be read: create it, or check its permissions');
  }
}

/** @returns false if the import has not ended */
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
  // The mapping applies to every file of the folder, so a file may lack some of its columns.
  return { own: {}, saved: typeof map === 'string' ? await savedColumns(ledger, workspace, map) : (map ?? {}) };
}

/**
 * Returns the settings that decide whether a file can be used. An unusable file is tried again when they change.
 */
async function readingOf({ ledger }: Collaborators, { map, pigeonhole, workspace }: ImportFolder): Promise<string> {
  const columns =
    typeof map === 'string' ? ((await findMapping(ledger, workspace, map))?.columns ?? null) : (map ?? {});
  // After an erasure, every file is processed again, so that reports are rewritten without the person.
  const cleared = await countCleared(ledger);
  return JSON.stringify([
    columns,
    typeof pigeonhole === 'number' ? null : pigeonhole.name,
    ...(cleared > 0 ? [cleared] : []),
  ]);
}

/** Refuses a sub-folder whose pigeonhole does not match the pattern. @throws {ImportRefusal} */
function refuseOthers({ pigeonhole }: ImportFolder, { name, pigeonholeId }: ImportTarget): void {
  if (typeof pigeonhole === 'number' || (name !== null && new RegExp(pigeonhole.name).test(name))) return;
  throw new ImportRefusal(
    'wrong',
    `the name of pigeonhole ${pigeonholeId} does not match ${pigeonhole.name}: put the file into another folder, or change "imports" of pigeonpost.yaml`,
  );
}

/** Whether importing the same file again would fail in the same way. */
function isUnusable(error: unknown): error is RegistrantFileError | ImportRefusal {
  return error instanceof RegistrantFileError || (error instanceof ImportRefusal && error.kind === 'wrong');
}

/** Returns the sentence for the error file; undefined if the error does not concern this file. */
function sentenceFor(error: unknown): string | undefined {
  if (error instanceof ImportRefusal) return error.message;
  if (!isOfFile(error)) return undefined;
  return `the file cannot be read, or no file can be written beside it (${error.code}): check the permissions of the folder`;
}

function isOfFile(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'code' in error && 'syscall' in error && 'path' in error;
}

/** Returns a name for the log; the message could contain the file's name. */
function nameOf(error: unknown): string {
  return isOfFile(error) ? (error.code ?? error.name) : error instanceof Error ? error.name : 'unknown';
}
