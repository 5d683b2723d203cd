import { mayReachPrivate } from '../network/address-policy.js';
import { RollingLimiter } from '../network/rolling-limiter.js';
import type { Failed } from '../records/reply.js';
import { TokenFailure, type Token } from '../rest/request-token.js';
import { TokenSource } from '../rest/token-source.js';
import { type CallBudget, type RestAnswer, RestClient } from '../rest/rest-client.js';
import type { SinkEnvironment } from '../sink.js';
import { classifyAnswer, type Reply } from './classify.js';
import type { DynamicsConfig } from './config.js';

/** Maximum number of open connections. Dataverse allows 52 concurrent requests of a user. */
const CONNECTIONS = 4;
/** Half of what Dataverse allows a user and web server in 5 minutes. Source: README.md. */
const DEFAULT_LIMIT = { limit: 100, windowMs: 10_000 };

interface Call {
  readonly method: 'GET' | 'PATCH' | 'DELETE';
  /** Below `baseUrl`, with encoded parts. */
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls the Web API of a Dataverse environment. Never throws. */
export class DynamicsClient {
  readonly #config: DynamicsConfig;
  readonly #rest: RestClient;
  readonly #tokenRest: RestClient;
  readonly #tokens: TokenSource;
  readonly #limiter: RollingLimiter;

  constructor(config: DynamicsConfig, environment: SinkEnvironment) {
    this.#config = config;
    const restAt = (address: string): RestClient => {
      const url = new URL(address);
      const allowPrivateAddresses = mayReachPrivate(url, config);
      return new RestClient({ url, name: 'Dynamics', environment, allowPrivateAddresses, connections: CONNECTIONS });
    };
    this.#rest = restAt(config.baseUrl);
    this.#tokenRest = restAt(config.tokenUrl);
    const { clientId, clientSecret } = config;
    this.#tokens = new TokenSource({
      tokenUrl: new URL(config.tokenUrl),
      grant: {
        kind: 'client-credentials',
        clientId,
        clientSecret,
        authentication: 'client_secret_post',
        scope: `${new URL(config.baseUrl).origin}/.default`,
      },
      rest: this.#tokenRest,
      name: 'Microsoft Entra',
      keys: '"tokenUrl", "clientId" and "clientSecret"',
      now: environment.now,
    });
    const { accounts, limits } = environment;
    const account = { type: 'dynamics', baseUrl: config.baseUrl, credential: clientSecret, limits };
    const limit = { ...DEFAULT_LIMIT, limit: limits?.per10s ?? DEFAULT_LIMIT.limit };
    this.#limiter = accounts.share(account, 'requests', () => new RollingLimiter(limit, limits?.per10s));
  }

  address(path: string): string {
    return `${this.#config.baseUrl}${path}`;
  }

  async call(call: Call, budget: CallBudget): Promise<Reply> {
    try {
      const token = await this.#tokens.get(budget.signal);
      const reply = await this.#callWith(token, call, budget);
      if (reply.kind !== 'token-refused') return reply;
      this.#tokens.end(token);
      const renewed = await this.#callWith(await this.#tokens.get(budget.signal), call, budget);
      if (renewed.kind !== 'token-refused') return renewed;
      const detail =
        'Dynamics refused a token that was just issued (HTTP 401): add the application as application user';
      return failed({ kind: 'pause', cause: 'credential', detail });
    } catch (error) {
      if (error instanceof TokenFailure) return failed(error.result);
      if (budget.signal.aborted) return failed({ kind: 'unsent' });
      throw error;
    }
  }

  /** Returns the sentence that says why the environment cannot be reached; undefined if it answers. */
  async reachProblem(budget: CallBudget): Promise<string | undefined> {
    const answer = await this.#rest.call({ method: 'GET', url: this.address('/WhoAmI') }, budget.signal);
    return answer.kind === 'answer' ? undefined : answer.detail;
  }

  tryNow(): void {
    this.#limiter.reopen();
    this.#tokens.tryNow();
  }

  async close(): Promise<void> {
    await Promise.all([this.#rest.close(), this.#tokenRest.close()]);
  }

  async #callWith(token: Token, { method, path, body: json, headers }: Call, budget: CallBudget) {
    const closedForMs = this.#limiter.closedForMs;
    if (closedForMs > budget.remainingMs()) return failed({ kind: 'retry', afterMs: closedForMs, detail: throttled });
    const permit = budget.remainingMs() > 0 ? await this.#limiter.take(budget.signal, budget.remainingMs()) : undefined;
    if (permit === undefined) return failed({ kind: 'unsent' });
    try {
      const own = {
        'odata-version': '4.0',
        'odata-maxversion': '4.0',
        authorization: `Bearer ${token.secret.reveal()}`,
      };
      const request = { method, url: this.address(path), headers: { ...own, ...headers }, json };
      const answer = await this.#rest.call(request, budget.signal);
      if (answer.kind === 'answer') return this.#judge(answer);
      return failed({ kind: 'retry', detail: answer.detail }, answer.mayHaveArrived ? 'maybe' : 'no');
    } finally {
      permit.done();
    }
  }

  #judge(answer: RestAnswer): Reply | { readonly kind: 'token-refused' } {
    const reply = classifyAnswer(answer);
    if (reply.kind === 'failed' && reply.result.kind === 'retry' && answer.status === 429) {
      this.#limiter.close(reply.result.afterMs ?? this.#limiter.windowMs);
    }
    return reply;
  }
}

const throttled = 'Dynamics requested a pause (HTTP 429)';

function failed(result: Failed['result'], processed: Failed['processed'] = 'no'): Failed {
  return { kind: 'failed', processed, result };
}
