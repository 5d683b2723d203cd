import { isObject } from '../json.js';
import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { answerLrs, ENDPOINT, TOKEN_PATH } from './answer-lrs.js';
import {
  type Lrs,
  type LrsAccount,
  type LrsChoices,
  type Statement,
  StatementStore,
  voidedBy,
  type JsonObject,
} from './lrs.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import type { FaultEffect, NamedFaults } from '../serve/faults.js';
import type { DoubleAnswer } from '../serve/double-request.js';
import { escapeHtml, livePage } from '../serve/live-page.js';

export interface LrsDoubleOptions extends ServeOptions, Partial<LrsChoices> {
  /** By default, one account: `lrs-key` with `lrs-secret`. */
  readonly accounts?: readonly LrsAccount[];
}

export interface LrsDouble extends RunningDouble {
  /** The endpoint to configure a client with; the client appends `/statements`. */
  readonly endpoint: string;
  readonly store: StatementStore;
  /** Returns the same plain data as `GET /_double/state`. */
  state(): LrsState;
  revoke(username: string): void;
  /** Token endpoint for OAuth 2 client credentials. An account is the client id and secret. */
  readonly tokenUrl: string;
  expireTokens(): void;
}

interface LrsState {
  /** Oldest first, each with the id of the statement that voids it, or null. */
  readonly statements: readonly (Statement & { readonly voidedBy: string | null })[];
}

export const DEFAULT_ACCOUNT: LrsAccount = { username: 'lrs-key', password: 'lrs-secret' };

const common = ['authorization', 'x-experience-api-version'];
/** The allowed contents of requests. The LRS itself refuses unknown parameters and invalid statements. */
const rules: readonly RequestRule[] = [
  { method: 'GET', path: /\/about$/, headers: common },
  {
    method: 'GET',
    path: /\/statements$/,
    headers: common,
    query: ['statementId', 'voidedStatementId', 'since', 'limit'],
  },
  { method: 'POST', path: /\/statements$/, headers: common, json: anything },
  {
    method: 'POST',
    path: /\/oauth\/token$/,
    headers: ['authorization'],
    form: ['grant_type', 'client_id', 'client_secret', 'scope'],
  },
];

/** Starts an empty LRS on loopback. Its endpoint is `/xapi`. */
export async function startLrsDouble(options: LrsDoubleOptions = {}): Promise<LrsDouble> {
  const now = options.now ?? Date.now;
  const lrs: Lrs = {
    store: new StatementStore(now),
    accounts: [...(options.accounts ?? [DEFAULT_ACCOUNT])],
    tokens: new Map(),
    options: {
      versions: options.versions ?? ['2.0.0'],
      maxBytes: options.maxBytes ?? 1024 * 1024,
      repeats: options.repeats ?? 'accepted',
      comparison: options.comparison ?? 'exact',
      visibleAfterMs: options.visibleAfterMs ?? 0,
    },
    homePage: 'https://lrs.example.com',
    now,
  };
  const state = (): LrsState => ({
    statements: lrs.store.all.map((statement) => ({
      ...statement,
      voidedBy: lrs.store.voiderOf(statement.id) ?? null,
    })),
  });
  const running = await serveDouble(
    {
      answer: (request) => answerLrs(lrs, request),
      state,
      page: () => lrsPage(lrs.store),
      namedFaults: lrsFaults,
      rules,
    },
    options,
  );
  return {
    ...running,
    endpoint: `${running.url}${ENDPOINT}`,
    tokenUrl: `${running.url}${TOKEN_PATH}`,
    expireTokens: () => lrs.tokens.clear(),
    store: lrs.store,
    state,
    revoke(username) {
      const index = lrs.accounts.findIndex((account) => account.username === username);
      if (index === -1) throw new RangeError('no such account');
      lrs.accounts.splice(index, 1);
    },
  };
}

const ANSWERS: Readonly<Record<string, DoubleAnswer>> = {
  unauthorized: { status: 401, json: { message: 'these credentials are not known' } },
  forbidden: { status: 403, json: { message: 'not allowed' } },
  'too-large': { status: 413, json: { message: 'too large' } },
  'too-many': { status: 429, headers: { 'retry-after': '2' }, json: { message: 'too many requests' } },
  'server-error': { status: 500, json: { message: 'unexpected' } },
  'bad-gateway': { status: 502, text: 'bad gateway' },
  unavailable: { status: 503, headers: { 'retry-after': '2' }, text: 'unavailable' },
  timeout: { status: 504, text: 'gateway timeout' },
};

/** Each of these answers is a fault. With the suffix `-after`, it is sent after the statements are stored. */
export const lrsFaults: NamedFaults = Object.fromEntries(
  Object.entries(ANSWERS).flatMap(([name, answer]): [string, FaultEffect][] => [
    [name, { kind: 'answer', answer }],
    [`${name}-after`, { kind: 'answerAfter', answer }],
  ]),
);

/** Maximum number of statements shown; the newest are shown. */
const MAX_SHOWN = 300;

/** Renders the statements as sentences, newest first. Voided statements are struck through. */
function lrsPage(store: StatementStore): string {
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
