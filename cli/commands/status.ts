import type { Command } from 'commander';
import { exampleText, type Run, type Context } from '../command.js';
import { setTimeout as pause } from 'node:timers/promises';
import { type ApiClient, instanceOf } from '../api-client.js';
import { type Output, printLine, LiveBlock } from '../output.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { formatStatus, pageLines, ItemCounts, type Moment, readMoment } from '../status/format-status.js';
import { liveScreen } from '../status/live-screen.js';
import { span, type TextLine } from '../text-line.js';

export function addStatus(program: Command, run: Run): void {
  program
    .command('status')
    .description('Show problems, events and sinks of the running pigeonpost')
    .option('--json', 'print one JSON document', false)
    .option('--counts', 'also count the items by list and sink; reads the whole ledger', false)
    .option('--watch', 'refresh every 2 s until Ctrl-C', false)
    .addHelpText('after', exampleText('status', 'status --watch', 'status --json'))
    .action((options: StatusOptions) => run((context) => status(context, options)));
}

const watchEveryMs = 2000;

interface StatusOptions {
  readonly counts: boolean;
  readonly json: boolean;
  readonly watch: boolean;
}

/**
 * `pigeonpost status`: shows problems, events and sinks. With `--watch`, every two seconds until Ctrl-C: redrawn in
 * place on a terminal, one JSON document per line with `--json`. Exit 0, 3 if no pigeonpost answers or it is still
 * starting.
 */
async function status(context: Context, options: StatusOptions): Promise<ExitCode> {
  const { out } = context;
  const { config, address, client: api } = await instanceOf(context);
  const page = `${(config?.server.publicUrl ?? (await address()).url).replace(/\/$/, '')}/`;
  if (options.watch && !options.json) return await watch(api, out, page);
  if (options.json) {
    for (;;) {
      out.line(JSON.stringify(await api.status(options)));
      if (!options.watch) return ExitCode.Done;
      await pause(watchEveryMs);
    }
  }
  const moment = await readMoment(api, options);
  const { columns, colours, terminal } = out;
  const sheet = { now: new Date(), columns: terminal ? columns : Infinity, colours, page };
  for (const line of formatStatus(moment, sheet)) out.line(line);
  for (const { sink, pigeonholeId, list, state, items } of moment.status.counts?.deliveries ?? []) {
    printLine(out, `  ${sink} ${pigeonholeId} ${list}: ${items} ${state}`);
  }
  return ExitCode.Done;
}

/**
 * Shows the status again and again until a signal ends the process. If the first request fails, the command fails.
 * Later failures are only shown.
 */
async function watch(api: ApiClient, out: Output, page: string): Promise<never> {
  if (!out.terminal) {
    throw new CommandError(ExitCode.WrongUse, '--watch needs a terminal: add --json for other output');
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
      failure = error instanceof Error ? error.message : String(error);
    }
  }
}
