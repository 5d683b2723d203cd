import { isLoopback } from '../../config/loopback.js';
import { RollingLimiter } from '../network/rolling-limiter.js';
import { type CallBudget, type RestAnswer, RestClient } from '../rest/rest-client.js';
import type { SinkEnvironment } from '../sink.js';
import { CallFailure, CallsEnded } from './operation.js';
import { classifyAnswer } from './classify.js';
import type { SalesforceConfig } from './config.js';
import type { Dispatcher } from 'undici';
import { CutShort } from '../network/within-deadline.js';
import { type Grant, type Token, TokenFailure, TokenSource } from '../rest/oauth.js';

/** Open connections to the org, and so requests in progress. Salesforce allows 25 long requests for the whole org. */
const CONNECTIONS = 5;
/** Salesforce stops a request after 120 s; a call with 200 records takes seconds. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Maximum wait for a permit under `limits.per10s`. */
const MAX_PERMIT_WAIT_MS = 20_000;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/services/data/vXX.X/`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The object of the call. A 404 means that the user has no access to it. */
  readonly object?: string;
}

/** The response to a request: a success, or a refusal with its reason. */
export type CallAnswer = RestAnswer & {
  readonly refused: { readonly code: string; readonly fields: readonly string[] } | null;
};

export interface ClientTuning {
  /** Unix time in ms. */
  readonly now?: () => number;
  readonly requestTimeoutMs?: number;
}

/** Calls to one org in one session, shared by all lanes of a sink. Repeats a call only after its session has expired. */
export class SalesforceClient {
  readonly #config: SalesforceConfig;
  readonly #environment: SinkEnvironment;
  readonly #now: () => number;
  readonly #requestTimeoutMs: number;
  readonly #sessions: Sessions;
  /** One pool for each origin: the login host, and the org's own host once the login has named it. */
  readonly #hosts = new Map<string, RestClient>();
  readonly #limiter: RollingLimiter | undefined;
  readonly #usage: ApiUsage;
  /** Salesforce asked to wait until this instant (Unix time in ms). */
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #heldFor = '';

  constructor(config: SalesforceConfig, environment: SinkEnvironment, tuning: ClientTuning = {}) {
    this.#config = config;
    this.#environment = environment;
    this.#now = tuning.now ?? environment.now ?? Date.now;
    this.#requestTimeoutMs = tuning.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const { per10s, perDay } = environment.limits ?? {};
    const makeLimiter = (limit: number): RollingLimiter => new RollingLimiter({ limit, windowMs: 10_000 }, limit);
    const account = {
      type: 'salesforce',
      baseUrl: config.baseUrl ?? config.loginUrl,
      credential: `${config.clientId} ${config.username ?? ''}`,
      limits: environment.limits,
    };
    this.#limiter =
      per10s === undefined
        ? undefined
        : (environment.accounts?.share(account, 'requests', () => makeLimiter(per10s)) ?? makeLimiter(per10s));
    this.#usage = new ApiUsage(perDay ?? Number.POSITIVE_INFINITY);
    this.#sessions = new Sessions(config, this.#hostFor(tokenUrlOf(config)).dispatcher, this.#now);
  }

  /** The configured treatment of the org's rules that run when a record is saved. */
  get saving(): Pick<SalesforceConfig, 'assignmentRule' | 'duplicateAlerts'> {
    return this.#config;
  }

  /**
   * @throws {CallFailure} if there is no response, or the response does not concern this request
   * @throws {CallsEnded} when the budget is used up
   */
  async call(call: Call, budget: CallBudget): Promise<CallAnswer> {
    if (budget.signal.aborted || budget.remainingMs() === 0) throw new CallsEnded();
    const session = await this.#sessions.get(budget.signal);
    const answer = await this.#callIn(session, call, budget);
    if (answer !== undefined) return answer;
    this.#sessions.end(session);
    const renewed = await this.#callIn(await this.#sessions.get(budget.signal), call, budget);
    if (renewed !== undefined) return renewed;
    throw new CallFailure({
      kind: 'pause',
      cause: 'credential',
      detail: 'Salesforce refused a session that it had just issued (HTTP 401): check the login history of the user',
    });
  }

  /** Logs in if there is no session yet. @throws {CallFailure} */
  async logIn(signal: AbortSignal): Promise<void> {
    await this.#sessions.get(signal);
  }

  /** Lifts the waits that Salesforce requested. */
  tryNow(): void {
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    this.#sessions.tryNow();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map((host) => host.close()));
  }

  /** @returns undefined if the session has expired */
  async #callIn(
    session: Session,
    { method, path, body: json, headers, object }: Call,
    budget: CallBudget,
  ): Promise<CallAnswer | undefined> {
    const permit = await this.#permit(budget);
    try {
      const url = new URL(
        `${this.#config.baseUrl ?? session.instanceUrl}/services/data/${this.#config.apiVersion}/${path}`,
      );
      const authorization = `Bearer ${session.token.secret.reveal()}`;
      const answer = await this.#hostFor(url).call(
        { method, url, json, headers: { ...headers, authorization } },
        budget.signal,
      );
      if (answer.kind === 'no-answer') throw new CallFailure({ kind: 'retry', detail: answer.detail });
      this.#usage.note(answer.headers['sforce-limit-info'], this.#now());
      if (answer.text === undefined) {
        throw new CallFailure({ kind: 'retry', detail: `${url.host} sent an answer that is too long to be read` });
      }
      const meaning = classifyAnswer(answer, object);
      switch (meaning.kind) {
        case 'answered':
          return { ...answer, refused: null };
        case 'refused':
          return { ...answer, refused: meaning };
        case 'session-ended':
          return undefined;
        case 'limited':
          this.#heldUntilMs = this.#now() + meaning.afterMs;
          this.#heldFor = meaning.detail;
          throw new CallFailure({ kind: 'retry', afterMs: meaning.afterMs, detail: meaning.detail });
        case 'failed':
          throw new CallFailure(meaning.result);
      }
    } finally {
      permit?.done();
    }
  }

  async #permit(budget: CallBudget): Promise<{ done(): void } | undefined> {
    if (budget.signal.aborted || budget.remainingMs() === 0) throw new CallsEnded();
    const now = this.#now();
    if (now < this.#heldUntilMs) {
      throw new CallFailure({ kind: 'retry', afterMs: this.#heldUntilMs - now, detail: this.#heldFor });
    }
    const spentForMs = this.#usage.spentForMs(now);
    if (spentForMs !== undefined) {
      const detail = 'the org has used the API requests that "limits.perDay" allows in 24 hours';
      throw new CallFailure({ kind: 'retry', afterMs: spentForMs, detail });
    }
    if (this.#limiter === undefined) return undefined;
    const permit = await this.#limiter.take(budget.signal, MAX_PERMIT_WAIT_MS);
    if (permit === undefined) throw new CallsEnded();
    return permit;
  }

  #hostFor(url: URL): RestClient {
    let host = this.#hosts.get(url.origin);
    if (host === undefined) {
      host = new RestClient({
        url,
        name: 'Salesforce',
        network: this.#environment.network,
        // Salesforce's answer to the login names the org's host: it reaches loopback only if the configuration allows it.
        allowPrivateAddresses:
          this.#config.allowPrivateAddresses === true || (url.protocol === 'http:' && isLoopback(url.hostname)),
        connections: CONNECTIONS,
        requestTimeoutMs: this.#requestTimeoutMs,
        requestIdHeaders: ['x-sfdc-request-id', 'x-request-id'],
        now: this.#now,
      });
      this.#hosts.set(url.origin, host);
    }
    return host;
  }
}

