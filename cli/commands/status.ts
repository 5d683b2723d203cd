import { messageOf } from '../../base/errors.js';
import type { CliCommand, Context, JsonOption } from '../command.js';
import { setTimeout as pause } from 'node:timers/promises';
import { type ApiClient, instanceOf } from '../api-client.js';
import { type Output, printLine, LiveBlock } from '../output.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import { counted } from '../../base/words.js';
import {
  formatStatus,
  pageLines,
  ItemCounts,
  type Moment,
  readMoment,
  rateLines,
  separated,
  problemLines,
  shortProblemLines,
  itemLines,
} from '../status/format-status.js';
import { span, type TextLine, extraRows, renderLine } from '../text-line.js';
import { eventLines } from '../status/event-lines.js';
import { sinkLines } from '../status/sink-lines.js';

export function addStatus(program: CliCommand): void {
  program
    .command('status')
    .description('Show problems, events and sinks of the running pigeonpost')
    .json()
    .option('--counts', 'also show the number of deliveries by sink, list and state', false)
    .option('--recount', 'first count everything again, and correct counts that are wrong', false)
    .option('--watch', 'refresh every 2 s until Ctrl-C', false)
    .examples('status', 'status --watch', 'status --json')
    .runs(status);
}

const watchEveryMs = 2000;

interface StatusOptions extends JsonOption {
  readonly counts: boolean;
  readonly recount: boolean;
  readonly watch: boolean;
}

/**
 * `pigeonpost status`: shows problems, events and sinks. With `--recount`, after it has corrected the counts. With `--watch`, every two seconds until Ctrl-C: redrawn in
 * place on a terminal, one JSON document per line with `--json`. Exit 0, 3 if no pigeonpost answers or it is still
 * starting.
 */
async function status(context: Context, options: StatusOptions): Promise<ExitCode> {
  const { out } = context;
  const { config, address, client: api } = await instanceOf(context);
  const page = `${(config?.server.publicUrl ?? (await address()).url).replace(/\/$/, '')}/`;
  if (options.recount) await recount(api, out);
  if (options.watch && !options.json) return await watch(api, out, page);
  if (options.json) {
    for (;;) {
      out.line(JSON.stringify(await api.get('/api/status', { query: { counts: options.counts ? '' : undefined } })));
      if (!options.watch) return ExitCode.Done;
      await pause(watchEveryMs);
    }
  }
  const moment = await readMoment(api, options);
  const { columns, colours, terminal } = out;
  const sheet = { now: new Date(), columns: terminal ? columns : Infinity, colours, page };
  for (const line of formatStatus(moment, sheet)) out.line(line);
  for (const { sink, pigeonholeId, list, state, changes } of moment.status.counts?.deliveries ?? []) {
    printLine(out, `  ${sink} ${pigeonholeId} ${list}: ${changes} ${state}`);
  }
  return ExitCode.Done;
}

/** Corrects the counts, and notes each that was wrong. */
async function recount(api: ApiClient, out: Output): Promise<void> {
  const { wrong } = await api.post('/api/status/recount', { json: {} });
  for (const { sink, import: number, workspace, pigeonholeId, list, state, reason, kept, counted: right } of wrong) {
    const deliveries = `${list} ${state}${reason === '' ? '' : ` (${reason})`} at ${sink}`;
    const what = number !== null ? `rows ${state} of import ${number}` : sink === null ? `${list} items` : deliveries;
    out.note(`corrected: ${workspace}/${pigeonholeId} ${what}: ${right} instead of ${kept}`);
  }
  out.note(wrong.length === 0 ? 'all counts were correct' : `${counted(wrong.length, 'count')} corrected`);
}

/**
 * Shows the status again and again until a signal ends the process. If the first request fails, the command fails.
 * Later failures are only shown.
 */
