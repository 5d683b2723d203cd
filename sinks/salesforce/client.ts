import type { Dispatcher } from 'undici';
import { request } from 'undici';
import { isLoopback } from '../../config/loopback.js';
import { createDispatcher } from '../network/create-dispatcher.js';
import { noAnswerSentence } from '../network/no-answer-sentence.js';
import { answeredAtMs, headerText, parsedJson, readText } from '../network/read-answer.js';
import { RollingLimiter } from '../network/rolling-limiter.js';
import { withinDeadline } from '../network/within-deadline.js';
import type { SinkEnvironment } from '../sink.js';
import { ApiUsage } from './api-usage.js';
import { CallFailure, CallsEnded } from './call-failure.js';
import { type Answer, classifyAnswer } from './classify-answer.js';
import type { SalesforceConfig } from './config.js';
import { type Session, Sessions, tokenUrlOf } from './session.js';

/** Requests under way at once, and connections held to the org. Salesforce counts 25 long ones for the whole org. */
const CONNECTIONS = 5;
const CONNECT_TIMEOUT_MS = 10_000;
/** Salesforce ends a request after 120 s at most; a call of 200 records takes seconds. */
export const REQUEST_TIMEOUT_MS = 60_000;
const LONGEST_ANSWER_BYTES = 16 * 1024 * 1024;

/** A turn in which calls may be made. */
export interface Turn {
  readonly signal: AbortSignal;
  /** Asked before each call. */
  readonly mayBegin: () => boolean;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/services/data/vXX.X/`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The object that the call is about: answered with 404, the user has no access to it. */
  readonly object?: string;
}

/** An answer that says something of what was asked: 2xx, or a refusal of the request with its reason. */
export type CallAnswer = Answer & {
  readonly refused: { readonly code: string; readonly fields: readonly string[] } | null;
};

type RequestOptions = Omit<Dispatcher.RequestOptions, 'origin' | 'path'>;

export interface ClientTuning {
  /** Unix time in ms. */
  readonly now?: () => number;
  readonly requestTimeoutMs?: number;
}

/** The calls to one org, in one session, for all lanes of a sink. Does not retry, but for a session that has ended. */
export class SalesforceClient {
  readonly #config: SalesforceConfig;
  readonly #environment: SinkEnvironment;
  readonly #now: () => number;
  readonly #requestTimeoutMs: number;
  readonly #sessions: Sessions;
  readonly #dispatchers = new Map<string, Dispatcher>();
  readonly #limiter: RollingLimiter | undefined;
  readonly #usage: ApiUsage;
  /** Nobody asks before this instant: Salesforce said so. */
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #heldFor = '';

  constructor(config: SalesforceConfig, environment: SinkEnvironment, tuning: ClientTuning = {}) {
    this.#config = config;
    this.#environment = environment;
    this.#now = tuning.now ?? Date.now;
    this.#requestTimeoutMs = tuning.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const { per10s, perDay } = environment.limits ?? {};
    const makeLimiter = (most: number): RollingLimiter => new RollingLimiter({ limit: most, windowMs: 10_000 }, most);
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
    this.#sessions = new Sessions(config, this.#dispatcherFor(tokenUrlOf(config)), this.#now);
  }

  /** What a person chose for rules of the org that work on records as they are saved. */
  get saving(): Pick<SalesforceConfig, 'assignmentRule' | 'duplicateAlerts'> {
    return this.#config;
  }

  /**
   * @throws {CallFailure} when there was no answer, or one that concerns everything
   * @throws {CallsEnded} when nothing more may be begun
   */
  async call(call: Call, turn: Turn): Promise<CallAnswer> {
    if (turn.signal.aborted || !turn.mayBegin()) throw new CallsEnded();
    const session = await this.#sessions.get(turn.signal);
    const answer = await this.#callIn(session, call, turn);
    if (answer !== undefined) return answer;
    this.#sessions.end(session);
    const renewed = await this.#callIn(await this.#sessions.get(turn.signal), call, turn);
    if (renewed !== undefined) return renewed;
    throw new CallFailure({
      kind: 'pause',
      cause: 'credential',
      detail: 'Salesforce refuses a session that it has just given (HTTP 401): look at the login history of the user',
    });
  }

  /** Logs in, where there is no session yet. @throws {CallFailure} */
  async logIn(signal: AbortSignal): Promise<void> {
    await this.#sessions.get(signal);
  }

  /** Forgets how long Salesforce asked to wait. */
  tryNow(): void {
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    this.#sessions.tryNow();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.close()));
  }

  /** Undefined: the session has ended. */
  async #callIn(
    session: Session,
    { method, path, body, headers, object }: Call,
    turn: Turn,
  ): Promise<CallAnswer | undefined> {
    const permit = await this.#permit(turn);
    try {
      const url = new URL(
        `${this.#config.baseUrl ?? session.instanceUrl}/services/data/${this.#config.apiVersion}/${path}`,
      );
      const answer = await this.#request(url, turn.signal, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${session.token.secret.reveal()}`,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
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

