interface LivePage {
  readonly title: string;
  /** One sentence beside the title that explains the page. */
  readonly note: string;
  /** Colour of the bar at the top, as CSS. */
  readonly barColor: string;
  /** HTML. The caller must escape texts. */
  readonly main: string;
  /** CSS rules for the contents of `main`; `--ink`, `--dim`, `--page`, `--line`, `--link` and `--warn` fit light and dark. */
  readonly style: string;
}

/** Renders a complete page that reloads itself every second and depends on no external resource or library. */
export function livePage({ title, note, barColor, main, style }: LivePage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${BASE_STYLE} header { background: ${barColor}; } ${style}</style>
</head>
<body>
<header><b>${escapeHtml(title)}</b> ${escapeHtml(note)}</header>
<main>
${main}
</main>
<script>${REFRESH}</script>
</body>
</html>
`;
}

/** Replaces only the contents of `main`, and not while the user has text selected. */
const REFRESH = `
setInterval(async () => {
  const next = await fetch(location.href).then((answer) => answer.text(), () => undefined);
  if (next === undefined || !getSelection().isCollapsed) return;
  const main = new DOMParser().parseFromString(next, 'text/html').querySelector('main');
  if (main.innerHTML !== document.querySelector('main').innerHTML) document.querySelector('main').replaceWith(main);
}, 1000);
`;

const BASE_STYLE = `
:root { color-scheme: light dark; --ink: #1d1c1d; --dim: #616061; --page: #fff; --line: #e4e2e6; --link: #1264a3; --warn: #fbe9b7; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #d9d8da; --dim: #9b9a9d; --page: #1a1d21; --line: #35383c; --link: #6cb4ee; --warn: #5c4813; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.46 system-ui, sans-serif; color: var(--ink); background: var(--page); }
header { padding: .7rem 1.2rem; color: #fff; }
main { padding: 0 1.2rem 3rem; }
h2 { font-size: 1.05rem; margin: 1rem 0 0; }
small, time, .count, .empty { color: var(--dim); font-size: .8rem; font-weight: 400; }
table { border-collapse: collapse; font-size: .85rem; margin-top: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .15rem 1rem .15rem 0; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
`;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

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
