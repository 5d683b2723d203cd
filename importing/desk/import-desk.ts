import { outcomesToCheck } from '../../base/words.js';
import { randomUUID } from 'node:crypto';
import type { Collaborators, InUse } from '../../cycles/collaborators.js';
import type { Log } from '../../base/log.js';
import { ImportRefusal, type ImportAction, type ImportRequest } from './import-request.js';
import {
  type ImportTarget,
  type ImportView,
  type ImportCheck,
  type ImportReportRow,
  type SavedMapping,
  storedColumns,
  viewImport,
  viewReportRow,
} from './import-views.js';
import type { Ledger } from '../../ledger/ledger.js';
import { importReport, codesCsv, reportCsv, type ReportRow } from '../import-report.js';
import { importIdOf, type ImportProgress, type ImportsWanted, listImports, readImport } from '../read-import.js';
import { requestCancellation } from '../../ledger/imports/imports.js';
import { codesLostInText, isSendable } from '../files/checked-row.js';
import { checkImport, type CheckTerms } from './check-import.js';
import { findTarget, profileFieldsOf } from './find-target.js';
import { openRegistrants, allMappings, columnWishes } from './open-registrants.js';
import { startImport } from './start-import.js';
import { pause, resume } from '../../ledger/pauses.js';

/** The API's operations on registrant files. */
export type ImportDesk = ReturnType<typeof createImportDesk>;

export interface DeskParts {
  readonly editions: InUse;
  readonly ledger: Ledger;
  /** Starts or wakes the workflow of an import by its UUID. */
  readonly wake: (id: string) => Promise<void>;
  readonly log: Log;
}

/** Creates the API's operations on registrant files. People identify an import by its number. */
export function createImportDesk({ editions, ledger, wake, log }: DeskParts) {
  // A failed wake-up is not an error for the caller: the request is in the ledger, where the reconciler finds it.
  const tryToWake = (id: string): Promise<void> =>
    wake(id).catch((error: unknown) =>
      log.warn(
        { import: id, error: error instanceof Error ? error.name : 'unknown' },
        'could not wake the workflow of an import',
      ),
    );
  const known = async (number: string): Promise<ImportProgress | undefined> => {
    const id = /^[1-9]\d{0,8}$/.test(number) ? await importIdOf(ledger, Number(number)) : number;
    return id === undefined ? undefined : await readImport(ledger, id);
  };
  const required = async (number: string): Promise<ImportProgress> => {
    const progress = await known(number);
    if (progress === undefined) throw new ImportRefusal('unknown', `no import ${number} is known`);
    return progress;
  };
  return {
    /** Looks the target up in the service. @throws {ImportRefusal} */
    target: (pigeonhole: string): Promise<ImportTarget> => editions.use((deps) => findTarget(deps, pigeonhole)),
    /**
     * Returns what an import would do; writes nothing.
     * @throws {ImportRefusal}
     * @throws {RegistrantFileError} if the file cannot be used
     */
    check: (request: ImportRequest, bytes: AsyncIterable<Uint8Array>): Promise<ImportCheck> =>
      editions.use(async (deps) => await checkImport(deps, bytes, await termsOf(deps, request))),
    /** Yields a CSV with the rows and their codes, generated if missing. Throws as `check`. */
    async *generatedCodes(request: ImportRequest, bytes: AsyncIterable<Uint8Array>): AsyncIterable<string> {
      const terms = await editions.use((deps) => termsOf(deps, request));
      const { mapping, rows } = await openRegistrants(bytes, terms);
      const fields = mapping.columns.flatMap(({ property }) => property ?? []);
      yield* codesCsv(sendableOf(rows), fields);
    },
    /**
     * Stages a file and starts to send it. Throws as `check`; then nothing has started.
     * @param token id of the caller's named token; absent or null: none
     */
    async start(
      request: ImportRequest,
      bytes: AsyncIterable<Uint8Array>,
      token: string | null = null,
    ): Promise<ImportView> {
      const id = randomUUID();
      await editions.use(async (deps) => {
        const terms = await termsOf(deps, request);
        if (request.force !== true) refuseEnded(terms.target, howToForce);
        await startImport(deps, bytes, {
          ...terms,
          id,
          requestedBy: request.by ?? null,
          requestedToken: token,
          content: request.content ?? null,
          saveMapping: request.saveMapping ?? null,
          strangeFields: 'accept',
        });
      });
      await tryToWake(id);
      return viewImport(await required(id));
    },
    /** Lists imports, newest first. */
    list: async (wanted: ImportsWanted): Promise<ImportView[]> => (await listImports(ledger, wanted)).map(viewImport),
    async find(number: string): Promise<ImportView | undefined> {
      const progress = await known(number);
      return progress === undefined ? undefined : viewImport(progress);
    },
    /**
     * Yields report rows in the order of the file; with `problems`, only rows that a person has to correct.
     * @param shows `outcomes`: leaves out the service's messages, which may quote a cell
     */
    async *report(
      number: string,
      only: 'problems' | 'all',
      shows: 'everything' | 'outcomes',
    ): AsyncIterable<readonly ImportReportRow[]> {
      const { number: own, mapping } = await required(number);
      const columns = storedColumns(mapping);
      const outcomes = only === 'problems' ? outcomesToCheck : null;
      for await (const rows of importReport(ledger, own, outcomes)) {
        yield rows.flatMap((row) => viewReportRow(shows === 'everything' ? row : { ...row, message: null }, columns));
      }
    },
    /** Yields the report as a CSV that can be corrected and imported again. */
    async *reportCsv(number: string): AsyncIterable<string> {
      const { number: own, mapping } = await required(number);
      yield* importReportCsv(ledger, own, mapping);
    },
    /** @throws {ImportRefusal} if the import is unknown or has ended, or stays paused because its workspace is */
    async act(number: string, action: ImportAction): Promise<ImportView> {
      const progress = await required(number);
      await actOnImport(ledger, progress, action);
      await tryToWake(progress.id);
      const now = await required(number);
      if (action.do === 'resume') refusePausedWorkspace(now);
      return viewImport(now);
    },
    /** Returns the id of the named token that started an import; null: none. @throws {ImportRefusal} */
    tokenOf: async (number: string): Promise<string | null> => (await required(number)).requestedToken,
    /** @param workspace null: all workspaces */
    mappings: async (workspace: string | null): Promise<SavedMapping[]> =>
      (await allMappings(ledger, workspace)).map(({ workspace: own, savedAt, ...mapping }) => ({
        ...mapping,
        workspace: own === '' ? null : own,
        savedAt: savedAt.toISOString(),
      })),
  };
}

