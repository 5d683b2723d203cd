import type { ImportAction, ImportRequest } from './import-request.js';
import type { ImportCheck, ImportReportRow, ImportTarget, ImportView, SavedMapping } from './import-views.js';

export interface ImportsWanted {
  /** Null: of all workspaces. */
  readonly workspace: string | null;
  readonly before: number | null;
  readonly limit: number;
}

/** What the process that serves the API does with registrant files. */
export interface ImportDesk {
  /** Where a file would go, asked of the service. @throws {ImportRefusal} */
  target(pigeonhole: string): Promise<ImportTarget>;
  /**
   * What an import would do; writes nothing.
   * @throws {ImportRefusal}
   * @throws {RegistrantFileError} when the file cannot be used
   */
  check(request: ImportRequest, bytes: AsyncIterable<Uint8Array>): Promise<ImportCheck>;
  /** CSV: rows and the codes that they are given where they have none. Throws as `check`. */
  generatedCodes(request: ImportRequest, bytes: AsyncIterable<Uint8Array>): AsyncIterable<string>;
  /**
   * Takes a file in and begins to send it. Throws as `check`; then nothing has begun.
   * @param token the id of the named token of whoever asks; absent or null: they have none
   */
  start(request: ImportRequest, bytes: AsyncIterable<Uint8Array>, token?: string | null): Promise<ImportView>;
  /** Newest first. @param wanted which, and after which: by number, which is the id that people know */
  list(wanted: ImportsWanted): Promise<ImportView[]>;
  find(id: string): Promise<ImportView | undefined>;
  /** The id of the named token that started an import; null: it was started with none. @throws {ImportRefusal} */
  tokenOf(id: string): Promise<string | null>;
  /**
   * In the order of the file; with `problems` only rows that need a person.
   * @param shows `outcomes`: without the service's own words, which may quote a cell
   */
  report(
    id: string,
    only: 'problems' | 'all',
    shows: 'everything' | 'outcomes',
  ): AsyncIterable<readonly ImportReportRow[]>;
  /** The same as a CSV file that can be corrected and imported again. */
  reportCsv(id: string): AsyncIterable<string>;
  /** @throws {ImportRefusal} when there is nothing to do it to */
  act(id: string, action: ImportAction): Promise<ImportView>;
  /** @param workspace null: of all of them */
  mappings(workspace: string | null): Promise<SavedMapping[]>;
}
