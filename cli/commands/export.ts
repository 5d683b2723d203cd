import { type CliCommand, collect, type Context, parseFullPigeonhole, parseList, personalHelp } from '../command.js';
import {
  deadLettersFileName,
  type ExportFormat,
  exportFileName,
  type SheetName,
  sheetNames,
} from '../../base/sheets/sheet-names.js';
import { filledAddress } from '../../base/api-client.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { askBody, instanceOf } from '../api-client.js';
import { requireFree, writeWholeFile } from '../files.js';
import { stopSignal } from '../until-stopped.js';
import { countBytes, withProgress } from '../progress.js';
import { shownText } from '../text-line.js';
import { formatBytes } from '../../base/words.js';
import type { Output } from '../output.js';

const exportHelp = `
Tables are the lists, "dead-letters" and "import-rows". A
workbook (xlsx) has a sheet for each table, a CSV file holds
one. "WORKSPACE/0" has the lists of a workspace. The columns
are documented in docs/export.md.

With --sink, the file has the dead letters of that sink: of
all its pigeonholes, or of the one that is named.

Examples:
  pigeonpost export 101 --personal
  pigeonpost export 101 --list attendees --format csv --personal
  pigeonpost export 101 --list votes --list questions --out people.xlsx
  pigeonpost export --sink crm`;

export function addExport(program: CliCommand): void {
  program
    .command('export [pigeonhole]')
    .description(
      'Write tables of a pigeonhole into a file for spreadsheets: CSV, or a workbook with a sheet for each table',
    )
    .option('--list <name>', 'table to export; may be repeated; by default all', collect, [])
    .option('--sink <name>', 'dead letters of this sink')
    .option('--format <format>', 'csv or xlsx; by default that of the name in --out, otherwise xlsx')
    .option(
      '--out <file>',
      'file to write; "-" is standard output; by default named after the pigeonhole and the table',
    )
    .option('--force', 'replace the file if it exists', false)
    .option('--personal', personalHelp, false)
    .addHelpText('after', exportHelp)
    .runs(exportSheets, { holdsSignals: true });
}

interface ExportOptions {
  readonly list: readonly string[];
  readonly sink?: string | undefined;
  readonly format?: string | undefined;
  readonly out?: string | undefined;
  readonly force: boolean;
  readonly personal: boolean;
}

/** A file to download. */
interface Exported {
  readonly path: string;
  /** Name of the file, if the operator names none. */
  readonly file: string;
  /** In words, such as `votes of acme/101`. */
  readonly what: string;
  /** Whether the tables can have personal data. */
  readonly isAboutPeople: boolean;
}

/**
 * `pigeonpost export [pigeonhole]`: writes tables of a pigeonhole, or the dead letters of a sink, into a file, which appears
 * when it is complete. Exit 0; 1 if it fails, is stopped or would replace a file; 2 for wrong use; 4 if the pigeonhole or the
 * sink is not known.
 */
async function exportSheets(context: Context, word: string | undefined, options: ExportOptions): Promise<ExitCode> {
  const { out } = context;
  const { config, address } = await instanceOf(context);
  const place = word === undefined ? null : await parseFullPigeonhole(word, config?.workspaces);
  const format = formatOf(options);
  const { path, file: ownName, what, isAboutPeople } = await exportedBy(place, format, options);
  const file = options.out ?? ownName;
  if (file === '-' && format === 'xlsx' && out.terminal) {
    throw wrongUse('a workbook cannot be written to a terminal: give a file, or redirect standard output');
  }
  if (file !== '-' && !options.force) await requireFree(file);
  const signal = stopSignal();
  const bytes = whole(askBody(address, { path, signal, whenStopped: 'stopped: no file was written' }));
  if (file === '-') await print(bytes, out);
  else {
    const counted = countBytes(bytes);
    await writeWholeFile(file, withProgress(counted, file), { replace: options.force });
    out.line(`${file} has ${what} (${formatBytes(counted.bytes)})`);
    if (!isAboutPeople) return ExitCode.Done;
    if (!options.personal)
      out.note('without the data of items and imported rows: add --personal (role privacy or admin)');
    else out.note('the file contains personal data: store it accordingly, and delete it when it is no longer needed');
  }
  return ExitCode.Done;
}

type FullPigeonhole = Awaited<ReturnType<typeof parseFullPigeonhole>>;

/** @throws {CommandError} exit 2 */
async function exportedBy(
  place: FullPigeonhole | null,
  format: ExportFormat,
  options: ExportOptions,
): Promise<Exported> {
  const isAll = options.list.length === 0 || (options.list.length === 1 && options.list[0] === 'all');
  const sheets: SheetName[] = [];
  if (!isAll) for (const list of options.list) sheets.push(await parseList(list, sheetNames));
  const { sink } = options;
  if (sink !== undefined) return deadLettersBy(place, format, sheets, sink.replace(/^sink:/, ''));
  if (place === null) throw wrongUse('name a pigeonhole, such as 101, or a sink with --sink');
  if (format === 'csv' && sheets.length !== 1) {
    throw wrongUse('a CSV file holds one table: name one with --list, or add --format xlsx');
  }
  const { workspace, id } = place;
  const query = { sheets: isAll ? 'all' : sheets.join(','), format, personal: options.personal ? '1' : undefined };
  return {
    path: filledAddress('/api/exports/{workspace}/{id}', { params: { workspace, id }, query }),
    file: exportFileName({ place: { workspace, pigeonholeId: Number(id) }, sheets, format }),
    what: `${isAll ? 'all tables' : sheets.join(', ')} of ${workspace}/${id}`,
    isAboutPeople: isAll || sheets.some((name) => name !== 'dead-letters'),
  };
}

/** @throws {CommandError} exit 2 for another table */
function deadLettersBy(
  place: FullPigeonhole | null,
  format: ExportFormat,
  sheets: readonly SheetName[],
  sink: string,
): Exported {
  if (sheets.some((name) => name !== 'dead-letters')) {
    throw wrongUse('--sink exports the dead letters of a sink: leave out --list');
  }
  const pigeonhole = place === null ? null : `${place.workspace}/${place.id}`;
  const query = { sink, format, pigeonhole: pigeonhole ?? undefined };
  return {
    path: filledAddress('/api/dead-letters/file', { query }),
    file: deadLettersFileName({ sink, pigeonhole }, format),
    what: `the dead letters of ${sink}${pigeonhole === null ? '' : ` in ${pigeonhole}`}`,
    isAboutPeople: false,
  };
}

/** @throws {CommandError} exit 2 for another format */
function formatOf({ format, out }: ExportOptions): ExportFormat {
  const found = format ?? /\.(csv|xlsx)$/i.exec(out ?? '')?.[1]?.toLowerCase() ?? 'xlsx';
  if (found === 'csv' || found === 'xlsx') return found;
  throw wrongUse('--format is csv or xlsx');
}

/** Yields the response. If it ends early, throws an error that names the running process and not the file. */
async function* whole(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* bytes;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = 'the running pigeonpost ended the export early, so no file was written: check its log';
    throw new CommandError(ExitCode.Failed, message, { cause: error });
  }
}

/** Writes an export to standard output: unchanged for a program, and for a terminal without what could change it. */
async function print(bytes: AsyncIterable<Uint8Array>, out: Output): Promise<void> {
  const { passOn } = await import('../../operations/backup/backup-store.js');
  if (!out.terminal) return await passOn(bytes, process.stdout);
  const decoder = new TextDecoder();
  for await (const part of bytes) out.draw(shownText(decoder.decode(part, { stream: true }), { colours: false }));
}
