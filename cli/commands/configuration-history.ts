import type { DiffLine } from '../../base/line-diff.js';
import { counted, formatInstant } from '../../base/words.js';
import type {
  ConfigurationComparison,
  ConfigurationHistory,
  EditionView,
} from '../../operations/configurations/history.js';
import { clientOf } from '../api-client.js';
import { type CliCommand, confirm, type Context, type JsonOption, wholeNumber } from '../command.js';
import { ExitCode } from '../exit-code.js';
import { printResult } from '../output.js';
import { paint, shownInLine } from '../text-line.js';

const numberOf = wholeNumber(2_147_483_647, 1);

/** Adds the commands that show earlier configurations to `config`. */
export function addConfigHistory(config: CliCommand): void {
  config
    .command('history')
    .description('Show the configurations that were current, with author, time and changes')
    .option('--limit <n>', 'number of configurations', wholeNumber(100), 20)
    .json()
    .examples('config history')
    .runs(history);
  config
    .command('compare')
    .argument('<from>', 'number of a configuration', numberOf)
    .argument('[to]', 'number of the other one', numberOf)
    .description('Show the lines in which two configurations differ; without the second, compare with the file')
    .json()
    .examples('config compare 3 5', 'config compare 5')
    .runs((context, from: number, to: number | undefined, options: JsonOption) =>
      compare(context, { from, to: to ?? 'file' }, options),
    );
  config
    .command('undo')
    .argument('<number>', 'number of a configuration', numberOf)
    .description('Write an earlier configuration into the file, and apply it as a new one')
    .option('--yes', 'skip the confirmation', false)
    .json()
    .examples('config undo 3')
    .runs(undo);
}

/** `pigeonpost config history`: lists the configurations that were current, newest first. Exit 0. */
async function history(context: Context, { limit, json }: JsonOption & { readonly limit: number }): Promise<ExitCode> {
  const found = await (await clientOf(context)).get('/api/configurations', { query: { limit } });
  return printResult(context.out, json, found, historyLines(found));
}

/** Formats the history. Pure. */
export function historyLines({ items, file }: ConfigurationHistory): string[] {
  return [
    ...items.map(editionLine),
    ...(file.problem === null ? [] : [`the file cannot be used: ${file.problem}`]),
    ...(file.problem === null && file.differs
      ? [`${file.path} has changes that were not applied: see "pigeonpost config plan"`]
      : []),
  ];
}

function editionLine({ number, appliedAt, by, isCurrent, changes }: EditionView): string {
  const shown = changes.slice(0, 4).map(({ kind, what, name }) => `${kind} ${what} ${name}`);
  const more = changes.length > shown.length ? [`and ${counted(changes.length - shown.length, 'more change')}`] : [];
  return [
    `${number}${isCurrent ? ' (current)' : ''}`,
    formatInstant(appliedAt),
    by === null ? 'at a start' : `by ${by}`,
    [...shown, ...more].join(', '),
  ].join('  ');
}

/** `pigeonpost config compare FROM [TO]`: shows the lines that differ. Exit 0, 4 if there is no such configuration. */
async function compare(
  context: Context,
  query: { readonly from: number; readonly to: number | 'file' },
  { json }: JsonOption,
): Promise<ExitCode> {
  const found = await (await clientOf(context)).get('/api/configurations/compare', { query });
  return printResult(context.out, json, found, comparisonLines(found, context.out.colours));
}

const marks: Readonly<Record<DiffLine['kind'], string>> = { same: '  ', added: '+ ', removed: '- ', skipped: '  … ' };

/** Formats a comparison. Pure. */
export function comparisonLines({ changes, lines }: ConfigurationComparison, colours: boolean): string[] {
  if (lines === null) {
    return [
      ...changes.flatMap(({ kind, what, name, keys }) => [
        `${kind}: ${what} ${name}`,
        ...keys.map((key) => `  ${key}`),
      ]),
      'the lines cannot be shown, because one of the files was not kept',
    ];
  }
  if (lines.length === 0) return ['the files are equal'];
  return lines.map(({ kind, text }) => {
    const style = kind === 'added' ? 'green' : kind === 'removed' ? 'red' : undefined;
    return paint(`${marks[kind]}${shownInLine(text)}`, style, colours);
  });
}

interface UndoOptions extends JsonOption {
  readonly yes: boolean;
}

/**
 * `pigeonpost config undo NUMBER`: makes an earlier configuration current again, as a new one. Exit 0, 1 if the operator
 * declines or it is not possible.
 */
async function undo(context: Context, number: number, { yes, json }: UndoOptions): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  if (!yes) {
    const found = await client.get('/api/configurations', { query: { limit: 1 } });
    const query = { from: found.current, to: number };
    const compared = await client.get('/api/configurations/compare', { query });
    for (const line of comparisonLines(compared, false)) out.note(line);
    const question = `Write configuration ${number} into ${found.file.path}, and apply it?`;
    if (!(await confirm(out, question, 'nothing was changed'))) return ExitCode.Failed;
  }
  const applied = await client.post('/api/configurations/{number}/restore', { params: { number }, json: {} });
  return printResult(out, json, applied, `configuration ${applied.number} is current, with the file of ${number}`);
}