async function watch(api: ApiClient, out: Output, page: string): Promise<never> {
  if (!out.terminal) {
    throw wrongUse('--watch needs a terminal: add --json for other output');
  }
  const block = new LiveBlock(out, { hasScreen: true });
  const itemCounts = new ItemCounts();
  let moment: Moment = await readMoment(api, { counts: false, itemCounts });
  let failure: string | null = null;
  for (;;) {
    const head: TextLine[] = [
      [span('pigeonpost status', 'bold'), span('  every 2 s, Ctrl-C ends it', 'dim')],
      ...pageLines(page, out.columns),
      ...(failure === null ? [] : [[span(`not up to date: ${failure}`, 'yellow')]]),
    ];
    block.show(liveScreen(head, moment, new Date(), out));
    await pause(watchEveryMs);
    try {
      moment = await readMoment(api, { counts: false, itemCounts });
      failure = null;
    } catch (error) {
      failure = messageOf(error);
    }
  }
}

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

/**
 * Returns the screen that is redrawn in place. The head is always complete. To fit the terminal, it omits first the
 * polling intervals, then events, then the advice for problems, then problems, then the details below sinks. Pure.
 * @param head the title, the address of the page and the steps
 * @param moment null while nothing is known yet
 */
export function liveScreen(head: readonly TextLine[], moment: Moment | null, now: Date, screen: Screen): string[] {
  const rows = screen.rows - 1 - extraRows(head, screen.columns); // the cursor is below the last line
  return fitted(head, moment, { now, columns: screen.columns, rows }).map((line) => renderLine(line, screen));
}

interface Amount {
  readonly maxEvents: number;
  /** Maximum number of problems; Infinity also shows their advice. */
  readonly maxProblems: number;
  readonly hasRemarks: boolean;
  /** Shows the polling intervals in force below each event. */
  readonly hasIntervals?: boolean;
}

interface Room {
  readonly now: Date;
  readonly columns: number;
  readonly rows: number;
}

const fewEvents = 5;

function fitted(head: readonly TextLine[], moment: Moment | null, room: Room): TextLine[] {
  const { rows } = room;
  if (moment === null) return head.slice(0, rows);
  const allEvents = Math.min(rows, Math.max(0, ...moment.status.workspaces.map((each) => each.pigeonholes.length)));
  const downTo = (from: number, to: number): number[] =>
    Array.from({ length: Math.max(0, from - to) }, (_, n) => from - n);
  const amounts: Amount[] = [
    { maxEvents: allEvents, maxProblems: Infinity, hasRemarks: true, hasIntervals: true },
    ...[...downTo(allEvents, fewEvents), Math.min(allEvents, fewEvents)].map((maxEvents) => ({
      maxEvents,
      maxProblems: Infinity,
      hasRemarks: true,
    })),
    ...[12, 8, 4].map((maxProblems) => ({ maxEvents: fewEvents, maxProblems, hasRemarks: true })),
    ...[3, 2, 1].map((least) => ({ maxEvents: least, maxProblems: least, hasRemarks: false })),
  ];
  for (const amount of amounts) {
    const lines = sections(head, moment, room, amount);
    if (lines.length <= rows) return lines;
    const dense = lines.filter((line) => line.length > 0);
    if (dense.length <= rows) return dense;
  }
  const least = sections(head, moment, room, amounts.at(-1)!).filter((line) => line.length > 0);
  return [...least.slice(0, Math.max(0, rows - 1)), [span('… enlarge the window, or see "pigeonpost status"', 'dim')]];
}

function sections(
  head: readonly TextLine[],
  moment: Moment,
  { now, columns }: Room,
  { maxEvents, maxProblems, hasRemarks, hasIntervals }: Amount,
): TextLine[] {
  const { workspaces, sinks } = moment.status;
  return separated([
    [...head, ...rateLines(moment, columns)],
    maxProblems === Infinity ? problemLines(moment, now, columns) : shortProblemLines(moment, maxProblems),
    ...workspaces.map((workspace) => [
      ...eventLines(workspace, { now, columns, maxEvents, hasIntervals: hasIntervals === true }),
      ...(hasRemarks ? itemLines(moment.items, workspace.name, columns) : []),
    ]),
    sinkLines(sinks, { now, columns, says: hasRemarks ? 'state' : 'nothing', troubles: moment.overview.troubles }),
  ]);
}
