import { CallLimit, rollingWindow } from '../serve/call-limit.js';
import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { answerLrs, ENDPOINT, TOKEN_PATH } from './answer-lrs.js';
import { lrsFault } from './lrs-faults.js';
import { lrsPage } from './lrs-page.js';
import type { Lrs, LrsAccount, LrsChoices } from './lrs.js';
import type { Statement } from './statement.js';
import { StatementStore } from './statement-store.js';

export interface LrsDoubleOptions extends ServeOptions, Partial<LrsChoices> {
  /** By default one, `lrs-key` with `lrs-secret`. */
  readonly accounts?: readonly LrsAccount[];
}

export interface LrsDouble extends RunningDouble {
  /** What a client is configured with: `/statements` is added to it. */
  readonly endpoint: string;
  readonly store: StatementStore;
  /** As plain data, as `GET /_double/state` gives it. */
  state(): LrsState;
  /** The account's credentials are refused from now on. */
  revoke(username: string): void;
  /** Where an account is given a token by OAuth 2 client credentials, as client id and secret. */
  readonly tokenUrl: string;
  /** All tokens that were issued are refused from now on. */
  expireTokens(): void;
}

export interface LrsState {
  /** Oldest first, each with the id of the statement that voids it, or null. */
  readonly statements: readonly (Statement & { readonly voidedBy: string | null })[];
  /** Requests that were refused for their rate. */
  readonly violations: number;
}

export const DEFAULT_ACCOUNT: LrsAccount = { username: 'lrs-key', password: 'lrs-secret' };

/** Starts an LRS on loopback, empty; its endpoint is `/xapi`. */
export async function startLrsDouble(options: LrsDoubleOptions = {}): Promise<LrsDouble> {
  const { accounts, requestsPerMinute, maxStatements } = options;
  const now = options.now ?? Date.now;
  const lrs: Lrs = {
    store: new StatementStore(now, options.version === '1.0.3' ? '1.0.0' : '2.0.0'),
    accounts: [...(accounts ?? [DEFAULT_ACCOUNT])],
    tokens: new Map(),
    options: {
      version: options.version ?? '2.0.0',
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
      if (index === -1) throw new RangeError('there is no such account to revoke');
      lrs.accounts.splice(index, 1);
    },
  };
}
