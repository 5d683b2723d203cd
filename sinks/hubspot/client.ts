import { isTimezone } from '../../base/zoned-instant.js';
import { mayReachPrivate } from '../network/address-policy.js';
import { RollingLimiter } from '../network/rolling-limiter.js';
import { fieldsOf, type Result, type SinkEnvironment } from '../sink.js';
import { type CallBudget, type RestAnswer, RestClient } from '../rest/rest-client.js';
import { classifyAnswer, isHeld, type Problem, withCorrelationId } from './classify.js';
import type { HubSpotConfig } from './config.js';

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
}

export type Reply =
  | { readonly kind: 'ok'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly problem: Problem;
      readonly correlationId: string | undefined;
    }
  /** `processed` says whether the call may have taken effect nevertheless. */
  | { readonly kind: 'failed'; readonly result: Result; readonly processed: 'no' | 'maybe' };

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** Calls HubSpot's API within the limits of the account, which all sinks with this account share. Never throws. */
export class HubSpotClient {
  readonly paths: Paths;
  readonly host: string;
  readonly #config: HubSpotConfig;
  readonly #rest: RestClient;
  readonly #limiter: RollingLimiter;
  readonly #daily: DailyLimit;
  #account: Promise<void> | undefined;

  constructor(config: HubSpotConfig, environment: SinkEnvironment, tuning: ClientTuning = {}) {
    this.#config = config;
    this.paths = new Paths(config.apiVersion);
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
      () => new RollingLimiter(tuning.limit ?? { ...DEFAULT_LIMIT, limit: per10s ?? DEFAULT_LIMIT.limit }, per10s),
    );
    this.#daily = accounts.share(account, 'day', () => new DailyLimit(perDay, environment.now));
  }

  async get(path: string, budget: CallBudget): Promise<Reply> {
    return await this.#call('GET', path, undefined, budget);
  }

  async post(path: string, body: object, budget: CallBudget): Promise<Reply> {
    return await this.#write('POST', path, body, budget);
  }

  async put(path: string, body: object, budget: CallBudget): Promise<Reply> {
    return await this.#write('PUT', path, body, budget);
  }

  async patch(path: string, body: object, budget: CallBudget): Promise<Reply> {
    return await this.#write('PATCH', path, body, budget);
  }

  /** Returns the scopes of a private app's token; undefined if HubSpot does not list them, as for a service key. */
  async scopes(budget: CallBudget): Promise<ReadonlySet<string> | undefined> {
    const body = { tokenKey: this.#config.token.reveal() };
    const reply = await this.#call('POST', '/oauth/v2/private-apps/get/access-token-info', body, budget);
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

  async #write(method: Method, path: string, body: object, budget: CallBudget): Promise<Reply> {
    await this.#readTimeZone(budget);
    return await this.#call(method, path, body, budget);
  }

  /**
   * Reads the account's time zone once, before the first write. After the daily limit is reached, HubSpot would refuse
   * this request too.
   */
  async #readTimeZone(budget: CallBudget): Promise<void> {
    if (this.#daily.knowsTimeZone) return;
    this.#account ??= this.#call('GET', this.paths.accountDetails, undefined, budget).then((reply) => {
      if (reply.kind === 'ok' && typeof reply.body.timeZone === 'string') {
        this.#daily.timeZone = reply.body.timeZone;
      } else if (reply.kind === 'failed' && reply.result.kind !== 'pause' && !isHeld(reply.result)) {
        this.#account = undefined; // read again before the next write; if HubSpot refuses the request, it is not repeated
      }
    });
    await this.#account;
  }

  async #call(method: Method, path: string, json: object | undefined, budget: CallBudget): Promise<Reply> {
    if (this.#daily.closedForMs() > 0) return dailyLimitReached(this.#daily);
    const remainingMs = budget.remainingMs();
    const pausedForMs = this.#limiter.closedForMs;
    // If HubSpot requested a longer pause than this call may wait, the outcome names it, so that the status does too.
    if (remainingMs > 0 && pausedForMs > Math.max(remainingMs, this.#limiter.windowMs)) {
      return rateLimitExceeded(pausedForMs);
    }
    const permit = remainingMs > 0 ? await this.#limiter.take(budget.signal, remainingMs) : undefined;
    if (permit === undefined) return { kind: 'failed', result: { kind: 'unsent' }, processed: 'no' };
    try {
      this.#daily.spend();
      if (budget.signal.aborted) {
        return {
          kind: 'failed',
          processed: 'no',
          result: { kind: 'retry', detail: 'stopped before the request to HubSpot' },
        };
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
    const id = fieldsOf(answer.body).correlationId ?? answer.requestId;
    const correlationId = typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : undefined;
    const verdict = classifyAnswer({ ...answer, correlationId });
    switch (verdict.kind) {
      case 'ok':
        return { kind: 'ok', status: answer.status, body: fieldsOf(answer.body) };
      case 'refused':
        return { kind: 'refused', status: answer.status, problem: verdict.problem, correlationId };
      case 'limited': {
        if (verdict.limit === 'daily') {
          this.#daily.refused(verdict.retryAfterMs);
          return dailyLimitReached(this.#daily, correlationId);
        }
        const waitMs = verdict.retryAfterMs ?? this.#limiter.windowMs;
        this.#limiter.close(waitMs);
        return rateLimitExceeded(waitMs, correlationId);
      }
      case 'failed':
        return verdict;
    }
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

function rateLimitExceeded(afterMs: number, correlationId?: string): Reply {
  const detail = withCorrelationId("HubSpot's rate limit for this account was exceeded (HTTP 429)", correlationId);
  return { kind: 'failed', processed: 'no', result: { kind: 'retry', afterMs, detail } };
}

function dailyLimitReached(daily: DailyLimit, correlationId?: string): Reply {
  const detail = withCorrelationId(daily.reason, correlationId);
  return { kind: 'failed', processed: 'no', result: { kind: 'retry', afterMs: daily.closedForMs(), detail } };
}

/**
 * Returns the path of each call in HubSpot's API. In dated versions (`2026-09`), the version comes after the name of
 * the resource; in v3, before it. Source: HubSpot, "API versioning", and the reference of each endpoint.
 */
export class Paths {
  constructor(private readonly version: string) {}

  /** @param inV3 the beginning of the path in v3 */
  #start(resource: string, inV3: string): string {
    return this.version === 'v3' ? inV3 : `${resource}/${this.version}`;
  }

  /** @param call e.g. `batch/upsert` */
  objects(objectType: string, call: string): string {
    return `${this.#start('/crm/objects', '/crm/v3/objects')}/${objectType}/${call}`;
  }

  properties(objectType: string): string {
    return `${this.#start('/crm/properties', '/crm/v3/properties')}/${objectType}`;
  }

  /**
   * Returns the path of a call for associations between two kinds of records.
   * @param call `batch/associate/default`, `batch/archive` or `batch/read`
   */
  associations(from: string, to: string, call: string): string {
    return `${this.#start('/crm/associations', '/crm/v4/associations')}/${from}/${to}/${call}`;
  }

  /** Returns the path of an object's definition, which lists the properties that a new record requires. */
  schema(objectType: string): string {
    return `${this.#start('/crm-object-schemas', '/crm/v3')}/schemas/${objectType}`;
  }

  /** @param call empty, or e.g. `/memberships/add` */
  list(listId: string, call: string): string {
    return `${this.#start('/crm/lists', '/crm/v3/lists')}/${listId}${call}`;
  }

  /** @param call e.g. `events/upsert` */
  marketingEvents(call: string): string {
    return `${this.#start('/marketing/marketing-events', '/marketing/v3/marketing-events')}/${call}`;
  }

  get accountDetails(): string {
    return `${this.#start('/account-info', '/account-info/v3')}/details`;
  }
}

/** Enforces the account's daily request limit. The day starts at midnight in the account's time zone. */
export class DailyLimit {
  readonly #max: number | undefined;
  readonly #now: () => number;
  #timeZone: string | undefined;
  #day: string | undefined;
  #count = 0;
  #closedUntilMs = 0;
  #reason = '';

  /**
   * @param max requests per day; undefined: requests stop only when HubSpot reports that the daily limit is reached
   * @param now Unix time in ms
   */
  constructor(max: number | undefined, now: () => number) {
    this.#max = max;
    this.#now = now;
  }

  /** Sets the account's time zone; ignores an unknown name. */
  set timeZone(timeZone: string) {
    if (isTimezone(timeZone)) this.#timeZone = timeZone;
  }

  get knowsTimeZone(): boolean {
    return this.#timeZone !== undefined;
  }

  /** The reason why requests are stopped. */
  get reason(): string {
    return this.#reason;
  }

  /** Returns the number of milliseconds until a request may start; 0 if one may start now. */
  closedForMs(): number {
    return Math.max(0, this.#closedUntilMs - this.#now());
  }

  /** Counts a request. */
  spend(): void {
    const day = dayOf(this.#now(), this.#timeZone ?? 'UTC');
    if (day !== this.#day) this.#count = 0;
    this.#day = day;
    this.#count += 1;
    if (this.#max !== undefined && this.#count >= this.#max) this.#close(ownLimitReached);
  }

  /** Applies the number of requests that HubSpot has counted today, which includes those of other clients. */
  learnUsed(used: number): void {
    this.#count = Math.max(this.#count, used);
    if (this.#max !== undefined && this.#count >= this.#max) this.#close(ownLimitReached);
  }

  /** Stops requests after HubSpot reported that the limit is reached. @param afterMs the wait that HubSpot requested */
  refused(afterMs: number | undefined): void {
    this.#close(accountLimitReached, afterMs);
  }

  /**
   * Stops requests for the requested time; otherwise until midnight in the account's time zone, or for an hour if the
   * time zone is not known. Does not shorten an earlier stop: the answers of concurrent requests can arrive after it.
   */
  #close(reason: string, afterMs?: number): void {
    const nowMs = this.#now();
    const endsAtMidnight = afterMs === undefined && this.#timeZone !== undefined;
    const untilMs = endsAtMidnight ? nextMidnight(this.#timeZone!, nowMs) : nowMs + (afterMs ?? hourMs);
    if (untilMs < this.#closedUntilMs) return;
    this.#closedUntilMs = untilMs;
    this.#reason = endsAtMidnight ? `${reason}; delivery continues at midnight in the account's time zone` : reason;
  }

  /** Allows requests again, because the limit may be higher now. */
  reopen(): void {
    this.#closedUntilMs = 0;
  }
}

const hourMs = 3_600_000;
/** Alerts name the cause by the status code (`failureCode`). */
const accountLimitReached = "the account's daily request limit is reached (HTTP 429)";
const ownLimitReached = 'the daily request limit of this sink (limits.perDay) is reached';

/**
 * Returns the start of the next day in a time zone, Unix time in ms. It is also correct on days when clocks change or
 * the day does not start at 00:00.
 */
export function nextMidnight(timeZone: string, nowMs: number): number {
  const today = dayOf(nowMs, timeZone);
  // The day changes once within the next 26 hours. Bisects this range until it is one second long.
  let [before, after] = [nowMs, nowMs + 26 * hourMs];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(middle, timeZone) === today) before = middle;
    else after = middle;
  }
  return Math.ceil(before / 1000) * 1000;
}

function dayOf(atMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(atMs);
}
