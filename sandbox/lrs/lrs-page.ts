import { escapeHtml, livePage } from '../serve/live-page.js';
import { isObject, voidedBy, type JsonObject, type Statement, type StatementStore } from './statement-store.js';

/** Maximum number of statements shown; the newest are shown. */
const MAX_SHOWN = 300;

/** Renders the statements as sentences, newest first. Voided statements are struck through. */
export function lrsPage(store: StatementStore): string {
  const { all } = store;
  const voided = all.filter(({ id }) => store.voiderOf(id) !== undefined).length;
  const rows = all
    .slice(-MAX_SHOWN)
    .toReversed()
    .map((statement) => rowHtml(store, statement));
  return livePage({
    title: 'Learning record store',
    note: 'a stand-in for an LRS: activities and achievements as xAPI statements',
    barColor: '#0b5d52',
    main: `<p class="count">${all.length} statements, ${voided} voided${all.length > MAX_SHOWN ? `, the newest ${MAX_SHOWN} shown` : ''}</p>
${rows.length === 0 ? '<p class="empty">No statement was stored yet.</p>' : `<table>${HEAD}${rows.join('\n')}</table>`}`,
    style: STYLE,
  });
}

const HEAD = '<tr><th>stored</th><th>actor</th><th>verb</th><th>object</th><th>result</th></tr>';

function rowHtml(store: StatementStore, statement: Statement): string {
  const target = voidedBy(statement);
  const kind = target !== undefined ? 'voiding' : store.voiderOf(statement.id) === undefined ? '' : 'voided';
  const cells = [actorOf(statement.actor), verbOf(statement.verb), objectOf(statement.object), resultOf(statement)];
  return `<tr class="${kind}" title="${escapeHtml(statement.id)}"><td><time>${statement.stored.slice(11, 19)}</time></td>${cells
    .map((cell) => `<td>${escapeHtml(cell)}</td>`)
    .join('')}</tr>`;
}

function actorOf({ name, account, mbox }: JsonObject): string {
  if (typeof name === 'string') return name;
  if (isObject(account)) return String(account['name']);
  return typeof mbox === 'string' ? mbox.replace('mailto:', '') : 'someone';
}

function verbOf(verb: JsonObject): string {
  return inAnyLanguage(verb['display']) ?? String(verb['id']).replace(/^.*\//, '');
}

function objectOf(object: JsonObject): string {
  if (object['objectType'] === 'StatementRef') return `statement ${String(object['id']).slice(0, 8)}…`;
  const definition = isObject(object['definition']) ? object['definition'] : {};
  return inAnyLanguage(definition['name']) ?? inAnyLanguage(definition['description']) ?? String(object['id']);
}

function resultOf(statement: Statement): string {
  const result = isObject(statement['result']) ? statement['result'] : {};
  const { response, score, success, completion, duration } = result;
  const scaled = isObject(score) ? Object.entries(score).map(([name, value]) => `${name} ${String(value)}`) : [];
  return [
    ...(typeof response === 'string' ? [response] : []),
    ...scaled,
    ...(success === undefined ? [] : [success === true ? 'success' : 'no success']),
    ...(completion === true ? ['completed'] : []),
    ...(typeof duration === 'string' ? [duration] : []),
  ].join(', ');
}

function inAnyLanguage(map: unknown): string | undefined {
  const first = isObject(map) ? Object.values(map)[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

const STYLE = `
table { width: 100%; font-size: .9rem; }
td { overflow-wrap: anywhere; }
td:nth-child(3) { font-weight: 600; white-space: nowrap; }
.voided td { text-decoration: line-through; color: var(--dim); }
.voiding td { color: var(--dim); font-weight: 400; }
`;