/** Time for which a count of the org's requests is used. After it, one request reads the current count. */
const BELIEVED_FOR_MS = 15 * 60 * 1000;

/**
 * Keeps the requests of the whole org within 24 hours below a number, so that the rest of the org's limit is left to
 * others. Salesforce reports the count in each response, so it is also known after a restart.
 */
class ApiUsage {
  #used = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly maxPerDay: number) {}

  /** @param header `Sforce-Limit-Info`, such as `api-usage=18/5000` */
  note(header: string | undefined, nowMs: number): void {
    const used = /(?:^|[,\s])api-usage=(\d+)\/\d+/.exec(header ?? '')?.[1];
    if (used === undefined) return;
    this.#used = Number(used);
    this.#countedAtMs = nowMs;
  }

  /** Returns how long no request may start, in ms; undefined if one may. */
  spentForMs(nowMs: number): number | undefined {
    const forMs = this.#countedAtMs + BELIEVED_FOR_MS - nowMs;
    return this.#used >= this.maxPerDay && forMs > 0 ? forMs : undefined;
  }
}

interface Session {
  readonly token: Token;
  /** Scheme and host of the org, without a slash at its end. */
  readonly instanceUrl: string;
}

/**
 * The session of all calls, shared by all lanes. Salesforce does not report how long a session lasts, so it is used
 * until it is refused.
 */
class Sessions {
  readonly #source: TokenSource;

