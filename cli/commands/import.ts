import {
  type CliCommand,
  wholeNumber,
  askLine,
  collect,
  type Context,
  confirm,
  type JsonOption,
  operatorName,
} from '../command.js';
import { addImportCommands } from './imports.js';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ImportCheck } from '../../importing/desk/import-views.js';
import { type Output, printResult } from '../output.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { instanceOf } from '../api-client.js';
import { counted } from '../../base/words.js';
import { sendsNothing, tellEnd, tellNothingToSend } from '../imports/report-end.js';
import { followImport, createProgressDisplay, createUploadDisplay } from '../imports/follow-import.js';
import { candidateLines, mappingsFor } from '../imports/code-column.js';
import {
  formatCheck,
  needsEncoding,
  namesInWords,
  questionOf,
  type Sheet,
  strangeFields,
  targetInWords,
} from '../imports/format-check.js';
import { importClient, type UploadQuery } from '../imports/import-client.js';
import { codesFileOf, requireFile, requireOtherFile, requireWritable, writeWholeFile } from '../files.js';
import { unsureEncoding } from '../../importing/files/find-encoding.js';
import { noCodeColumn } from '../../importing/files/check-mapping.js';
import { problemsCsv } from '../../importing/import-report.js';
import { shownInLine } from '../text-line.js';
import { stopSignal } from '../until-stopped.js';

/** Adds `pigeonpost import`, without its commands (`imports.ts`). */
export function addImport(program: CliCommand): void {
  const command = program
    .command('import')
    .description('Create registrants from a CSV, Excel (xlsx), JSON or NDJSON file')
    .argument('<file>', 'path of the file; write ./NAME if it has the name of a command below')
    .option('--pigeonhole <id>', 'pigeonhole to import into (required): ID or WORKSPACE/ID')
    .option('--dry-run', 'show the plan and the problems without sending anything', false)
    .option(
      '--map <column=field>',
      'field for a column, "COLUMN=" to leave it out, "COLUMN+COLUMN=FIELD" to join two, or a saved mapping',
      collect,
      [],
    )
    .option('--save-map <name>', 'name to save the mapping under, for the next event')
    .option('--canary <n>', 'number of rows to import first, so that you can check them', wholeNumber(1000))
    .option('--generate-codes', 'generate codes for rows without one and save them to a file in the same folder', false)
    .option('--force', 'import even if the pigeonhole has ended', false)
    .option('--encoding <name>', 'encoding of the text, if pigeonpost does not detect it: windows-1252, utf-8, …')
    .option('--delimiter <character>', 'delimiter of a CSV file, if pigeonpost does not detect it; also "tab"')
    .option('--sheet <name>', 'sheet of an Excel file; by default the first visible one')
    .option('--problems <file>', 'CSV file for all problems of the import')
    .option('--report <file>', 'CSV file for the result of each row, which you can correct and import again')
    .option('--yes', 'skip the confirmation', false)
    .option('--no-wait', 'exit once the import has started')
    .json('print one JSON document at the end')
    .examples(
      'import people.csv --pigeonhole 123 --dry-run',
      'import people.xlsx --pigeonhole acme/123 --map "Ticket=attendeeCode" --map "Notes=" --save-map tickets',
      'import people.csv --pigeonhole 123 --canary 1',
      'import people.csv --pigeonhole 123 --report report.csv',
    )
    .runs((context, file: string, options: Omit<ImportOptions, 'file'>) => importFile(context, { file, ...options }), {
      holdsSignals: true,
    });
  addImportCommands(command);
}

/**
 * `pigeonpost import <file>`: checks a file of registrants, shows the plan, asks for confirmation, imports the file and
 * reports. If no row would be sent, it starts no import. Ctrl-C ends the command and not the import. Exit 0 if no row
 * needs correction, 5 if some do, 1 if the operator declines, the import is paused or cancelled, or the command is
 * stopped; 2 for an unusable file, 3 if no process runs, 4 if the pigeonhole is not known.
 */
