import { mayReachPrivate } from '../network/address-policy.js';
import { type Clock, RollingLimiter } from '../network/rolling-limiter.js';
import type { SinkEnvironment } from '../sink.js';
import { type CallBudget, type RestAnswer, RestClient } from '../rest/rest-client.js';
import { isHeld } from '../records/record-task.js';
import { classifyAnswer, type Reply, withCorrelationId } from './classify.js';
import type { HubSpotConfig } from './config.js';
import { DailyLimit } from './daily-limit.js';

/** Maximum number of open connections, and so of requests in progress. */
const CONNECTIONS = 10;
/**
 * The limit of every account, whatever its plan. If the account has a higher limit, HubSpot reports it in answer
 * headers. Source: HubSpot, "Usage guidelines".
 */
const DEFAULT_LIMIT = { limit: 100, windowMs: 10_000 };

export interface ClientTuning {
  /** The account's limit until an answer reports one. */
  readonly limit?: { readonly limit: number; readonly windowMs: number };
  /** The clock of the limit and of the time for one `send`. */
  readonly clock?: Clock;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** Calls HubSpot's API within the limits of the account, which all sinks with this account share. Never throws. */
export class HubSpotClient {
  readonly host: string;
  readonly #config: HubSpotConfig;
  readonly #rest: RestClient;
  readonly #limiter: RollingLimiter;
  readonly #daily: DailyLimit;
  #account: Promise<void> | undefined;

