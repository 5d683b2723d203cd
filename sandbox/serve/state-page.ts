import { escapeHtml, livePage } from './live-page.js';

/** One type of record in a double. Its columns are the fields of all rows, in order of first appearance. */
export interface StateTable {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

interface StatePage {
  readonly title: string;
  /** One sentence that tells a newcomer what the page shows. */
  readonly note: string;
  /** Colour of the bar at the top, as CSS. */
  readonly barColor: string;
  readonly tables: readonly StateTable[];
}

/** Maximum number of rows shown per table; the newest are shown. */
const MAX_ROWS = 200;

/** Renders the state of a double as a page for newcomers: newest records first, updated live. */
export function statePage({ title, note, barColor, tables }: StatePage): string {
  return livePage({ title, note, barColor, main: tables.map(tableHtml).join('\n'), style: STYLE });
}

function tableHtml({ title, rows }: StateTable): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const newest = rows.slice(-MAX_ROWS).toReversed();
  const shown = rows.length > MAX_ROWS ? `, the newest ${MAX_ROWS} shown` : '';
  const heading = `<h2>${escapeHtml(wordsOf(title))} <small>${rows.length}${shown}</small></h2>`;
  if (rows.length === 0) return `<section>${heading}<p class="empty">Nothing was written yet.</p></section>`;
  return `<section>${heading}
<div class="wide"><table><thead><tr>${columns.map((column) => `<th>${escapeHtml(column)}</th>`).join('')}</tr></thead>
<tbody>${newest.map((row) => `<tr>${columns.map((column) => `<td>${cell(row[column])}</td>`).join('')}</tr>`).join('\n')}</tbody></table></div></section>`;
}

/** Converts a name for display: `marketingEvents` becomes "marketing events". */
function wordsOf(title: string): string {
  return title.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Instants are shown to the second, with full precision in the title.
  const instant = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(\.\d+)?Z$/.exec(text);
  if (instant !== null) return `<time title="${text}">${instant[1]} ${instant[2]}</time>`;
  return escapeHtml(text);
}

const STYLE = `
.wide { overflow-x: auto; }
.wide table { width: max-content; }
th { white-space: nowrap; color: var(--dim); font-weight: 600; }
td { max-width: 24rem; overflow-wrap: break-word; }
tbody tr:hover { background: color-mix(in srgb, var(--line) 40%, transparent); }
time { white-space: nowrap; }
`;
