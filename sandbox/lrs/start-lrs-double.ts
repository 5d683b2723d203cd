import { CallLimit, rollingWindow } from '../serve/call-limit.js';
import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { answerLrs, ENDPOINT, TOKEN_PATH } from './answer-lrs.js';
import { lrsPage } from './lrs-page.js';
import type { Lrs, LrsAccount, LrsChoices } from './lrs.js';
import { type Statement, StatementStore } from './statement-store.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import type { FaultEffect } from '../serve/faults.js';
import type { DoubleAnswer } from '../serve/double-request.js';

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
  /** Makes the LRS refuse the account's credentials from now on. */
  revoke(username: string): void;
  /** Token endpoint for OAuth 2 client credentials. An account is the client id and secret. */
  readonly tokenUrl: string;
  /** Makes the LRS refuse all tokens issued so far. */
  expireTokens(): void;
}

interface LrsState {
  /** Oldest first, each with the id of the statement that voids it, or null. */
  readonly statements: readonly (Statement & { readonly voidedBy: string | null })[];
  /** The number of requests refused by the rate limit. */
  readonly violations: number;
}

export const DEFAULT_ACCOUNT: LrsAccount = { username: 'lrs-key', password: 'lrs-secret' };

const common = ['authorization', 'x-experience-api-version'];
/** The allowed contents of requests. The LRS itself refuses unknown parameters and invalid statements. */
const rules: readonly RequestRule[] = [
  { method: 'GET', path: /\/about$/, headers: common },
  { method: 'GET', path: /\/statements$/, headers: common, query: [/./] },
  { method: 'POST', path: /\/statements$/, headers: common, json: anything },
  { method: 'PUT', path: /\/statements$/, headers: common, query: ['statementId'], json: anything },
  {
    method: 'POST',
    path: /\/oauth\/token$/,
    headers: ['authorization'],
    form: ['grant_type', 'client_id', 'client_secret', 'scope'],
  },
];

/** Starts an empty LRS on loopback. Its endpoint is `/xapi`. */
export async function startLrsDouble(options: LrsDoubleOptions = {}): Promise<LrsDouble> {
  const { accounts, requestsPerMinute, maxStatements } = options;
  const now = options.now ?? Date.now;
  const lrs: Lrs = {
    store: new StatementStore(now),
    accounts: [...(accounts ?? [DEFAULT_ACCOUNT])],
    tokens: new Map(),
    options: {
      versions: options.versions ?? ['2.0.0'],
      maxBytes: options.maxBytes ?? 1024 * 1024,
      ...(maxStatements !== undefined && { maxStatements }),
      repeats: options.repeats ?? 'accepted',
      comparison: options.comparison ?? 'exact',
      voidingOfVoiding: options.voidingOfVoiding ?? 'refused',
      visibleAfterMs: options.visibleAfterMs ?? 0,
    },
    homePage: 'https://lrs.example.com',
    now,
    requestLimit: requestsPerMinute === undefined ? undefined : new CallLimit(rollingWindow(requestsPerMinute, 60_000)),
  };
  const state = (): LrsState => ({
    statements: lrs.store.all.map((statement) => ({
      ...statement,
      voidedBy: lrs.store.voiderOf(statement.id) ?? null,
    })),
    violations: lrs.requestLimit?.violations.length ?? 0,
  });
  const running = await serveDouble(
    {
      answer: (request) => answerLrs(lrs, request),
      state,
      page: () => lrsPage(lrs.store),
      namedFaults: lrsFault,
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

/** Returns the effect of a named fault: one of these answers, with `-after` once the statements are stored. */
export function lrsFault(name: string): FaultEffect | undefined {
  const answer = ANSWERS[name.replace(/-after$/, '')];
  if (answer === undefined) return undefined;
  return { kind: name.endsWith('-after') ? 'answerAfter' : 'answer', answer };
}