export async function importFile(context: Context, options: ImportOptions): Promise<ExitCode> {
  const { out } = context;
  const { file, json, report } = options;
  let query = uploadQueryOf(options, operatorName());
  await requireFile(file);
  requireOtherFile('--report', report, file);
  requireOtherFile('--problems', options.problems, file);
  await requireWritable('--report', report);
  await requireWritable('--problems', options.problems);
  const codesFile = codesFileOf(file);
  const client = importClient((await instanceOf(context)).address);
  const stop = stopSignal();

  await client.target(query['pigeonhole']!); // called first, so that a problem with the pigeonhole is reported before a large file is sent
  const checkFile = (): Promise<ImportCheck> =>
    showing(out, options, 'checking', (onSent) =>
      client.check(file, query, { signal: stop, onSent }).catch(withImportOptions),
    );
  let check = await checkFile();
  if (options.problems !== undefined) await writeWholeFile(options.problems, problemsCsv(check.problems));
  if (options.dryRun) return tellDryRun(out, check, options);

  refuseEnded(check, options.force);
  if (check.codeColumn.doubt !== null) {
    const named = await nameCodeColumn(out, check, options);
    if (named === null) return ExitCode.Failed;
    query = { ...query, map: JSON.stringify([...options.map, ...named]) };
    check = await checkFile();
  }
  if (options.yes) refuseUnsure(check);
  if (sendsNothing(check)) return tellNothingToSend(out, check, { ...options, plan: formatCheck(check, sheetOf(out)) });
  if (!(await isAgreed(out, check, options))) return ExitCode.Failed;
  const agreed = needsEncoding(check) ? { ...query, encoding: check.file.encoding ?? undefined } : query;
  if (check.generatedCodes > 0) {
    await writeWholeFile(codesFile, client.generatedCodes(file, agreed, stop), { keep: true });
    out.note(
      `${counted(check.generatedCodes, 'code')} written to ${codesFile}: keep this file for invitations and badges. After the import, its report has the codes as well`,
    );
  }
  const started = await showing(out, options, 'uploading', (onSent) =>
    client.start(file, { ...agreed, content: check.file.contentHash }, { signal: stop, onSent }),
  );
  if (!options.wait) {
    const said = `import ${started.id} has started; follow it with: pigeonpost import follow ${started.id}`;
    return printResult(out, json, { import: started.id }, said);
  }
  out.note(`import ${started.id} has started; Ctrl-C leaves it running`);
  const followed = await followImport(client, started, { display: createProgressDisplay(out, json), stop });
  return await tellEnd(out, client, followed, options);
}

