import type { Command } from 'commander';
import { listNames } from '../../base/list-names.js';
import { exampleText, wholeNumber, type Run, type Context } from '../command.js';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Candidate } from '../../operations/configuration-plan.js';
import type { Preview, PreviewedItem, PreviewedOperation } from '../../operations/preview-sink.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { instanceOf } from '../api-client.js';
import { plannedWords, reasonWords } from '../../base/delivery-words.js';
import { parseItem, parseList } from '../parse-names.js';
import { whileWaiting } from '../output.js';

export function addPreview(program: Command, run: Run): void {
  program
    .command('preview')
    .description('Show the operations that this configuration would send for stored items, without sending them')
    .requiredOption('--sink <name>', 'sink to plan for')
    .option('--list <list>', 'only this list')
    .option('--item <list:key>', 'only this item')
    .option('--pigeonhole <workspace/id>', 'only this pigeonhole')
    .option('--limit <n>', 'number of items, newest first', wholeNumber(1000), 20)
    .option('--changed-from <file>', 'only items for which this other pigeonpost.yaml would send something different')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('preview --sink crm --list attendees --limit 5 --changed-from old.yaml'))
    .action((options: PreviewOptions) => run((context) => preview(context, options)));
}

export interface PreviewOptions {
  readonly sink: string;
  readonly list?: string | undefined;
  /** `list:key` of one item. */
  readonly item?: string | undefined;
  readonly pigeonhole?: string | undefined;
  readonly limit: number;
  /** Path of another pigeonpost.yaml. */
  readonly changedFrom?: string | undefined;
  readonly json: boolean;
}

/**
 * `pigeonpost preview --sink NAME`: shows the operations that the file at `--config` would send for stored items,
 * including personal data, and notes fields that the sink's mapping reads but no stored item has. Sends nothing. Exit
 * 0, 4 if the sink or the item is unknown, 5 if a mapping fails.
 */
export async function preview(context: Context, options: PreviewOptions): Promise<ExitCode> {
  const { shownWord } = await import('../../operations/command-input.js');
  const { out } = context;
  const { config, client } = await instanceOf(context);
  const item = options.item === undefined ? null : await parseItem(options.item);
  const sink = options.sink.replace(/^sink:/, '');
  const asked = {
    sink,
    list: item?.list ?? (options.list === undefined ? null : await parseList(options.list, listNames)),
    key: item?.key ?? null,
    pigeonhole: options.pigeonhole?.replace(/^pigeonhole:/, '') ?? null,
    limit: options.limit,
    configuration: config === undefined ? {} : await candidateAt(config.file),
    changedFrom: options.changedFrom === undefined ? null : await candidateAt(resolve(options.changedFrom)),
  };
  const shown = await whileWaiting('planning the operations', () => client.preview(asked, { personal: true }));
  if (item !== null && shown.items.length === 0 && options.changedFrom === undefined) {
    const name = `${item.list}:${shownWord(item.key)}`;
    throw new CommandError(
      ExitCode.NotFound,
      `sink ${shownWord(sink)} would not receive ${name}, or it is not stored: "pigeonpost why" explains it`,
    );
  }
  if (options.json) out.line(JSON.stringify(shown));
  else {
    for (const line of lines(shown, options.changedFrom !== undefined)) out.line(line);
    for (const problem of shown.problems) out.line(`PROBLEM ${problem}`);
    for (const note of shown.notes) out.line(`note    ${note}`);
  }
  return shown.items.some(({ now }) => now.kind === 'fail') ? ExitCode.DoneWithRejects : ExitCode.Done;
}

async function candidateAt(file: string): Promise<Candidate> {
  try {
    return { file, text: await readFile(file, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(ExitCode.WrongUse, `${file} cannot be read (${code ?? 'unknown'}): check the path`);
  }
}

function lines({ items, more, counts }: Preview, compares: boolean): string[] {
  return [
    ...items.flatMap(itemLines),
    ...(items.length === 0 ? [compares ? 'both files send the same' : 'no stored items to send'] : []),
    ...(more ? ['there are more: raise --limit to show them'] : []),
    ...(counts.length === 0 ? [] : ['', 'of all stored items:']),
    ...counts.map((count) => `  ${count.list}: ${plannedWords(count)}`),
  ];
}

function itemLines({ workspace, pigeonholeId, list, key, revision, now, before }: PreviewedItem): string[] {
  const head = `${list}:${key}  pigeonhole ${workspace}/${pigeonholeId}, revision ${revision}`;
  if (before === undefined) return [head, ...operationLines(now, '  ')];
  return [head, ...operationLines(before, '- '), ...operationLines(now, '+ ')];
}

function operationLines(operation: PreviewedOperation, indent: string): string[] {
  switch (operation.kind) {
    case 'withhold':
      return [`${indent}withheld: ${reasonWords(operation.reason)}`];
    case 'fail':
      return [`${indent}dead letter: ${operation.detail}`];
    case 'send':
      return JSON.stringify(operation.operation, null, 2)
        .split('\n')
        .map((line) => `${indent}${line}`);
  }
}
