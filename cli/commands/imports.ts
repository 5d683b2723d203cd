import { type CliCommand, wholeNumber, type Context, operatorName, confirm, type JsonOption } from '../command.js';
import type { ImportAction } from '../../importing/desk/import-request.js';
import type { NamedImport } from '../../api/imports.js';
import { ExitCode } from '../exit-code.js';
import { instanceOf, firstOfList } from '../api-client.js';
import { endDocument, exitCodeOf, tellEnd, formatReport } from '../imports/report-end.js';
import { followImport, createProgressDisplay, progressInWords, standingInWords } from '../imports/follow-import.js';
import { cutToWidth, shownInLine, shownText, tableLines } from '../text-line.js';
import { type ImportClient, importClient } from '../imports/import-client.js';
import { requireWritable } from '../files.js';
import { counted, formatDistance, importStateWords } from '../../base/words.js';
import { printList, printResult } from '../output.js';
import { stopSignal } from '../until-stopped.js';

/** Adds the commands of `pigeonpost import` that concern an import that has started. */
export function addImportCommands(parent: CliCommand): void {
  parent
    .command('list')
    .description('List imports, newest first')
    .option('--limit <n>', 'number of imports', wholeNumber(100_000), 100)
    .json()
    .examples('import list --limit 20')
    .runs(listImports);
  parent
    .command('status <id>')
    .description('Show the progress and counts of an import')
    .json()
    .examples('import status 7')
    .runs(importStatus);
  parent
    .command('follow <id>')
    .description('Show the progress of an import until it finishes, then its report')
    .option('--report <file>', 'CSV file for the result of each row')
    .json('print one JSON document at the end')
    .examples('import follow 7 --report report.csv')
    .runs(followOne, { holdsSignals: true });
  parent
    .command('report <id>')
    .description('Print the result of each row as CSV, which you can correct and import again')
    .json('print the counts and problems as one JSON document instead')
    .examples('import report 7 > report.csv')
    .runs(importReport);
  const verbs = {
    pause: 'Send no further rows until you resume the import',
    resume: 'Continue a paused import',
    cancel: 'Send no further rows; registrants that were created stay',
  } as const;
  for (const verb of ['pause', 'resume', 'cancel'] as const) {
    const command = parent
      .command(`${verb} <id>`)
      .description(verbs[verb])
      .option('--reason <text>', 'reason that the import shows, without personal data')
      .json()
      .examples(`import ${verb} 7`)
      .runs((context, id: string, options: Omit<ActOnImportOptions, 'verb' | 'id'>) =>
        actOnImport(context, { verb, id, ...options }),
      );
    if (verb === 'cancel') command.option('--yes', 'skip the confirmation', false);
  }
}

/** `pigeonpost import list`: lists imports, newest first. Exit 0. */
export async function listImports(
  context: Context,
  { limit, json }: JsonOption & { readonly limit: number },
): Promise<ExitCode> {
  const client = await clientFor(context);
  const found = await firstOfList(limit, (part) => client.list(part));
  const lines = importLines(found.items, new Date());
  return printList(context.out, json, found, lines.length === 0 ? 'no imports' : lines);
}

/** Maximum width of the title of an event. */
const maxTitle = 30;

function placeOf({ workspace, pigeonholeId, event }: NamedImport): string {
  const place = `${workspace}/${pigeonholeId}`;
  return event == null ? place : `${place} ${cutToWidth(shownInLine(event), maxTitle)}`;
}

/** Formats imports in columns, with the file name last because it may be long. Pure. */
function importLines(imports: readonly NamedImport[], now: Date): string[] {
  const rows = imports.map((view) => [
    view.id,
    importStateWords(view),
    placeOf(view),
    counted(view.rows, 'row'),
    formatDistance(new Date(view.startedAt), now),
    shownInLine(view.file),
  ]);
  return tableLines(rows);
}

/**
 * `pigeonpost import status <id>`: shows the state of an import. Exit 0; 5 if it has ended and rows need correction; 4
 * if it is not known.
 */
async function importStatus(context: Context, id: string, { json }: JsonOption): Promise<ExitCode> {
  const view = await (await clientFor(context)).find(id);
  const at = { now: new Date() };
  const standing = standingInWords(view, at);
  printResult(context.out, json, view, [
    ...formatReport(view, [], null),
    ...(standing === null ? [] : [`${progressInWords(view, null, at)}; ${standing}`]),
  ]);
  return view.state === 'done' ? exitCodeOf(view) : ExitCode.Done;
}

/**
 * `pigeonpost import follow <id>`: shows the progress of an import until it has ended, then its report. Exit codes as
 * for `import`; 4 if the import is not known.
 */
async function followOne(
  context: Context,
  id: string,
  { report, json }: JsonOption & { readonly report?: string },
): Promise<ExitCode> {
  const { out } = context;
  await requireWritable('--report', report);
  const client = await clientFor(context);
  const display = createProgressDisplay(out, json);
  const followed = await followImport(client, await client.find(id), { display, stop: stopSignal() });
  return await tellEnd(out, client, followed, { report, json });
}

/**
 * `pigeonpost import report <id>`: prints each row as CSV, which can be corrected and imported again. With `--json`,
 * prints the counts and problems.
 */
export async function importReport(context: Context, id: string, { json }: JsonOption): Promise<ExitCode> {
  const { out } = context;
  const client = await clientFor(context);
  const view = await client.find(id);
  if (json) return await tellEnd(out, client, { kind: 'ended', view }, { json });
  // The decoder keeps the byte order mark at the start of the file, because Excel does not recognize UTF-8 without it.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const part of await client.reportCsv(id)) {
    const text = decoder.decode(part, { stream: true });
    out.draw(out.terminal ? shownText(text, { colours: false }) : text); // a file receives exactly the bytes of the report
  }
  return ExitCode.Done;
}

interface ActOnImportOptions extends JsonOption {
  readonly verb: ImportAction['do'];
  readonly id: string;
  readonly reason?: string | undefined;
  readonly yes: boolean;
}

/**
 * `pigeonpost import pause|resume|cancel <id>`. Cancelling asks for confirmation. Exit 0; 1 if the operator declines; 4
 * if the import is not known.
 */
export async function actOnImport(context: Context, options: ActOnImportOptions): Promise<ExitCode> {
  const { out } = context;
  const { verb, id, reason, yes, json } = options;
  const client = await clientFor(context);
  const view = await client.find(id);
  const hasEnded = view.state === 'done' || view.state === 'cancelled';
  if (verb === 'cancel' && !yes && !hasEnded) {
    const left = view.counts.waiting;
    const question = `Cancel import ${id}? Registrants that were created stay; pigeonpost does not send the remaining ${left === 1 ? 'row' : counted(left, 'row')}.`;
    if (!(await confirm(out, question, 'nothing was cancelled'))) return ExitCode.Failed;
  }
  const now = await client.act(id, { do: verb, by: operatorName(), reason: reason === '' ? undefined : reason });
  return printResult(out, json, endDocument(now, []), `import ${id} ${becomes[verb]}`);
}

const becomes = {
  pause: 'is paused',
  resume: 'is resumed',
  cancel: 'is cancelled once requests in progress are settled; registrants that were created stay',
} as const;

async function clientFor(context: Context): Promise<ImportClient> {
  return importClient((await instanceOf(context)).address);
}
