import { groupBy } from '../../base/grouping.js';
import type { CellKind } from '../../base/sheets/sheet.js';
import { type ListName, listNames } from '../../base/lists.js';
import { deadLetterColumns } from './dead-letter-sheet.js';
import { importProblemColumns, importRowColumns } from './import-sheet.js';
import { FieldNames, itemColumns } from './list-columns.js';

const marks: Readonly<Record<CellKind, string>> = { text: '', number: ' N', flag: ' B', moment: ' T', day: ' D' };

type Shown = readonly (readonly [name: string, kind: CellKind])[];

function inWords(columns: Shown): string {
  return columns.map(([name, kind]) => (name.startsWith('*') ? name : `\`${name}\`${marks[kind]}`)).join(', ');
}

const profile = ['*profile fields*', 'text'] as const;

/** Returns the columns of the data of a list, with the place of those that the documentation cannot name. */
function dataColumns(list: ListName): Shown {
  const fields = new FieldNames(list);
  const documented = fields.paths();
  fields.note([
    {
      key: '',
      sessionId: null,
      revision: 1,
      state: 'present',
      author: null,
      consent: null,
      lastChangedAt: new Date(0),
      data: { '*': '' },
      attendee: null,
    },
  ]);
  const at = fields.paths().findIndex(([path]) => path === '*');
  const isPeople = at < documented.length;
  const others = isPeople ? [profile] : [['*profile fields of the person, other fields*', 'text'] as const];
  const hasNobody = itemColumns(list).every(({ name }) => name !== 'item.consent');
  return [
    ...documented.slice(0, at),
    ...(hasNobody ? [['*other fields*', 'text'] as const] : others),
    ...documented.slice(at),
  ];
}

const pairs = (columns: readonly { readonly name: string; readonly kind: CellKind }[]): Shown =>
  columns.map(({ name, kind }) => [name, kind]);

/** Returns the tables of docs/export.md, as Markdown. A test compares them. */
export function columnsReference(): string {
  const lists = listNames.map((list) => `| \`${list}\` | ${inWords(dataColumns(list))} |`);
  const groups = groupBy(listNames, (list) => inWords(pairs(itemColumns(list))));
  const about = [...groups].map(
    ([columns, names]) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${columns} |`,
  );
  return [
    '| table | columns of the data |',
    '|---|---|',
    ...lists,
    '',
    '| table | columns about each item |',
    '|---|---|',
    ...about,
    '',
    '| table | columns |',
    '|---|---|',
    `| \`dead-letters\` | ${inWords(pairs(deadLetterColumns))} |`,
    `| \`import-rows\` | ${inWords([...pairs(importRowColumns), ...pairs(importProblemColumns), ['*fields of the rows*', 'text']])} |`,
  ].join('\n');
}
