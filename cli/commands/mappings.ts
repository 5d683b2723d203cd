import { codeOf } from '../../base/errors.js';
import { listNames } from '../../base/lists.js';
import { type CliCommand, type Context, type JsonOption, wholeNumber, parseList, parseItem } from '../command.js';
import { ExitCode, wrongUse, CommandError } from '../exit-code.js';
import { clientOf, instanceOf } from '../api-client.js';
import { printResult } from '../output.js';
import type { SeenField, SeenFields } from '../../api/items.js';
import { tableLines } from '../text-line.js';
import { counted, grouped } from '../../base/words.js';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Candidate } from '../../operations/configuration-plan.js';
import type { Preview, PreviewedCall, PreviewedItem, PreviewedOperation } from '../../operations/preview-sink.js';
import { plannedWords, reasonWords } from '../../sinks/reason-words.js';

export function addFields(program: CliCommand): void {
  program
    .command('fields <list>')
    .description('List the fields that stored items of a list have, by pigeonhole, to help you write mappings')
    .option('--pigeonhole <id>', 'only this pigeonhole: WORKSPACE/ID or ID')
    .json()
    .examples('fields attendees', 'fields registrants --pigeonhole acme/101')
    .runs(fields);
}

/**
 * `pigeonpost fields <list>`: lists the fields of stored items by pigeonhole, the share of items with a value, and the
 * values of states and kinds, but no other values. Exit 0, 4 if no item of the list is stored.
 */
export async function fields(
  context: Context,
  list: string,
  { pigeonhole, json }: JsonOption & { readonly pigeonhole?: string },
): Promise<ExitCode> {
  const { out } = context;
  const named = await parseList(list, listNames);
  const place = pigeonhole?.replace(/^pigeonhole:/, '');
  if (place !== undefined && !/^(?:[a-z0-9-]+\/)?\d+$/.test(place)) {
    throw wrongUse(`--pigeonhole is "${pigeonhole}": give WORKSPACE/ID or ID`);
  }
  const found = await (await clientOf(context)).get('/api/fields', { query: { list: named, pigeonhole: place } });
  printResult(out, json, found, found.pigeonholes.flatMap(formatFields));
  if (found.pigeonholes.length === 0) {
    const where = place === undefined ? '' : ` of pigeonhole ${place}`;
    out.note(`no items of the list ${list}${where} are stored; "pigeonpost status" shows which lists have been read`);
    return ExitCode.NotFound;
  }
  return ExitCode.Done;
}

/**
 * Formats the fields of one pigeonhole as a table: name, share of items with a value, types, values of states. Pure.
 */
export function formatFields({ workspace, pigeonholeId, items, fields }: SeenFields): string[] {
  const place = pigeonholeId === 0 ? `workspace ${workspace}` : `pigeonhole ${workspace}/${pigeonholeId}`;
  const rows = fields.map((field) => [nameOf(field), shareOf(field.filled, items), kindsOf(field), valuesOf(field)]);
  const table = tableLines([['field', 'filled', 'kind', 'values'], ...rows], [1]);
  return [`${place}: ${counted(items, 'item')}`, ...table.map((line) => `  ${line}`)];
}

/** Returns a field as an expression names it: in backquotes if it has special characters. */
function nameOf({ field, member }: SeenField): string {
  return [field, ...(member === null ? [] : [member])]
    .map((name) => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `\`${printable(name)}\``))
    .join('.');
}

/** Replaces control characters: field names come from the service and could control the terminal. */
function printable(name: string): string {
  return name.replaceAll(/\p{C}/gu, '\ufffd');
}

/** Formats a share in per cent. "100 %" and "0 %" appear only if they are exact. */
function shareOf(filled: number, items: number): string {
  if (filled === 0) return '0 %';
  if (filled === items) return '100 %';
  return `${Math.min(99, Math.max(1, Math.round((filled / items) * 100)))} %`;
}

