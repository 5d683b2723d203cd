import type { Command } from 'commander';
import { exampleText, wholeNumber, type Run, type Context, operatorName, confirm } from '../command.js';
import type { ImportAction } from '../../importing/desk/import-request.js';
import type { ImportView } from '../../importing/desk/import-views.js';
import { ExitCode } from '../exit-code.js';
import { instanceOf, firstOfList, thereIsMore } from '../api-client.js';
import { endDocument, exitCodeOf, tellEnd, formatReport } from '../imports/report-end.js';
import { followImport, createProgressDisplay, progressInWords, standingInWords } from '../imports/follow-import.js';
import { shownInLine, shownText } from '../text-line.js';
import { type ImportClient, importClient } from '../imports/import-client.js';
import { requireWritable } from '../files.js';
import { counted, formatDistance } from '../../base/words.js';
import { printLine } from '../output.js';
import { stopSignal } from '../until-stopped.js';

/** Adds the commands of `pigeonpost import` that concern an import that has started. */
export function addImportCommands(parent: Command, run: Run): void {
  parent
    .command('list')
    .description('List imports, newest first')
    .option('--limit <n>', 'number of imports', wholeNumber(100_000), 100)
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('import list --limit 20'))
    .action(({ limit }: { limit: number }, own: Command) =>
      run((context) => listImports(context, { limit, ...shared(own) })),
    );
  parent
    .command('status <id>')
    .description('Show the progress and counts of an import')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('import status 7'))
    .action((id: string, _: object, own: Command) => run((context) => importStatus(context, { id, ...shared(own) })));
  parent
    .command('follow <id>')
    .description('Show the progress of an import until it finishes, then its report')
    .option('--report <file>', 'CSV file for the result of each row')
    .option('--json', 'print one JSON document at the end', false)
    .addHelpText('after', exampleText('import follow 7 --report report.csv'))
    .action((id: string, _: object, own: Command) =>
      run((context) => followOne(context, { id, ...shared(own) }), { holdsSignals: true }),
    );
  parent
    .command('report <id>')
    .description('Print the result of each row as CSV, which you can correct and import again')
    .option('--json', 'print the counts and problems as one JSON document instead', false)
    .addHelpText('after', exampleText('import report 7 > report.csv'))
    .action((id: string, _: object, own: Command) => run((context) => importReport(context, { id, ...shared(own) })));
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
      .option('--json', 'print one JSON document', false)
      .addHelpText('after', exampleText(`import ${verb} 7`))
      .action((id: string, { reason }: { reason?: string }, own: Command) =>
        run((context) => actOnImport(context, { verb, id, reason, ...shared(own) })),
      );
    if (verb === 'cancel') command.option('--yes', 'skip the confirmation', false);
  }
}

/**
 * Returns the options that the parent command `import` has as well. commander assigns their values to `import`,
 * wherever the user writes them.
 */
function shared(own: Command): { readonly json: boolean; readonly yes: boolean; readonly report?: string } {
  return own.optsWithGlobals<{ json: boolean; yes: boolean; report?: string }>();
}

/** `pigeonpost import list`: lists imports, newest first. Exit 0. */
export async function listImports(
  context: Context,
  { limit, json }: { readonly limit: number; readonly json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const client = await clientFor(context);
  const { items, more } = await firstOfList(limit, (part) => client.list(part));
  if (json) {
    out.line(JSON.stringify({ items, more }));
    return ExitCode.Done;
  }
  if (items.length === 0) out.line('no imports');
  for (const line of importLines(items, new Date())) printLine(out, line);
  if (more) out.note(thereIsMore);
  return ExitCode.Done;
}

/** Formats imports in columns, with the file name last because it may be long. Pure. */
function importLines(imports: readonly ImportView[], now: Date): string[] {
  const cells = imports.map(({ id, state, workspace, pigeonholeId, file, rows, startedAt, canary }) => [
    id,
    canary === null ? state : `${state} (canary)`,
    `${workspace}/${pigeonholeId}`,
    counted(rows, 'row'),
    formatDistance(new Date(startedAt), now),
    shownInLine(file),
  ]);
  const widths = [0, 1, 2, 3, 4].map((n) => Math.max(...cells.map((row) => row[n]!.length)));
  return cells.map((row) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  '));
}

/**
 * `pigeonpost import status <id>`: shows the state of an import. Exit 0; 5 if it has ended and rows need correction; 4
 * if it is not known.
 */
async function importStatus(
  context: Context,
  { id, json }: { readonly id: string; readonly json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const view = await (await clientFor(context)).find(id);
  if (json) out.line(JSON.stringify(view));
  else {
    for (const line of formatReport(view, [], null)) out.line(line);
    const standing = standingInWords(view, { now: new Date() });
    if (standing !== null) out.line(`${progressInWords(view, null, { now: new Date() })}; ${standing}`);
  }
  return view.state === 'done' ? exitCodeOf(view) : ExitCode.Done;
}

interface FollowOptions {
  readonly id: string;
  readonly report?: string | undefined;
  readonly json: boolean;
}

/**
 * `pigeonpost import follow <id>`: shows the progress of an import until it has ended, then its report. Exit codes as
 * for `import`; 4 if the import is not known.
 */
async function followOne(context: Context, { id, report, json }: FollowOptions): Promise<ExitCode> {
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
export async function importReport(
  context: Context,
  { id, json }: { readonly id: string; readonly json: boolean },
): Promise<ExitCode> {
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

interface ActOnImportOptions {
  readonly verb: ImportAction['do'];
  readonly id: string;
  readonly reason?: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
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
    if (
      !(await confirm(
        `Cancel import ${id}? Registrants that were created stay; pigeonpost does not send the remaining ${left === 1 ? 'row' : counted(left, 'row')}.`,
      ))
    ) {
      out.note('nothing was cancelled');
      return ExitCode.Failed;
    }
  }
  const by = operatorName();
  const now = await client.act(id, { do: verb, ...(by === undefined ? {} : { by }), ...(reason ? { reason } : {}) });
  if (json) out.line(JSON.stringify(endDocument(now, [])));
  else out.line(`import ${id} ${becomes[verb]}`);
  return ExitCode.Done;
}

const becomes = {
  pause: 'is paused',
  resume: 'is resumed',
  cancel: 'is cancelled once requests in progress are settled; registrants that were created stay',
} as const;

async function clientFor(context: Context): Promise<ImportClient> {
  return importClient((await instanceOf(context)).address);
}