  constructor(config: SalesforceConfig, dispatcher: Dispatcher, now: () => number) {
    this.#source = new TokenSource({
      tokenUrl: tokenUrlOf(config),
      grant: grantOf(config),
      dispatcher,
      name: 'Salesforce',
      keys:
        config.clientSecret === undefined ? '"clientId", "username" and "privateKey"' : '"clientId" and "clientSecret"',
      advise: ({ description }) => advice.find(([known]) => known.test(description))?.[1],
      now,
    });
  }

  /** @throws {CallFailure} when it cannot log in @throws {CallsEnded} when the signal was aborted */
  async get(signal: AbortSignal): Promise<Session> {
    let token: Token;
    try {
      token = await this.#source.get(signal);
    } catch (error) {
      if (error instanceof TokenFailure) throw new CallFailure(error.result);
      if (error instanceof CutShort) throw new CallsEnded();
      throw error;
    }
    const instanceUrl = originOf(token.said.instance_url);
    if (instanceUrl !== undefined) return { token, instanceUrl };
    this.#source.end(token);
    throw new CallFailure({ kind: 'retry', detail: 'Salesforce answered the login without the address of the org' });
  }

  /** Makes the next call log in again, unless another call has done so already. */
  end({ token }: Session): void {
    this.#source.end(token);
  }

  /** Forgets how long Salesforce asked to wait. */
  tryNow(): void {
    this.#source.tryNow();
  }
}

function tokenUrlOf({ baseUrl, loginUrl }: Pick<SalesforceConfig, 'baseUrl' | 'loginUrl'>): URL {
  return new URL(`${baseUrl ?? loginUrl}/services/oauth2/token`);
}

/**
 * Source: Salesforce Help, "OAuth 2.0 JWT Bearer Flow for Server-to-Server Integration" and "OAuth 2.0 Client Credentials
 * Flow for Server-to-Server Integration".
 */
function grantOf({ clientId, clientSecret, username, privateKey, loginUrl }: SalesforceConfig): Grant {
  if (clientSecret !== undefined) {
    return { kind: 'client-credentials', clientId, clientSecret, authentication: 'client_secret_post' };
  }
  const claims = { iss: clientId, sub: username, aud: audienceOf(loginUrl) };
  return { kind: 'jwt-bearer', privateKey: privateKey!, claims };
}

/** Labels below `my.salesforce.com` of orgs that log in at test.salesforce.com. Older sandboxes have two hyphens before their name. */
const testOrg = /(?:\.sandbox|\.scratch|--[^.]+(?:\.cs\d+)?)\.my\.salesforce\.com$/;

/**
 * Returns the audience of an assertion: the login host of production, or that of sandboxes and scratch orgs, but never a
 * My Domain of Salesforce. A host of another domain is its own audience.
 */
export function audienceOf(loginUrl: string): string {
  const { hostname } = new URL(loginUrl);
  if (hostname !== 'salesforce.com' && !hostname.endsWith('.salesforce.com')) return loginUrl;
  const isTest = hostname === 'test.salesforce.com' || testOrg.test(hostname);
  return isTest ? 'https://test.salesforce.com' : 'https://login.salesforce.com';
}

/** Advice for refusals with Salesforce's own wording. */
const advice: readonly (readonly [RegExp, string])[] = [
  [
    /hasn.t approved this consumer|not admin approved/i,
    "pre-authorize the user's profile or permission set for the app",
  ],
  [
    /audience/i,
    'set "loginUrl" to https://test.salesforce.com for a sandbox or scratch org, or to the My Domain of the org',
  ],
  [/invalid assertion|signature/i, 'compare "privateKey" with the certificate of the app'],
  [
    /client credentials user|no .*user.* enabled/i,
    'choose the user to run as in the policies of the app (Client Credentials Flow)',
  ],
  [/on this domain/i, 'set "loginUrl" to the My Domain of the org'],
  [/client credentials|client secret/i, 'compare "clientSecret" with the consumer secret of the app'],
  [/client identifier/i, 'check "clientId"; a new app takes some minutes to be known'],
  [/inactive user|user.*locked/i, 'activate the user'],
  [/\bexpired|\bexp\b|expiration/i, 'set the clock of this machine'],
];

function originOf(found: unknown): string | undefined {
  if (typeof found !== 'string' || !URL.canParse(found)) return undefined;
  const { protocol, origin } = new URL(found);
  // Personal data is sent to the host that it names, so it must use TLS. Test doubles are reached through "baseUrl".
  return protocol === 'https:' || protocol === 'http:' ? origin.replace(/^http:/, 'https:') : undefined;
}
