import { counted } from '../../base/words.js';
import { type CliCommand, type Context, type JsonOption, parsePigeonhole } from '../command.js';
import type { Readiness, ReadyCheck } from '../../operations/ready/readiness.js';
import { type Output, printResult } from '../output.js';
import { ExitCode } from '../exit-code.js';
import { clientOf } from '../api-client.js';
import { paint, type Style, wrapText } from '../text-line.js';

export function addReady(program: CliCommand): void {
  program
    .command('ready <pigeonhole>')
    .description('Check whether pigeonpost is ready for an event')
    .json()
    .examples('ready 101', 'ready acme/101 --json')
    .runs(ready);
}

/**
 * `pigeonpost ready <pigeonhole>`: checks whether pigeonpost is ready for an event. Exit 0 if every check passed, 1 if
 * one failed or could not be made, 3 if no pigeonpost runs, 4 for an unknown pigeonhole.
 */
async function ready(context: Context, pigeonhole: string, { json }: JsonOption): Promise<ExitCode> {
  const client = await clientOf(context);
  const { id, workspace } = await parsePigeonhole(pigeonhole);
  const found = await client.get('/api/pigeonholes/{id}/ready', { params: { id }, query: { workspace } });
  printResult(context.out, json, found, formatReady(found, context.out));
  return found.ready ? ExitCode.Done : ExitCode.Failed;
}

const marks: Readonly<Record<ReadyCheck['state'], { readonly word: string; readonly style: Style }>> = {
  ok: { word: 'OK', style: 'green' },
  warning: { word: 'warning', style: 'yellow' },
  failed: { word: 'not ready', style: 'red' },
  unknown: { word: 'unknown', style: 'yellow' },
};

const markWidth = 11; // of the longest, and a gap

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