const kindNames: Readonly<Record<string, string>> = { string: 'text', boolean: 'true/false', array: 'list' };

/** Returns the types, the most frequent first, without null. */
function kindsOf({ types }: SeenField): string {
  return Object.entries(types)
    .filter(([type]) => type !== 'null')
    .toSorted(([, one], [, other]) => other - one)
    .map(([type]) => kindNames[type] ?? type)
    .join(', ');
}

function valuesOf({ values }: SeenField): string {
  return Object.entries(values ?? {})
    .toSorted(([, one], [, other]) => other - one)
    .map(([value, items]) => `${printable(value)} (${grouped(items)})`)
    .join(', ');
}

export function addPreview(program: CliCommand): void {
  program
    .command('preview')
    .description('Show the calls that this configuration would make for stored items, without making them')
    .requiredOption('--sink <name>', 'sink to plan for')
    .option('--list <list>', 'only this list')
    .option('--item <list:key>', 'only this item')
    .option('--pigeonhole <workspace/id>', 'only this pigeonhole')
    .option('--limit <n>', 'number of items, newest first', wholeNumber(1000), 20)
    .option('--changed-from <file>', 'only items for which this other pigeonpost.yaml would send something different')
    .json()
    .examples('preview --sink crm --list attendees --limit 5 --changed-from old.yaml')
    .runs(preview);
}

interface PreviewOptions extends JsonOption {
  readonly sink: string;
  readonly list?: string | undefined;
  /** `list:key` of one item. */
  readonly item?: string | undefined;
  readonly pigeonhole?: string | undefined;
  readonly limit: number;
  /** Path of another pigeonpost.yaml. */
  readonly changedFrom?: string | undefined;
}

/**
 * `pigeonpost preview --sink NAME`: shows the operations that the file at `--config` would send for stored items,
 * including personal data, and notes fields that the sink's mapping reads but no stored item has. Sends nothing. Exit
 * 0, 4 if the sink or the item is unknown, 5 if a mapping fails.
 */
export async function preview(context: Context, options: PreviewOptions): Promise<ExitCode> {
  const { shownWord } = await import('../../operations/command-input.js');
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
  const shown = await client.post('/api/preview', { query: { personal: '1' }, json: asked });
  if (item !== null && shown.items.length === 0 && options.changedFrom === undefined) {
    const name = `${item.list}:${shownWord(item.key)}`;
    throw new CommandError(
      ExitCode.NotFound,
      `sink ${shownWord(sink)} would not receive ${name}, or it is not stored: "pigeonpost why" explains it`,
    );
  }
  printResult(context.out, options.json, shown, previewLines(shown, options.changedFrom !== undefined));
  return shown.items.some(({ now }) => now.kind === 'fail') ? ExitCode.DoneWithRejects : ExitCode.Done;
}

async function candidateAt(file: string): Promise<Candidate> {
  try {
    return { file, text: await readFile(file, 'utf8') };
  } catch (error) {
    throw wrongUse(`${file} cannot be read (${codeOf(error)}): check the path`);
  }
}

/** Formats a preview. Pure. @param compares whether it shows only differences between two files */
export function previewLines({ items, more, counts, problems, notes }: Preview, compares: boolean): string[] {
  return [
    ...items.flatMap(itemLines),
    ...(items.length === 0 ? [compares ? 'both files send the same' : 'no stored items to send'] : []),
    ...(more ? ['there are more: raise --limit to show them'] : []),
    ...(counts.length === 0 ? [] : ['', 'of all stored items:']),
    ...counts.map((count) => `  ${count.list}: ${plannedWords(count)}`),
    ...problems.map((problem) => `PROBLEM ${problem}`),
    ...notes.map((note) => `note    ${note}`),
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
      return operation.calls.flatMap(callLines).map((line) => `${indent}${line}`);
  }
}

function callLines({ method, address, body }: PreviewedCall): string[] {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  return [`${method} ${address}`, ...(body === null ? [] : text.split('\n').map((line) => `  ${line}`))];
}
