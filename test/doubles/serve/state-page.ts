/** One kind of thing that a double holds: its columns are all the fields that any row has, in the order seen. */
export interface StateTable {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

const MAX_ROWS = 200;

/** A page that a newcomer can read: what the double holds, newest first, refreshed every two seconds. */
export function statePage(title: string, note: string, tables: readonly StateTable[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="2">
<title>${escapeHtml(title)}</title>
<style>
  body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff; }
  table { border-collapse: collapse; margin-bottom: 2rem; }
  th, td { text-align: left; vertical-align: top; padding: .3rem .8rem; border-bottom: 1px solid #ddd; }
  td { max-width: 28rem; overflow-wrap: anywhere; }
  caption { text-align: left; font-weight: 600; padding: .5rem 0; }
</style>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(note)}</p>
${tables.map(tableHtml).join('\n')}
</html>
`;
}

function tableHtml({ title, rows }: StateTable): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const newest = rows.slice(-MAX_ROWS).toReversed();
  const shown = rows.length > MAX_ROWS ? `, the newest ${MAX_ROWS} shown` : '';
  return `<table>
<caption>${escapeHtml(title)} (${rows.length}${shown})</caption>
<tr>${columns.map((column) => `<th>${escapeHtml(column)}</th>`).join('')}</tr>
${newest.map((row) => `<tr>${columns.map((column) => `<td>${cell(row[column])}</td>`).join('')}</tr>`).join('\n')}
</table>`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return escapeHtml(typeof value === 'string' ? value : JSON.stringify(value));
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