  constructor(config: HubSpotConfig, environment: SinkEnvironment, tuning: ClientTuning = {}) {
    this.#config = config;
    const url = new URL(config.baseUrl);
    this.host = url.host;
    this.#rest = new RestClient({
      url,
      name: 'HubSpot',
      environment,
      allowPrivateAddresses: mayReachPrivate(url, config),
      connections: CONNECTIONS,
      requestIdHeaders: ['x-hubspot-correlation-id'],
    });
    const { accounts, limits } = environment;
    const account = { type: 'hubspot', baseUrl: config.baseUrl, credential: config.token, limits };
    const { per10s, perDay } = limits ?? {};
    this.#limiter = accounts.share(
      account,
      'requests',
      () =>
        new RollingLimiter(
          tuning.limit ?? { ...DEFAULT_LIMIT, limit: per10s ?? DEFAULT_LIMIT.limit },
          per10s,
          tuning.clock,
        ),
    );
    this.#daily = accounts.share(account, 'day', () => new DailyLimit(perDay, environment.now));
  }

  /** Returns the path of a call. @param call the rest of the path, e.g. `contacts/batch/upsert` */
  path(resource: keyof typeof resources, call: string): string {
    const { apiVersion } = this.#config;
    const { dated, v3 } = resources[resource];
    return `${apiVersion === 'v3' ? v3 : `${dated}/${apiVersion}`}/${call}`;
  }

  /** Returns the whole address of a call, for previews. */
  address(resource: keyof typeof resources, call: string): string {
    return `${this.#config.baseUrl}${this.path(resource, call)}`;
  }

  async get(path: string, budget: CallBudget): Promise<Reply> {
    return await this.#request('GET', path, undefined, budget);
  }

  async call(method: Exclude<Method, 'GET'>, path: string, body: object, budget: CallBudget): Promise<Reply> {
    if (!this.#daily.knowsTimeZone) await this.#readTimeZone(budget);
    return await this.#request(method, path, body, budget);
  }

  /** Returns the scopes of a private app's token; undefined if HubSpot does not list them, as for a service key. */
  async scopes(budget: CallBudget): Promise<ReadonlySet<string> | undefined> {
    const body = { tokenKey: this.#config.token.reveal() };
    const reply = await this.#request('POST', '/oauth/v2/private-apps/get/access-token-info', body, budget);
    if (reply.kind !== 'ok' || !Array.isArray(reply.body.scopes)) return undefined;
    return new Set(reply.body.scopes.filter((scope) => typeof scope === 'string'));
  }

  /** Ends the waits that HubSpot requested. */
  tryNow(): void {
    this.#limiter.reopen();
    this.#daily.reopen();
  }

  async close(): Promise<void> {
    await this.#rest.close();
  }

  /** Reads the account's time zone once. After the daily limit is reached, HubSpot would refuse this request too. */
  async #readTimeZone(budget: CallBudget): Promise<void> {
    this.#account ??= this.#request('GET', this.path('account', 'details'), undefined, budget).then((reply) => {
      if (reply.kind === 'ok' && typeof reply.body.timeZone === 'string') {
        this.#daily.timeZone = reply.body.timeZone;
      } else if (reply.kind === 'failed' && reply.result.kind !== 'pause' && !isHeld(reply.result)) {
        this.#account = undefined; // read again before the next write; if HubSpot refuses the request, it is not repeated
      }
    });
    await this.#account;
  }

  async #request(method: Method, path: string, json: object | undefined, budget: CallBudget): Promise<Reply> {
    if (this.#daily.closedForMs() > 0) return limited(this.#daily.reason, this.#daily.closedForMs());
    const remainingMs = budget.remainingMs();
    const pausedForMs = this.#limiter.closedForMs;
    // If HubSpot requested a longer pause than this call may wait, the outcome names it, so that the status does too.
    if (remainingMs > 0 && pausedForMs > Math.max(remainingMs, this.#limiter.windowMs)) {
      return limited(accountLimitExceeded, pausedForMs);
    }
    const permit = remainingMs > 0 ? await this.#limiter.take(budget.signal, remainingMs) : undefined;
    if (permit === undefined) return { kind: 'failed', processed: 'no', result: { kind: 'unsent' } };
    try {
      this.#daily.spend();
      if (budget.signal.aborted) {
        const detail = 'stopped before the request to HubSpot';
        return { kind: 'failed', processed: 'no', result: { kind: 'retry', detail } };
      }
      const url = `${this.#config.baseUrl}${path}`;
      const headers = { authorization: `Bearer ${this.#config.token.reveal()}` };
      const answer = await this.#rest.call({ method, url, headers, json }, budget.signal);
      if (answer.kind === 'answer') return this.#judge(answer);
      const processed = answer.mayHaveArrived ? 'maybe' : 'no';
      return { kind: 'failed', processed, result: { kind: 'retry', detail: answer.detail } };
    } finally {
      permit.done();
    }
  }

  #judge(answer: RestAnswer): Reply {
    this.#learnLimits(answer.headers);
    const verdict = classifyAnswer(answer);
    if (verdict.kind !== 'limited') return verdict;
    const { limit, retryAfterMs, correlationId } = verdict;
    if (limit === 'daily') {
      this.#daily.refused(retryAfterMs);
      return limited(this.#daily.reason, this.#daily.closedForMs(), correlationId);
    }
    const waitMs = retryAfterMs ?? this.#limiter.windowMs;
    this.#limiter.close(waitMs);
    return limited(accountLimitExceeded, waitMs, correlationId);
  }

  /** Reads the account's limits from the headers. Source: HubSpot, "Usage guidelines", "Rate limit headers". */
  #learnLimits(headers: RestAnswer['headers']): void {
    const number = (name: string): number | undefined => {
      const text = headers[`x-hubspot-ratelimit-${name}`];
      return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
    };
    const [limit, remaining] = [number('max'), number('remaining')];
    const interval = number('interval-milliseconds') ?? this.#limiter.windowMs;
    // The headers can describe a window that has a different length from the limiter's.
    if (limit !== undefined && interval === this.#limiter.windowMs) {
      this.#limiter.learn({ limit, ...(remaining !== undefined && { used: limit - remaining }) });
    }
    const [daily, left] = [number('daily'), number('daily-remaining')];
    if (daily !== undefined && left !== undefined) this.#daily.learnUsed(daily - left);
  }
}

const accountLimitExceeded = "HubSpot's rate limit for this account was exceeded (HTTP 429)";

function limited(detail: string, afterMs: number, correlationId?: string): Reply {
  const result = { kind: 'retry', afterMs, detail: withCorrelationId(detail, correlationId) } as const;
  return { kind: 'failed', processed: 'no', result };
}

/**
 * The beginnings of the paths of HubSpot's API. In dated versions (`2026-09`), the version follows; in v3, it is part of
 * the path. Source: HubSpot, "API versioning", and the reference of each endpoint.
 */
const resources = {
  objects: { dated: '/crm/objects', v3: '/crm/v3/objects' },
  properties: { dated: '/crm/properties', v3: '/crm/v3/properties' },
  associations: { dated: '/crm/associations', v3: '/crm/v4/associations' },
  /** Definitions of objects, which list the properties that a new record requires. */
  schemas: { dated: '/crm-object-schemas', v3: '/crm/v3' },
  lists: { dated: '/crm/lists', v3: '/crm/v3/lists' },
  marketingEvents: { dated: '/marketing/marketing-events', v3: '/marketing/v3/marketing-events' },
  account: { dated: '/account-info', v3: '/account-info/v3' },
} as const;