/** Uploads the file and shows the progress on a terminal. */
async function showing<T>(
  out: Output,
  { file, json }: Pick<ImportOptions, 'file' | 'json'>,
  verb: string,
  work: (onSent: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  if (!out.terminal || json) return await work(() => undefined);
  const { size } = await stat(file);
  const doing = shownInLine(`${verb} ${basename(file)}`);
  const display = createUploadDisplay(out, { doing, fileBytes: size, now: () => performance.now() });
  try {
    return await work(display.onSent);
  } finally {
    display.end();
  }
}

function tellDryRun(out: Output, check: ImportCheck, { json, force }: ImportOptions): ExitCode {
  printResult(out, json, { dryRun: true, ...check }, [
    ...formatCheck(check, sheetOf(out)),
    ...(hasEnded(check) && !force ? ['this event has ended: the import requires --force'] : []),
    'nothing was sent',
  ]);
  if (check.codeColumn.doubt !== null) return ExitCode.WrongUse;
  const { conflict, rejected, invalid } = check.counts;
  return conflict + rejected + invalid > 0 ? ExitCode.DoneWithRejects : ExitCode.Done;
}

/** Adds the options that help to a message about a missing code column, which the page and drop folders also show. */
export function withImportOptions(error: unknown): never {
  if (!(error instanceof CommandError) || !error.message.includes(noCodeColumn)) throw error;
  const options = '--map "<column>=attendeeCode", or --generate-codes if the list has no codes';
  throw new CommandError(error.exitCode, `${error.message} On the command line: ${options}`);
}

function hasEnded({ target }: ImportCheck): boolean {
  return target.status === 'ended';
}

function refuseEnded(check: ImportCheck, force: boolean): void {
  if (!hasEnded(check) || force) return;
  throw wrongUse(`${targetInWords(check.target)}: it has ended; add --force to import into it anyway`);
}

/** Refuses a guess that nobody confirms. */
function refuseUnsure(check: ImportCheck): void {
  const guess = check.file.encodingGuess;
  if (guess === null || !needsEncoding(check)) return;
  throw wrongUse(
    `${check.file.name}: ${unsureEncoding(guess)} On the command line: --encoding <name>, or leave out --yes`,
  );
}

/** Shows the plan and asks, unless `--yes` is given. With `--json` the plan goes to standard error. */
async function isAgreed(out: Output, check: ImportCheck, { yes, json }: ImportOptions): Promise<boolean> {
  const say = (line: string): void => (json ? out.note(line) : out.line(line));
  if (!json || !yes) for (const line of formatCheck(check, sheetOf(out))) say(line);
  const strange = strangeFields(check.columns);
  if (strange.length > 0) {
    out.note(
      `no attendee of this pigeonhole has the ${strange.length === 1 ? 'field' : 'fields'} ${strange.join(', ')}: the service silently ignores unknown fields, and registrants cannot be changed after the import`,
    );
  }
  if (check.names.missing && check.counts.send > 0) out.note(namesInWords(check.names));
  if (yes || check.counts.send === 0) return true; // 0: the import only waits for the rows of another import
  return await confirm(out, questionOf(check), 'nothing was imported');
}

/**
 * Asks which column holds the attendee codes.
 * @returns the mappings to add; null: the operator stopped
 * @throws {CommandError} exit 2 if nobody can be asked
 */
async function nameCodeColumn(
  out: Output,
  { codeColumn, file }: ImportCheck,
  { yes, generateCodes }: ImportOptions,
): Promise<string[] | null> {
  const { candidates, doubt } = codeColumn;
  if (yes || !process.stdin.isTTY) throw wrongUse(`${file.name}: ${doubt}`);
  for (const line of candidateLines(codeColumn, generateCodes)) out.note(line);
  const most = candidates.length;
  const answer = await askLine(
    `Which column holds the attendee codes? [${generateCodes ? 0 : 1}-${most}, Enter to stop]`,
  );
  const named = answer === null ? null : mappingsFor(answer, codeColumn, generateCodes);
  if (named === null) out.note('nothing was imported');
  return named;
}

/** Returns the width and time for the output. Lines to a file or another program are not truncated. */
function sheetOf(out: Output): Sheet {
  return { columns: out.terminal ? out.columns : Infinity, now: new Date() };
}

export interface ImportOptions extends JsonOption {
  readonly file: string;
  readonly pigeonhole?: string | undefined;
  /**
   * Each is `COLUMN=FIELD`, `COLUMN+COLUMN=FIELD` to join columns, `COLUMN=` to leave the column out, or the name of a
   * saved mapping.
   */
  readonly map: readonly string[];
  readonly saveMap?: string | undefined;
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly sheet?: string | undefined;
  readonly canary?: number | undefined;
  readonly generateCodes: boolean;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly wait: boolean;
  readonly problems?: string | undefined;
  readonly report?: string | undefined;
}

const delimiterWords: Readonly<Record<string, string>> = { tab: '\t', comma: ',', semicolon: ';', pipe: '|' };

/** Returns the query of the upload. @throws {CommandError} for an invalid option */
export function uploadQueryOf(options: ImportOptions, by: string | undefined): UploadQuery {
  if (options.pigeonhole === undefined) throw wrongUse('name the pigeonhole to import into: add --pigeonhole ID');
  const pigeonhole = options.pigeonhole.replace(/^pigeonhole:/, '');
  if (!/^(?:[a-z0-9][a-z0-9-]*\/)?[1-9]\d*$/.test(pigeonhole)) {
    throw wrongUse(`--pigeonhole is "${options.pigeonhole}": give an ID, or WORKSPACE/ID`);
  }
  const { saveMap } = options;
  if (saveMap !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(saveMap)) {
    throw wrongUse(`--save-map is "${saveMap}": use letters, digits, ".", "_" and "-", at most 63 of them`);
  }
  return {
    pigeonhole,
    name: basename(options.file),
    map: options.map.length === 0 ? undefined : JSON.stringify(options.map),
    saveMapping: saveMap,
    encoding: options.encoding,
    delimiter: options.delimiter === undefined ? undefined : (delimiterWords[options.delimiter] ?? options.delimiter),
    sheet: options.sheet,
    canary: options.canary === undefined ? undefined : String(options.canary),
    generateCodes: options.generateCodes ? 'true' : undefined,
    force: options.force ? 'true' : undefined,
    by,
  };
}