  async #permit(turn: Turn): Promise<{ done(): void } | undefined> {
    if (turn.signal.aborted || !turn.mayBegin()) throw new CallsEnded();
    const now = this.#now();
    if (now < this.#heldUntilMs) {
      throw new CallFailure({ kind: 'retry', afterMs: this.#heldUntilMs - now, detail: this.#heldFor });
    }
    const spentForMs = this.#usage.spentForMs(now);
    if (spentForMs !== undefined) {
      const detail = 'the org has used as many API requests in 24 hours as "limits.perDay" allows';
      throw new CallFailure({ kind: 'retry', afterMs: spentForMs, detail });
    }
    if (this.#limiter === undefined) return undefined;
    const permit = await this.#limiter.take(turn.signal, 20_000);
    if (permit === undefined) throw new CallsEnded();
    return permit;
  }

  /** @throws {CallFailure} when no whole answer came */
  async #request(url: URL, signal: AbortSignal, options: RequestOptions): Promise<Answer> {
    const timeoutMs = this.#requestTimeoutMs;
    try {
      return await withinDeadline(signal, timeoutMs, (own) => this.#exchange(url, own, options));
    } catch (error) {
      const detail = noAnswerSentence(error, { host: url.host, name: 'Salesforce', timeoutMs });
      throw new CallFailure({ kind: 'retry', detail });
    }
  }

  async #exchange(url: URL, signal: AbortSignal, options: RequestOptions): Promise<Answer> {
    const { statusCode, headers, body } = await request(url, {
      ...options,
      headers: { ...(options.headers as Record<string, string>), 'user-agent': 'pigeonpost' },
      dispatcher: this.#dispatcherFor(url),
      signal,
    });
    const text = await readText(body, LONGEST_ANSWER_BYTES);
    if (text === undefined) throw new RangeError('longer than any answer that was asked for');
    this.#usage.note(headerText(headers['sforce-limit-info']), this.#now());
    return {
      status: statusCode,
      body: parsedJson(text),
      requestId: requestIdOf(headers),
      retryAfter: headerText(headers['retry-after']),
      answeredAtMs: answeredAtMs(headers.date, this.#now),
    };
  }

  #dispatcherFor(url: URL): Dispatcher {
    let dispatcher = this.#dispatchers.get(url.origin);
    if (dispatcher === undefined) {
      dispatcher = createDispatcher(url, this.#environment.network, {
        // The org's address is Salesforce's answer: it leads to loopback only where the configuration allows that.
        allowPrivateAddresses:
          this.#config.allowPrivateAddresses === true || (url.protocol === 'http:' && isLoopback(url.hostname)),
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        connections: CONNECTIONS,
      });
      this.#dispatchers.set(url.origin, dispatcher);
    }
    return dispatcher;
  }
}

function requestIdOf(headers: Record<string, string | string[] | undefined>): string | undefined {
  const found = headerText(headers['x-sfdc-request-id']) ?? headerText(headers['x-request-id']);
  return found !== undefined && /^[\w.:=-]{1,128}$/.test(found) ? found : undefined;
}
