import { formatSpan, grouped } from '../../base/words.js';
import {
  coverageText,
  differenceText,
  parityText,
  reasonsText,
  removalsText,
  summaryOf,
  verdictOf,
} from '../../operations/statement/statement-sentences.js';
import type { SignedStatement, Statement } from '../../operations/statement/statement.js';
import type { Output } from '../output.js';
import { paint, tableLines, wrapText } from '../text-line.js';

type Screen = Pick<Output, 'columns' | 'colours'>;

/** Formats the event of a statement and the result. Pure. */
export function formatSummary(
  { statement }: Pick<SignedStatement, 'statement'>,
  { columns, colours }: Screen,
): string[] {
  const { number, event, agrees } = statement;
  const days = [event.firstDay, event.lastDay].filter((day, n, all) => day !== null && all.indexOf(day) === n);
  const about = [`${event.workspace}/${event.id}`, ...(days.length === 0 ? [] : [days.join(' to ')])].join(', ');
  const title = event.name === null ? about : `${event.name} (${about})`;
  const line = (text: string): string[] => wrapText(text, { columns });
  return [
    ...line(`Closing statement ${number}: ${title}`).map((each) => paint(each, 'bold', colours)),
    ...line(`${agrees ? '✓' : '!'} ${verdictOf(statement)}`).map((each) =>
      paint(each, agrees ? 'green' : 'yellow', colours),
    ),
    ...line(summaryOf(statement)),
  ];
}

/** Formats a statement for a terminal: the result, what is open, the lists, the destinations, and the coverage of time. Pure. */
export function formatStatement(signed: SignedStatement, screen: Screen): string[] {
  const { statement, signature } = signed;
  const { columns, colours } = screen;
  const made = `made ${statement.completedAt.slice(0, 16).replace('T', ' ')} UTC, signed with key ${signature.key}`;
  return [
    ...formatSummary(signed, screen),
    ...openLines(statement, screen),
    ...sourceLines(statement, screen),
    ...destinationLines(statement, screen),
    '',
    ...wrapText(coverageText(statement), { columns }),
    ...interruptionLines(statement),
    '',
    ...wrapText(made, { columns }).map((each) => paint(each, 'dim', colours)),
  ];
}

function openLines({ open }: Statement, { columns, colours }: Screen): string[] {
  if (open.length === 0) return [];
  return [
    '',
    paint('open', 'bold', colours),
    ...open.flatMap(({ where, text, items, todo }) => [
      ...wrapText(`${where}: ${items === null ? '' : `${grouped(items)} `}${text}`, { columns, lead: '  ', indent: 4 }),
      ...wrapText(todo, { columns, lead: '    -> ' }),
    ]),
  ];
}

/** Formats a table with the notes of its rows below them. Tables that do not fit lose their empty columns, never a number. */
function table(
  head: readonly string[],
  rows: readonly { readonly cells: readonly string[]; readonly note: string }[],
  { columns, colours }: Screen,
): string[] {
  const filled = head.map((_, n) => n <= 2 || rows.some(({ cells }) => cells[n] !== '0'));
  const kept = <T>(cells: readonly T[]): T[] => cells.filter((_, n) => filled[n]);
  const numbers = kept(head)
    .map((_, n) => n)
    .slice(1);
  const [title, ...lines] = tableLines([kept(head), ...rows.map(({ cells }) => kept(cells))], numbers);
  return [
    paint(title!, 'dim', colours),
    ...rows.flatMap(({ note }, n) => [
      lines[n]!,
      ...(note === '' ? [] : wrapText(note, { columns, lead: '    ' }).map((each) => paint(each, 'dim', colours))),
    ]),
  ];
}

function sourceLines({ source }: Statement, screen: Screen): string[] {
  const rows = source.lists.map((list) => ({
    cells: [list.label, grouped(list.shown), grouped(list.held)],
    note: differenceText(list) || (list.readFrom === null ? 'not read again' : ''),
  }));
  const sum = { cells: ['Sum', grouped(source.shown), grouped(source.held)], note: '' };
  return ['', ...table(['list', 'event service', 'pigeonpost'], [...rows, sum], screen)];
}

function destinationLines({ destinations, requestedAt }: Statement, screen: Screen): string[] {
  return destinations.flatMap((destination) => {
    const { name, type, state, lists } = destination;
    const rows = lists.map((list) => {
      const { label, items, delivered, withheld, refused, waiting, unsent } = list;
      const numbers = [items, delivered, withheld, refused, waiting, unsent];
      return { cells: [label, ...numbers.map(grouped)], note: reasonsText(list) };
    });
    const notes = [
      removalsText(destination),
      parityText(destination, (iso) => `${iso.slice(0, 16).replace('T', ' ')} UTC`, requestedAt),
    ].filter((note) => note !== null);
    const head = ['list', 'items', 'delivered', 'withheld', 'refused', 'waiting', 'other'];
    return [
      '',
      paint(`${name} (${type})${state === 'working' ? '' : `, ${state}`}`, 'bold', screen.colours),
      ...table(head, rows, screen),
      ...notes.flatMap((note) => wrapText(note, { columns: screen.columns })),
    ];
  });
}

const maxInterruptions = 10;

function interruptionLines({ coverage: { interruptions } }: Statement): string[] {
  const lines = interruptions.slice(-maxInterruptions).map(({ since, until, seconds, text }) => {
    const end = until === null ? 'now' : until.slice(11, 16);
    return `  ${since.slice(0, 16).replace('T', ' ')} to ${end} UTC (${formatSpan(seconds)})  ${text}`;
  });
  const more = interruptions.length - lines.length;
  return more > 0 ? [`  ${grouped(more)} earlier ones`, ...lines] : lines;
}
