import { mayReachPrivate } from '../network/address-policy.js';
import type { SinkEnvironment } from '../sink.js';
import { type CallBudget, type RestAnswer, RestClient } from '../rest/rest-client.js';
import { isHeld } from '../records/record-task.js';
import { AccountLimits, type LimitTuning } from './account-limits.js';
import { apiPath, type Resource } from './api-paths.js';
import { classifyAnswer, type Reply } from './classify.js';
import type { HubSpotConfig } from './config.js';

/** Maximum number of open connections, and so of requests in progress. */
const CONNECTIONS = 10;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** Calls HubSpot's API within the limits of the account, which all sinks with this account share. Never throws. */
export class HubSpotClient {
  readonly host: string;
  readonly #config: HubSpotConfig;
  readonly #rest: RestClient;
  readonly #limits: AccountLimits;
  #account: Promise<void> | undefined;

  constructor(config: HubSpotConfig, environment: SinkEnvironment, tuning: LimitTuning = {}) {
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
    this.#limits = new AccountLimits(config, environment, tuning);
  }

  /** Returns the path of a call. @param call the rest of the path, e.g. `contacts/batch/upsert` */
  path(resource: Resource, call: string): string {
    return apiPath(this.#config, resource, call);
  }

  /** Returns the whole address of a call, for previews. */
  address(resource: Resource, call: string): string {
    return `${this.#config.baseUrl}${this.path(resource, call)}`;
  }

  async get(path: string, budget: CallBudget): Promise<Reply> {
    return await this.#request('GET', path, undefined, budget);
  }

  async call(method: Exclude<Method, 'GET'>, path: string, body: object, budget: CallBudget): Promise<Reply> {
    if (!this.#limits.knowsTimeZone) await this.#readTimeZone(budget);
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
    this.#limits.reopen();
  }

  async close(): Promise<void> {
    await this.#rest.close();
  }

  /** Reads the account's time zone once. After the daily limit is reached, HubSpot would refuse this request too. */
  async #readTimeZone(budget: CallBudget): Promise<void> {
    this.#account ??= this.#request('GET', this.path('account', 'details'), undefined, budget).then((reply) => {
      if (reply.kind === 'ok' && typeof reply.body.timeZone === 'string') {
        this.#limits.timeZone = reply.body.timeZone;
      } else if (reply.kind === 'failed' && reply.result.kind !== 'pause' && !isHeld(reply.result)) {
        this.#account = undefined; // read again before the next write; if HubSpot refuses the request, it is not repeated
      }
    });
    await this.#account;
  }

  async #request(method: Method, path: string, json: object | undefined, budget: CallBudget): Promise<Reply> {
    const permit = await this.#limits.take(budget);
    if ('kind' in permit) return permit;
    try {
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
    this.#limits.learn(answer.headers);
    const verdict = classifyAnswer(answer);
    return verdict.kind === 'limited' ? this.#limits.refused(verdict) : verdict;
  }
}
