import { type Figure, type Limit, type Verdict, verdictOf } from './figure.js';

const marks: Readonly<Record<Verdict, string>> = {
  aim: '✔ aim',
  must: '✔ must',
  missed: '✘ missed',
  'no target': '',
};

/** The figures as one table in Markdown, so that it can be pasted into docs/performance.md. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = [
    ['bench', 'figure', 'median', 'must', 'aim', ''],
    ...figures.map((figure) => [
      figure.bench,
      figure.what,
      numberText(figure.value, figure.unit),
      limitText(figure.must, figure.unit),
      limitText(figure.aim, figure.unit),
      marks[verdictOf(figure)],
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`);
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function limitText(limit: Limit | undefined, unit: string): string {
  if (limit === undefined) return '';
  return 'atLeast' in limit ? `≥ ${numberText(limit.atLeast, unit)}` : `≤ ${numberText(limit.atMost, unit)}`;
}

function numberText(value: number, unit: string): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 2;
  const text = value.toLocaleString('en', { minimumFractionDigits: 0, maximumFractionDigits: digits });
  return unit === '' ? text : `${text} ${unit}`;
}
