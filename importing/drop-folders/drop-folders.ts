import type { Ledger } from '../../ledger/ledger.js';
import { createHash, randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Collaborators, InUse } from '../../cycles/collaborators.js';
import { ImportRefusal } from '../desk/import-request.js';
import type { ImportTarget } from '../desk/import-views.js';
import type { ImportFolder } from '../../config/config.js';
import {
  claimDroppedFile,
  type DroppedFile,
  giveBackDroppedFile,
  listUnusableFile,
  requester,
  settleDroppedFile,
} from '../../ledger/imports/dropped-files.js';
import { discardImport } from '../../ledger/imports/imports.js';
import { countCleared } from '../../people/erasures.js';
import { readImport } from '../read-import.js';
import { findMapping, type ColumnWishes, savedColumns } from '../desk/open-registrants.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
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
  /** The settings and the erasures (`Found`) with which the unchanged file was finished; null: it is not finished. */
  settledUnder: string | null;
  /** The report that this process has written beside it (`reportOf`); null: none. */
  report: string | null;
}

/** A file's folder, and what decides about it. */
interface Found {
  readonly place: DropPlace;
  /** The settings that decide whether a file can be used. If they change, an unusable file is read again. */
  readonly settings: string;
  /** The number of finished erasures. After another one, reports are written again without the person. */
  readonly erasures: number;
}

/** A folder that cannot be read now, with the code of the error. */
export interface UnreadableFolder {
  readonly workspace: string;
  readonly folder: string;
  readonly code: string;
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
  /** Number of first reports that this process has written of a content, by the content: one, and one after each erasure. */
  readonly #editions = new Map<string, number>();
  /** The folders that the last look could not read. */
  unreadable: readonly UnreadableFolder[] = [];

  constructor(private readonly parts: DropFolderParts) {}

