import { counted } from '../../base/words.js';
import type { Command } from 'commander';
import { exampleText, type Run } from '../command-options.js';
import type { Readiness, ReadyCheck } from '../../operations/ready/readiness.js';
import type { ApiClient } from '../api-client.js';
import { confirm } from '../operator.js';
import type { Context, Output } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { clientOf } from '../instance.js';
import { parsePigeonhole } from '../parse-names.js';
import { paint, type Style, wrapText } from '../text-line.js';

/** Adds `pigeonpost ready`. */
export function addReady(program: Command, run: Run): void {
  program
    .command('ready <pigeonhole>')
    .description('Check whether pigeonpost is ready for an event')
    .option('--canary', 'send a test item through each sink, then delete it there', false)
    .option('--yes', 'no confirmation before canaries are sent', false)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('ready 101', 'ready acme/101 --json', 'ready 101 --canary'))
    .action((pigeonhole: string, options: Omit<ReadyOptions, 'pigeonhole'>) =>
      run((context) => ready(context, { pigeonhole, ...options })),
    );
}

export interface ReadyOptions {
  readonly pigeonhole: string;
  /** Send a test item through each sink, and delete it again. */
  readonly canary: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

/**
 * `pigeonpost ready <pigeonhole>`: checks whether pigeonpost is ready for an event; with `--canary`, also sends a test
 * item through each sink after a confirmation. Exit 0 if every check passed, 1 if one failed or could not be made, or
 * if the operator declines, 2 without a terminal to confirm at, 3 if no pigeonpost runs, 4 for an unknown pigeonhole.
 */
export async function ready(context: Context, { pigeonhole, canary, yes, json }: ReadyOptions): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const found = await client.ready(await parsePigeonhole(pigeonhole));
  if (!json) for (const line of formatReady(found, out)) out.line(line);
  if (!canary) {
    if (json) out.line(JSON.stringify(found));
    return found.ready ? ExitCode.Done : ExitCode.Failed;
  }
  const sinks = sinksIn(found.checks);
  if (sinks.length > 0 && !yes) {
    if (!(await confirm(questionFor(sinks)))) {
      out.note('nothing was sent');
      return ExitCode.Failed;
    }
  }
  const canaries = await send(client, found, sinks);
  if (json) out.line(JSON.stringify({ ...found, canaries }));
  else for (const line of formatCanaries(canaries, out)) out.line(line);
  const passed = canaries.every(({ state }) => state === 'ok' || state === 'warning');
  return found.ready && passed ? ExitCode.Done : ExitCode.Failed;
}

async function send(
  client: ApiClient,
  { pigeonhole: { workspace, id } }: Readiness,
  sinks: readonly string[],
): Promise<readonly ReadyCheck[]> {
  if (sinks.length === 0) return [];
  return (await client.sendCanaries({ workspace, id: String(id) }, sinks)).canaries;
}

/** Returns the sinks among the checks. */
function sinksIn(checks: readonly ReadyCheck[]): string[] {
  return checks.flatMap(({ id }) => (id.startsWith('sink:') ? [id.slice('sink:'.length)] : []));
}

function questionFor(sinks: readonly string[]): string {
  const [what, back] = sinks.length === 1 ? ['', 'it'] : [' each', 'them'];
  return `Send a test item through ${sinks.join(', ')}${what}, and delete ${back} again?`;
}

const marks: Readonly<Record<ReadyCheck['state'], { readonly word: string; readonly style: Style }>> = {
  ok: { word: 'ok', style: 'green' },
  warning: { word: 'look', style: 'yellow' },
  failed: { word: 'FAILED', style: 'red' },
  unknown: { word: 'unknown', style: 'yellow' },
};

const markWidth = 9; // of the longest, and a gap

/** Formats each check with its remedy below it, and a summary at the end. Pure. */
export function formatReady(
  { pigeonhole, ready, checks }: Readiness,
  screen: Pick<Output, 'columns' | 'colours'>,
): string[] {
  const { workspace, id, name, status, startDate, endDate, timezone } = pigeonhole;
  const days =
    startDate === null ? [] : [endDate === null || endDate === startDate ? startDate : `${startDate} to ${endDate}`];
  const about = [`${workspace}/${id}`, status, ...days, timezone].filter((each) => each !== null).join(', ');
  const title = wrapText(name === null ? about : `${name} (${about})`, { columns: screen.columns, indent: 2 });
  return [
    ...title.map((line) => paint(line, 'bold', screen.colours)),
    ...checks.flatMap((check) => checkLines(check, screen)),
    paint(verdict(ready, checks), ready ? 'green' : 'red', screen.colours),
  ];
}

/** Formats the result of each canary, and a summary at the end. Pure. */
export function formatCanaries(canaries: readonly ReadyCheck[], screen: Pick<Output, 'columns' | 'colours'>): string[] {
  const bad = canaries.filter(({ state }) => state === 'failed' || state === 'unknown').length;
  const open = canaries.filter(({ state }) => state === 'warning').length;
  const says =
    canaries.length === 0
      ? 'no sink to send a canary to'
      : bad > 0
        ? `canaries: ${bad} of ${canaries.length} failed`
        : open > 0
          ? `canaries: none failed, ${open} to check`
          : 'canaries: all arrived and were deleted again';
  return [
    ...canaries.flatMap((check) => checkLines(check, screen)),
    paint(says, bad > 0 ? 'red' : 'green', screen.colours),
  ];
}

function checkLines(
  { label, state, says, todo }: ReadyCheck,
  { columns, colours }: Pick<Output, 'columns' | 'colours'>,
): string[] {
  const { word, style } = marks[state];
  const [first, ...more] = wrapText(`${label}: ${says}`, { columns, lead: word.padEnd(markWidth) });
  const help = todo === undefined ? [] : wrapText(todo, { columns, lead: `${' '.repeat(markWidth)}-> ` });
  return [`${paint(word, style, colours)}${first!.slice(word.length)}`, ...more, ...help];
}

function verdict(ready: boolean, checks: readonly ReadyCheck[]): string {
  const count = (state: ReadyCheck['state']): number => checks.filter((check) => check.state === state).length;
  const [failed, unknown, warnings] = [count('failed'), count('unknown'), count('warning')];
  if (!ready) {
    const parts = [
      ...(failed === 0 ? [] : [`${failed} to fix`]),
      ...(unknown === 0 ? [] : [`${unknown} could not be checked`]),
      ...(warnings === 0 ? [] : [`${warnings} to check`]),
    ];
    return `not ready: ${parts.join(', ')}`;
  }
  return warnings === 0 ? 'ready: every check passed' : `ready: no check failed, ${counted(warnings, 'warning')}`;
}
