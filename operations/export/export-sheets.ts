import type { Config } from '../../config/config.js';
import { csvOf } from '../../base/sheets/csv.js';
import type { Sheet } from '../../base/sheets/sheet.js';
import type { ExportFormat, SheetName } from '../../base/sheets/sheet-names.js';
import { xlsxOf } from '../../base/sheets/xlsx.js';
import type { PigeonholeName } from '../../cycles/cycle-results.js';
import type { DeadLetterChoice } from '../../delivering/dead-letters.js';
import type { Ledger } from '../../ledger/ledger.js';
import { placeName } from '../../ledger/pauses.js';
import type { Consent } from '../../ledger/seen-item.js';
import { deadLetterSheet } from './dead-letter-sheet.js';
import { type ExportedPlace, timezoneOf } from './exported-place.js';
import { importSheet } from './import-sheet.js';
import { listSheet } from './list-sheet.js';

/** The type of a file in HTTP. */
export const mediaTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/**
 * Consent states whose people an export shows, if nothing else is configured: everybody except those who refused, as in a
 * `file` sink, because an export stays with those who run the event.
 */
export const shownByDefault: ReadonlySet<Consent> = new Set(['obtained', 'not-asked', 'not-known']);

export interface ExportRequest {
  readonly place: ExportedPlace;
  /** At least one; exactly one for CSV. */
  readonly sheets: readonly SheetName[];
  readonly format: ExportFormat;
  /** Whether the data of items and imported rows is exported, and not only their keys and states. */
  readonly personal: boolean;
  readonly accepts: ReadonlySet<Consent>;
}

export interface ExportSources {
  readonly ledger: Ledger;
  readonly config: Pick<Config, 'syncs'>;
}

/** Yields an export while it is read from the ledger, as fast as its reader takes it. */
export async function* writeExport(
  sources: ExportSources,
  request: ExportRequest,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  yield* writeSheets(sheetsOf(sources, request), request.format);
}

/** Chooses dead letters of one sink. */
interface DeadLettersOfSink extends Pick<DeadLetterChoice, 'workspace' | 'cause' | 'list'> {
  readonly sink: string;
  /** Null: every event of the sink. */
  readonly place: PigeonholeName | null;
}

/**
 * Yields the dead letters of a sink as one table. Times are in the time zone of the event; in UTC if every event is chosen.
 */
export async function* writeDeadLetters(
  { ledger, config }: ExportSources,
  { place, ...choice }: DeadLettersOfSink,
  format: ExportFormat,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const timezone = place === null ? 'UTC' : await timezoneOf(ledger, place);
  const pigeonhole = place === null ? undefined : placeName(place);
  const sheet = deadLetterSheet(ledger, { ...choice, pigeonhole, sentBy: config }, timezone);
  yield* writeSheets(only(sheet), format);
}

async function* only(sheet: Sheet): AsyncGenerator<Sheet, void, undefined> {
  yield sheet;
}

async function* writeSheets(
  sheets: AsyncIterable<Sheet>,
  format: ExportFormat,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  if (format === 'xlsx') yield* xlsxOf(sheets);
  else for await (const sheet of sheets) yield* csvOf(sheet);
}

async function* sheetsOf(sources: ExportSources, request: ExportRequest): AsyncGenerator<Sheet, void, undefined> {
  for (const name of request.sheets) yield await sheetOf(sources, request, name);
}

async function sheetOf({ ledger, config }: ExportSources, request: ExportRequest, name: SheetName): Promise<Sheet> {
  const { place, personal, accepts } = request;
  if (name === 'dead-letters')
    return deadLetterSheet(ledger, { pigeonhole: placeName(place), sentBy: config }, place.timezone);
  if (name === 'import-rows') return await importSheet(ledger, place, personal);
  return await listSheet(ledger, place, name, { personal, accepts });
}
