import type { Command } from 'commander';
import { listNames } from '../../base/list-names.js';
import { exampleText, type Run, type Context } from '../command.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../api-client.js';
import { parseList } from '../parse-names.js';
import type { SeenField, SeenFields } from '../../api/fields.js';
import { counted, grouped } from '../../base/words.js';

export function addFields(program: Command, run: Run): void {
  program
    .command('fields <list>')
    .description('List the fields that stored items of a list have, by pigeonhole, to help you write mappings')
    .option('--pigeonhole <id>', 'only this pigeonhole: WORKSPACE/ID or ID')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('fields attendees', 'fields registrants --pigeonhole acme/101'))
    .action((list: string, options: Omit<FieldsOptions, 'list'>) =>
      run((context) => fields(context, { list, ...options })),
    );
}

interface FieldsOptions {
  readonly list: string;
  readonly pigeonhole?: string | undefined;
  readonly json: boolean;
}

/**
 * `pigeonpost fields <list>`: lists the fields of stored items by pigeonhole, the share of items with a value, and the
 * values of states and kinds, but no other values. Exit 0, 4 if no item of the list is stored.
 */
export async function fields(context: Context, { list, pigeonhole, json }: FieldsOptions): Promise<ExitCode> {
  const { out } = context;
  const named = await parseList(list, listNames);
  const place = pigeonhole?.replace(/^pigeonhole:/, '');
  if (place !== undefined && !/^(?:[a-z0-9-]+\/)?\d+$/.test(place)) {
    throw new CommandError(ExitCode.WrongUse, `--pigeonhole is "${pigeonhole}": give WORKSPACE/ID or ID`);
  }
  const found = await (await clientOf(context)).fields({ list: named, pigeonhole: place });
  if (json) out.line(JSON.stringify(found));
  if (found.pigeonholes.length === 0) {
    const where = place === undefined ? '' : ` of pigeonhole ${place}`;
    out.note(`no items of the list ${list}${where} are stored; "pigeonpost status" shows which lists have been read`);
    return ExitCode.NotFound;
  }
  if (!json) for (const line of found.pigeonholes.flatMap(formatFields)) out.line(line);
  return ExitCode.Done;
}

/**
 * Formats the fields of one pigeonhole as a table: name, share of items with a value, types, values of states. Pure.
 */
export function formatFields({ workspace, pigeonholeId, items, fields }: SeenFields): string[] {
  const place = pigeonholeId === 0 ? `workspace ${workspace}` : `pigeonhole ${workspace}/${pigeonholeId}`;
  const rows = fields.map((field) => [nameOf(field), shareOf(field.filled, items), kindsOf(field), valuesOf(field)]);
  const head = ['field', 'filled', 'kind', 'values'];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = ([name, filled, ...rest]: readonly string[]): string =>
    `  ${[name!.padEnd(widths[0]!), filled!.padStart(widths[1]!), rest[0]!.padEnd(widths[2]!), rest[1]!].join('  ')}`.trimEnd();
  return [`${place}: ${counted(items, 'item')}`, line(head), ...rows.map(line)];
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
