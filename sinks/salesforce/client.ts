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

/**
 * Maximum number of open connections to the org, and so of requests in progress. Salesforce allows 25 long requests for
 * the whole org.
 */
const CONNECTIONS = 5;
/** Half of the 120 s after which Salesforce stops a request. A call with 200 records takes seconds. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Maximum wait for a permit under `limits.per10s`. */
const MAX_PERMIT_WAIT_MS = 20_000;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path below `/services/data/vXX.X/`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The object that the call concerns. If the answer is 404, the user has no access to it. */
  readonly object?: string;
}

/** The response to a call. `refused` is null if the call succeeded. */
export type CallAnswer = RestAnswer & {
  readonly refused: { readonly code: string; readonly fields: readonly string[] } | null;
};

export interface ClientTuning {
  readonly requestTimeoutMs?: number;
}

/** Calls one org in one session, for all lanes of a sink. Repeats a call only if its session has expired. */
export class SalesforceClient {
  readonly #config: SalesforceConfig;
  readonly #environment: SinkEnvironment;
  readonly #now: () => number;
  readonly #requestTimeoutMs: number;
  readonly #sessions: Sessions;
  /**
   * One pool of connections for each origin: the login host, and the org's own host, which the answer to the login
   * names.
   */
  readonly #hosts = new Map<string, RestClient>();
  readonly #limiter: RollingLimiter | undefined;
  readonly #usage: ApiUsage;
  /** No call starts before this time, because Salesforce requested a wait (Unix time in ms). */
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #heldFor = '';

  constructor(config: SalesforceConfig, environment: SinkEnvironment, tuning: ClientTuning = {}) {
    this.#config = config;
    this.#environment = environment;
    this.#now = environment.now;
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

  /** The settings for the org's rules that run when a record is saved. */
  get saving(): Pick<SalesforceConfig, 'assignmentRule' | 'duplicateAlerts'> {
    return this.#config;
  }

  /**
   * Makes a call.
   * @throws {CallFailure} if there is no response, or if the response would be the same for any other call
   * @throws {CallsEnded} if no call may start any more
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

  /** Ends the waits that Salesforce requested. */
  tryNow(): void {
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    this.#sessions.tryNow();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map((host) => host.close()));
  }

  /** Makes a call in a session. @returns undefined if the session has expired */
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
        // The org's host comes from Salesforce's answer to the login. It may be a loopback address only if the
        // configuration allows it.
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

/**
 * Time for which a count of the org's requests is used. After that, one request is made, whose answer has the current
 * count.
 */
const BELIEVED_FOR_MS = 15 * 60 * 1000;

/**
 * Stops calls when the whole org has made a number of requests in 24 hours, so that the rest of the org's limit is left
 * to other systems. Salesforce reports the count in each response, so it is known again after a restart.
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

  /** Returns for how many milliseconds no request may start; undefined if a request may start now. */
  spentForMs(nowMs: number): number | undefined {
    const forMs = this.#countedAtMs + BELIEVED_FOR_MS - nowMs;
    return this.#used >= this.maxPerDay && forMs > 0 ? forMs : undefined;
  }
}

interface Session {
  readonly token: Token;
  /** Scheme and host of the org, without a slash at the end. */
  readonly instanceUrl: string;
}

/**
 * Holds the session that all lanes use. Salesforce does not report when a session expires, so it is used until
 * Salesforce refuses it.
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

  /**
   * Returns the session, and logs in if there is none.
   * @throws {CallFailure} if the login fails
   * @throws {CallsEnded} if the signal was aborted
   */
  async get(signal: AbortSignal): Promise<Session> {
    let token: Token;
    try {
      token = await this.#source.get(signal);
    } catch (error) {
      if (error instanceof TokenFailure) throw new CallFailure(error.result);
      if (error instanceof CutShort) throw new CallsEnded();
      throw error;
    }
    const instanceUrl = originOf(token.otherFields.instance_url);
    if (instanceUrl !== undefined) return { token, instanceUrl };
    this.#source.end(token);
    throw new CallFailure({ kind: 'retry', detail: 'Salesforce answered the login without the address of the org' });
  }

  /**
   * Ends the session, so that the next call logs in again. Does nothing if another call has already replaced the
   * session.
   */
  end({ token }: Session): void {
    this.#source.end(token);
  }

  /** Ends the wait that Salesforce requested for logins. */
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

/**
 * Matches the hosts of sandboxes and scratch orgs, which log in at test.salesforce.com. The hosts of older sandboxes
 * have two hyphens before the sandbox's name.
 */
const testOrg = /(?:\.sandbox|\.scratch|--[^.]+(?:\.cs\d+)?)\.my\.salesforce\.com$/;

/**
 * Returns the audience of an assertion. For a host of Salesforce, it is the login host of production, or that of
 * sandboxes and scratch orgs, never the org's My Domain. For any other host, it is the host itself.
 */
export function audienceOf(loginUrl: string): string {
  const { hostname } = new URL(loginUrl);
  if (hostname !== 'salesforce.com' && !hostname.endsWith('.salesforce.com')) return loginUrl;
  const isTest = hostname === 'test.salesforce.com' || testOrg.test(hostname);
  return isTest ? 'https://test.salesforce.com' : 'https://login.salesforce.com';
}

/** Advice for a refused login, by the text of Salesforce's message. */
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
  // Personal data goes to the host that Salesforce names, so the connection must use TLS. Tests reach their fake org
  // through "baseUrl".
  return protocol === 'https:' || protocol === 'http:' ? origin.replace(/^http:/, 'https:') : undefined;
}
