import { isLoopback } from '../../base/loopback.js';
import { RollingLimiter } from '../network/rolling-limiter.js';
import { type CallBudget, type RestAnswer, RestClient } from '../rest/rest-client.js';
import type { SinkEnvironment } from '../sink.js';
import { CallFailure, CallsEnded } from './operation.js';
import { classifyAnswer, saidErrors } from './classify.js';
import type { SalesforceConfig } from './config.js';
import { type Session, Sessions, tokenUrlOf } from './sessions.js';

/**
 * Maximum number of open connections to the org, and so of requests in progress. Salesforce allows 25 long requests for
 * the whole org, and 5 in a Developer Edition or trial org.
 */
const CONNECTIONS = 5;
/** A call with 200 records takes seconds. Salesforce may continue a call for 10 minutes after this time. */
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

/** Calls one org in one session, for all lanes of a sink. Repeats a call only if its session has expired. */
export class SalesforceClient {
  readonly #config: SalesforceConfig;
  readonly #environment: SinkEnvironment;
  readonly #now: () => number;
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

  constructor(config: SalesforceConfig, environment: SinkEnvironment) {
    this.#config = config;
    this.#environment = { requestTimeoutMs: REQUEST_TIMEOUT_MS, ...environment };
    this.#now = environment.now;
    const { per10s, perDay } = environment.limits ?? {};
    const account = {
      type: 'salesforce',
      baseUrl: config.baseUrl ?? config.loginUrl,
      credential: `${config.clientId} ${config.username ?? ''}`,
      limits: environment.limits,
    };
    this.#limiter =
      per10s === undefined
        ? undefined
        : environment.accounts.share(
            account,
            'requests',
            () => new RollingLimiter({ limit: per10s, windowMs: 10_000 }, per10s),
          );
    this.#usage = new ApiUsage(perDay ?? Number.POSITIVE_INFINITY);
    this.#sessions = new Sessions(config, this.#hostFor(tokenUrlOf(config)), this.#now);
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
      if (answer.kind === 'no-answer') {
        throw new CallFailure({ kind: 'retry', detail: answer.detail }, { mayBeOpen: answer.mayHaveArrived });
      }
      this.#usage.note(answer.headers['sforce-limit-info'], this.#now());
      if (answer.text === undefined) {
        const detail = `${url.host} sent an answer that is longer than pigeonpost reads`;
        throw new CallFailure({ kind: 'retry', detail }, { mayBeOpen: true });
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
          // An answer with a code is from Salesforce, which has ended the call then. Others may be from a proxy.
          throw new CallFailure(meaning.result, {
            mayBeOpen: saidErrors(answer.body).every(({ code }) => code === ''),
          });
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
        environment: this.#environment,
        // The org's host comes from Salesforce's answer to the login. It may be a loopback address only if the
        // configuration allows it.
        allowPrivateAddresses:
          this.#config.allowPrivateAddresses === true || (url.protocol === 'http:' && isLoopback(url.hostname)),
        connections: CONNECTIONS,
        requestIdHeaders: ['x-sfdc-request-id', 'x-request-id'],
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
