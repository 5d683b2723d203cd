import type { ImportAction } from '../../importing/desk/import-request.js';
import type { ImportView } from '../../importing/desk/import-views.js';
import { askedBy } from '../asked-by.js';
import { askYesOrNo } from '../ask-yes-or-no.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { instanceOf } from '../instance.js';
import { firstOfList, thereIsMore } from '../first-of-list.js';
import { endDocument, exitCodeOf, tellEnd } from '../imports/end-of-import.js';
import { followImport } from '../imports/follow-import.js';
import { progressInWords, standingInWords } from '../imports/format-progress.js';
import { shownInLine, shownText } from '../shown-text.js';
import { formatReport } from '../imports/format-report.js';
import { type ImportClient, importClient } from '../imports/import-client.js';
import { requireWritable } from '../imports/import-files.js';
import { createProgressDisplay } from '../imports/progress-display.js';
import { counted, grouped } from '../grouped.js';
import { inWords } from '../in-words.js';
import { printLine } from '../print-line.js';
import { stopSignal } from './import.js';

/** `pigeonpost import list`: newest first. Exit 0. */
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

/** In columns; the name, which may be long, stands last. Pure. */
function importLines(imports: readonly ImportView[], now: Date): string[] {
  const cells = imports.map(({ id, state, workspace, pigeonholeId, file, rows, startedAt }) => [
    id,
    state,
    `${workspace}/${pigeonholeId}`,
    counted(rows, 'row'),
    inWords(new Date(startedAt), now),
    shownInLine(file),
  ]);
  const widths = [0, 1, 2, 3, 4].map((n) => Math.max(...cells.map((row) => row[n]!.length)));
  return cells.map((row) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  '));
}

/** `pigeonpost import status <id>`: how one stands now. Exit 0, 5 when it has ended and rows need a person, 4 unknown. */
export async function importStatus(
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

export interface FollowOptions {
  readonly id: string;
  readonly report?: string | undefined;
  readonly json: boolean;
}

/** `pigeonpost import follow <id>`: its progress until it has ended, then the report. Exit as `import`, 4 unknown. */
export async function followOne(context: Context, { id, report, json }: FollowOptions): Promise<ExitCode> {
  const { out } = context;
  await requireWritable('--report', report);
  const client = await clientFor(context);
  const display = createProgressDisplay(out, json);
  const followed = await followImport(client, await client.find(id), { display, stop: stopSignal() });
  return await tellEnd(out, client, followed, { report, json });
}

/** `pigeonpost import report <id>`: each row as CSV, ready to be corrected; with `--json` the counts and problems. */
export async function importReport(
  context: Context,
  { id, json }: { readonly id: string; readonly json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const client = await clientFor(context);
  const view = await client.find(id);
  if (json) return await tellEnd(out, client, { kind: 'ended', view }, { json });
  // With the mark at its beginning: without it Excel takes the file for another encoding than UTF-8.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const part of await client.reportCsv(id)) {
    const text = decoder.decode(part, { stream: true });
    out.draw(out.terminal ? shownText(text, { colours: false }) : text); // a file keeps its bytes
  }
  return ExitCode.Done;
}

export interface ActOnImportOptions {
  readonly verb: ImportAction['do'];
  readonly id: string;
  readonly reason?: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

/** `pigeonpost import pause|resume|cancel <id>`. Cancelling asks. Exit 0, 1 when the answer is no, 4 unknown. */
export async function actOnImport(context: Context, options: ActOnImportOptions): Promise<ExitCode> {
  const { out } = context;
  const { verb, id, reason, yes, json } = options;
  const client = await clientFor(context);
  const view = await client.find(id);
  const hasEnded = view.state === 'done' || view.state === 'cancelled';
  if (verb === 'cancel' && !yes && !hasEnded) {
    const left = view.counts.waiting;
    const agreed = await askYesOrNo(
      `Cancel import ${id}? What was created stays; ${grouped(left)} rows would not be sent.`,
    );
    if (agreed === undefined)
      throw new CommandError(ExitCode.WrongUse, 'there is no terminal to ask at: add --yes to confirm');
    if (!agreed) {
      out.note('nothing is done');
      return ExitCode.Failed;
    }
  }
  const by = askedBy();
  const now = await client.act(id, { do: verb, ...(by === undefined ? {} : { by }), ...(reason ? { reason } : {}) });
  if (json) out.line(JSON.stringify(endDocument(now, [])));
  else out.line(`import ${id} ${becomes[verb]}`);
  return ExitCode.Done;
}

const becomes = {
  pause: 'is paused',
  resume: 'is resumed',
  cancel: 'is cancelled as soon as what is under way is settled; what was created stays',
} as const;

async function clientFor(context: Context): Promise<ImportClient> {
  return importClient((await instanceOf(context)).address);
}