  /** Checks the folders once and processes their files one after another. @param nowMs by a clock that never jumps */
  async look(nowMs: number): Promise<void> {
    await this.parts.editions.use(async (deps) => {
      const unreadable: UnreadableFolder[] = [];
      const onMissing = (folder: string, code: string, { workspace }: ImportFolder): void => {
        unreadable.push({ workspace, folder, code });
        if (this.unreadable.some((known) => known.folder === folder)) return;
        deps.log.warn({ folder, code }, 'a drop folder cannot be read: create it, or check its permissions');
      };
      const places = await findDropPlaces(deps.config, onMissing);
      const found = new Map<string, Found>();
      const looks: FileLook[] = [];
      let erasures: number | undefined;
      for (const place of places) {
        const files = await findDroppedFiles(place, onMissing);
        if (files.length === 0) continue;
        erasures ??= await countCleared(deps.ledger);
        const settings = await settingsFor(deps, place.entry);
        for (const look of files) found.set(look.path, { place, settings, erasures });
        looks.push(...files);
      }
      this.unreadable = unreadable;
      for (const look of this.#settled.whole(looks, nowMs)) {
        if (deps.stopping.aborted) return;
        // One at a time, because each reads a whole file.
        await this.#see(deps, found.get(look.path)!, look, nowMs);
      }
      for (const memory of [this.#known, this.#notBefore, this.#told]) {
        for (const path of memory.keys()) if (!found.has(path)) memory.delete(path);
      }
      const contents = new Set([...this.#known.values()].map(({ file }) => contentOf(file)));
      for (const content of this.#editions.keys()) if (!contents.has(content)) this.#editions.delete(content);
    });
  }

  async #see(deps: Collaborators, found: Found, look: FileLook, nowMs: number): Promise<void> {
    const { place, settings, erasures } = found;
    const under = `${erasures} ${settings}`;
    const known = this.#known.get(look.path);
    const isKnown = known !== undefined && isUnchanged(known.look, look);
    if (isKnown && known.settledUnder === under) return;
    if (nowMs < (this.#notBefore.get(look.path) ?? 0) && isKnown) return;
    try {
      const file = isKnown ? known.file : await this.#identify(deps, place, look);
      const now: KnownFile = { look, file, settledUnder: null, report: known?.report ?? null };
      this.#known.set(look.path, now);
      if (await this.#carryOn(deps, found, now)) now.settledUnder = under;
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
  async #carryOn(deps: Collaborators, { place, settings }: Found, known: KnownFile): Promise<boolean> {
    const { ledger } = deps;
    const { file } = known;
    const { path } = known.look;
    const take = { importId: randomUUID(), termsHash: ledger.hash.file(settings), owner: deps.owner };
    const standing = await claimDroppedFile(ledger, file, take);
    switch (standing.state) {
      case 'elsewhere':
        return false;
      case 'unusable':
        await this.#discardStaged(ledger, standing.importId);
        await listUnusableFile(ledger, file, basename(path));
        if (!(await standsBeside(path, 'error'))) await tellProblem(path, `${standing.problem}\n`);
        return true;
      case 'claimed':
        await this.#begin(deps, place, { path, file, id: standing.importId });
        return false;
      case 'reported':
        if (this.#isOutdated(known) || !(await standsBeside(path, 'report'))) {
          await writeReport(deps, path, standing.importId);
          known.report = this.#reportOf(file);
        }
        return true;
      case 'importing':
        if (!(await writeReport(deps, path, standing.importId))) return false;
        this.#editions.set(contentOf(file), (this.#editions.get(contentOf(file)) ?? 0) + 1);
        known.report = this.#reportOf(file);
        await settleDroppedFile(ledger, file, { state: 'reported' });
        deps.log.info(
          { import: standing.importId, place: place.pigeonhole },
          'wrote the report beside the dropped file',
        );
        return true;
    }
  }

  /** Returns the latest report of a file's content, as text to compare. */
  #reportOf(file: DroppedFile): string {
    return `${contentOf(file)} ${this.#editions.get(contentOf(file)) ?? 0}`;
  }

  /**
   * Whether the report beside a file is one of its earlier content, or was written before an erasure after which a copy
   * of the file has received a new report. A report of an earlier process counts as current, unless there is a new one.
   */
  #isOutdated({ file, report }: KnownFile): boolean {
    return report === null ? this.#editions.has(contentOf(file)) : report !== this.#reportOf(file);
  }

  /** Discards an import whose staging was interrupted. It would hide that the file cannot be used. */
  async #discardStaged(ledger: Ledger, id: string): Promise<void> {
    const begun = await readImport(ledger, id);
    if (begun?.state === 'staging') await discardImport(ledger, begun.number);
  }

  async #begin(
    deps: Collaborators,
    place: DropPlace,
    { path, file, id }: { readonly path: string; readonly file: DroppedFile; readonly id: string },
  ): Promise<void> {
    const { ledger } = deps;
    try {
      // From a process that ended before it recorded the result, or from reading the file with other settings.
      const begun = await readImport(ledger, id);
      const isStarted = begun !== undefined && begun.startedAt !== null;
      if (begun !== undefined && !isStarted) await discardImport(ledger, begun.number);
      if (!isStarted) await this.#import(deps, place, { path, id, contentHash: file.contentHash });
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
        requestedBy: requester,
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
    return {
      pigeonholeNumber: await pigeonholeNumberOf(ledger, workspace, Number(id)),
      contentHash: ledger.hash.file(hash.digest('hex')),
    };
  }
}

/** Returns the pigeonhole and the content of a file, as text to compare. */
function contentOf({ pigeonholeNumber, contentHash }: DroppedFile): string {
  return `${pigeonholeNumber} ${Buffer.from(contentHash).toString('hex')}`;
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

async function settingsFor({ ledger }: Collaborators, entry: ImportFolder): Promise<string> {
  const { map, pigeonhole, workspace } = entry;
  const columns =
    typeof map === 'string' ? ((await findMapping(ledger, workspace, map))?.columns ?? null) : (map ?? {});
  return JSON.stringify([columns, typeof pigeonhole === 'number' ? null : pigeonhole.name]);
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