/** Yields the report of an import as CSV. @param mapping as stored with the import */
export async function* importReportCsv(
  ledger: Ledger,
  number: number,
  mapping: unknown,
): AsyncGenerator<string, void, undefined> {
  yield* reportCsv(readReport(ledger, number, mapping), reportFields(mapping));
}

/** Returns the fields that an import sends, in the order of the file. @param mapping as stored with the import */
export function reportFields(mapping: unknown): string[] {
  return storedColumns(mapping).columns.flatMap(({ property }) => property ?? []);
}

/** Yields the rows of an import with their problems as sentences. @param mapping as stored with the import */
export async function* readReport(
  ledger: Ledger,
  number: number,
  mapping: unknown,
): AsyncGenerator<ReportRow[], void, undefined> {
  const { columns } = storedColumns(mapping);
  // The report has the service's fields as columns, not those of the file.
  const fieldOf = (name?: string | null) => columns.find(({ column }) => column === name)?.property ?? name;
  for await (const rows of importReport(ledger, number)) {
    yield rows.map((row) => {
      const [first, ...more] = viewReportRow(row, { columns });
      const message = [first, ...more].flatMap((each) => each?.message ?? []).join(' ');
      const needsMark = [first, ...more].some((each) => each?.code != null && codesLostInText.has(each.code));
      return {
        ...row,
        field: fieldOf(first?.column) ?? row.field,
        message: message === '' ? null : message,
        needsMark,
      };
    });
  }
}

/** Addresses the page and programs; the command line refuses before it uploads. */
const howToForce =
  'to import anyway, select "import even if the event has ended" under "More options" (in the API, force=true)';

/** Refuses an event that has ended. @param remedy how its caller can import anyway @throws {ImportRefusal} */
export function refuseEnded({ workspace, pigeonholeId, name, status }: ImportTarget, remedy: string): void {
  if (status !== 'ended') return;
  throw new ImportRefusal(
    'wrong',
    `pigeonhole ${workspace}/${pigeonholeId}${name === null ? '' : ` (${name})`} has ended: ${remedy}`,
  );
}

async function termsOf(deps: Collaborators, request: ImportRequest): Promise<CheckTerms> {
  const target = await findTarget(deps, request.pigeonhole);
  const { name, encoding, delimiter, sheet } = request;
  const codeKey =
    request.generateCodes === true ? deps.ledger.hash.generatedCodes(target.workspace, target.pigeonholeId) : undefined;
  return {
    target,
    file: { name, encoding, delimiter, sheet },
    wishes: await columnWishes(deps.ledger, target.workspace, request.map ?? []),
    knownFields: await profileFieldsOf(deps, target),
    codeKey,
    canary: request.canary ?? null,
  };
}

async function* sendableOf(portions: Awaited<ReturnType<typeof openRegistrants>>['rows']) {
  for await (const rows of portions) yield rows.filter(isSendable);
}

/** Refuses to report an import as resumed while its workspace is paused. @throws {ImportRefusal} */
function refusePausedWorkspace({ number, workspace, pauses }: ImportProgress): void {
  const own = pauses.filter(({ scope }) => scope === 'workspace');
  const paused = own.find(({ pausedBy }) => pausedBy === 'person') ?? own[0];
  if (paused === undefined) return;
  throw new ImportRefusal(
    'stopped',
    paused.pausedBy === 'person'
      ? `import ${number} stays paused, because an operator has paused workspace ${workspace}: run "pigeonpost resume workspace:${workspace}"`
      : `import ${number} stays paused, because workspace ${workspace} is paused: ${paused.detail}`,
  );
}

/**
 * Records an operator's request about an import in the ledger. The caller wakes the workflow afterwards.
 * @throws {ImportRefusal} if it has ended
 */
async function actOnImport(
  ledger: Ledger,
  { id, number, state }: Pick<ImportProgress, 'id' | 'number' | 'state'>,
  { do: verb, by, reason }: ImportAction,
): Promise<void> {
  const hasEnded = new ImportRefusal('stopped', `import ${number} has ended: there is nothing to ${verb}`);
  if (state === 'done' || state === 'cancelled') throw hasEnded;
  if (verb === 'cancel') {
    if (!(await requestCancellation(ledger, id, by ?? null))) throw hasEnded; // it has just ended
  } else if (verb === 'pause') {
    await pause(ledger, {
      scope: 'import',
      name: id,
      pausedBy: 'person',
      cause: 'asked',
      detail: reason ?? 'no reason given',
      fingerprint: null,
      actor: by ?? null,
    });
  } else {
    await resume(ledger, 'import', id, 'person');
    await resume(ledger, 'import', id, 'cause');
  }
}
