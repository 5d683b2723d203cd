import type { Dispatcher } from 'undici';
import { Secret } from '../../config/secret.js';
import { mayReachPrivate } from '../network/address-policy.js';
import { answerExcerpt, textsOfAddress } from '../network/answer-excerpt.js';
import { parsedJson } from '../network/read-answer.js';
import { retryAfterMs } from '../../base/retry-after.js';
import { ownLimitReached, type Permit, RollingLimiter } from '../network/rolling-limiter.js';
import { withoutAnswers } from '../network/exchange-log.js';
import { shownAddress } from '../network/shown-address.js';
import { type Token, TokenFailure } from '../rest/request-token.js';
import { TokenSource } from '../rest/token-source.js';
import { type RestAnswer, RestClient } from '../rest/rest-client.js';
import type { Result, SinkEnvironment } from '../sink.js';
import type { HttpConfig } from './config.js';
import { addressOf, bodyText, type PlannedRequest } from './write-request.js';

export const CONNECTIONS = 8;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Maximum wait for a permit under `limits`. */
const MAX_PERMIT_WAIT_MS = 10_000;

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** The parsed JSON, with integers beyond 2^53 as texts; the text if it is not JSON. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly afterMs: number | undefined;
  /** Returns what the receiver says about a refusal; see `answerExcerpt`. */
  readonly excerpt: () => string | undefined;
}

/** There was no answer. `result` applies to all items of the request. */
export type NoAnswer = {
  readonly kind: 'none';
  readonly result: Extract<Result, { kind: 'retry' | 'pause' | 'unsent' }>;
  /** Whether the receiver may have carried out the request. */
  readonly mayHaveArrived?: boolean;
};

/**
 * Calls one receiver, for all lanes of a sink. Makes each call once. After a 401, makes it once more with a new token.
 */
export class HttpClient {
  readonly host: string;
  readonly #config: HttpConfig;
  readonly #baseUrl: string;
  readonly #rest: RestClient;
  readonly #tokenHost: RestClient | undefined;
  readonly #tokens: TokenSource | undefined;
  readonly #limiters: readonly RollingLimiter[];
  readonly #now: () => number;
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(config: HttpConfig, environment: SinkEnvironment) {
    this.#config = config;
    this.#baseUrl = typeof config.baseUrl === 'string' ? config.baseUrl : config.baseUrl.reveal();
    this.#now = environment.now;
    this.host = new URL(this.#baseUrl).host;
    const clientFor = (url: URL): RestClient =>
      new RestClient({
        url,
        environment,
        allowPrivateAddresses: mayReachPrivate(url, config),
        connections: CONNECTIONS,
        maxAnswerBytes: MAX_ANSWER_BYTES,
        ...(config.baseUrl instanceof Secret && {
          shown: (address: string) => shownAddress(address, { isSecret: true }),
        }),
      });
    this.#rest = clientFor(new URL(this.#baseUrl));
    const { auth } = config;
    if (auth.type === 'oauth') {
      const tokenUrl = new URL(auth.tokenUrl);
      this.#tokenHost = clientFor(tokenUrl);
      this.#tokens = new TokenSource({
        tokenUrl,
        grant: auth.grant,
        rest: this.#tokenHost,
        name: tokenUrl.host,
        keys:
          auth.grant.kind === 'jwt-bearer'
            ? '"auth.privateKey" and "auth.claims"'
            : '"auth.clientId" and "auth.clientSecret"',
        now: this.#now,
      });
    }
    this.#limiters = limitersOf(config, environment);
  }

  /** Makes a planned request. Never throws. */
  async call(planned: PlannedRequest, signal: AbortSignal, idempotencyKey?: string): Promise<Answer | NoAnswer> {
    const first = await this.#callOnce(planned, signal, idempotencyKey);
    if (first.kind !== 'answer' || first.status !== 401 || first.token === undefined) return first;
    this.#tokens?.end(first.token);
    return await this.#callOnce(planned, signal, idempotencyKey);
  }

  /** Checks whether the base address can be reached, with a HEAD request, which changes nothing. */
  async reach(signal: AbortSignal): Promise<Answer | NoAnswer> {
    const head: Exchange = { method: 'HEAD', url: new URL(this.#baseUrl), headers: {} };
    return await this.#exchange(head, signal);
  }

  /** Milliseconds for which `limits` allow no request, if that is too long to wait for; otherwise 0. */
  get usedUpForMs(): number {
    // The difference of two instants may be a fraction of a microsecond longer than the window.
    const forMs = Math.floor(Math.max(0, ...this.#limiters.map((limiter) => limiter.usedUpForMs)));
    return forMs > MAX_PERMIT_WAIT_MS ? forMs : 0;
  }

  tryNow(): void {
    this.#quietUntilMs = Number.NEGATIVE_INFINITY;
    this.#tokens?.tryNow();
    for (const limiter of this.#limiters) limiter.reopen();
  }

  async close(): Promise<void> {
    await Promise.all([this.#rest.close(), this.#tokenHost?.close()]);
  }

  async #callOnce(
    planned: PlannedRequest,
    signal: AbortSignal,
    idempotencyKey: string | undefined,
  ): Promise<(Answer & { readonly token?: Token | undefined }) | NoAnswer> {
    if (signal.aborted) return unsent;
    const quietForMs = this.#quietUntilMs - this.#now();
    if (quietForMs > 0) {
      return noAnswer({ kind: 'retry', afterMs: quietForMs, detail: `${this.host} requested a pause` });
    }
    const { usedUpForMs } = this;
    if (usedUpForMs > 0) return noAnswer({ kind: 'retry', afterMs: Math.ceil(usedUpForMs), detail: ownLimitReached });
    let token: Token | undefined;
    try {
      token = await this.#tokens?.get(signal);
    } catch (error) {
      return error instanceof TokenFailure ? noAnswer(error.result) : unsent;
    }
    const permits: Permit[] = [];
    try {
      for (const limiter of this.#limiters) {
        const permit = await limiter.take(signal, MAX_PERMIT_WAIT_MS);
        if (permit === undefined) return unsent;
        permits.push(permit);
      }
      const answer = await this.#exchange(this.#write(planned, token, idempotencyKey), signal);
      if (answer.kind === 'answer' && [429, 503].includes(answer.status) && answer.afterMs !== undefined) {
        this.#quietUntilMs = Math.max(this.#quietUntilMs, this.#now() + answer.afterMs);
      }
      return answer.kind === 'answer' ? { ...answer, token } : answer;
    } finally {
      for (const permit of permits) permit.done();
    }
  }

  /** Adds address and credentials to a planned request. */
  #write(planned: PlannedRequest, token: Token | undefined, idempotencyKey: string | undefined): Exchange {
    const { auth, idempotencyHeader } = this.#config;
    const { method, encoding } = planned;
    const url = addressOf(this.#baseUrl, planned.url);
    let { body } = planned;
    const headers: Record<string, string> = { ...planned.headers };
    if (idempotencyHeader !== undefined && idempotencyKey !== undefined) headers[idempotencyHeader] = idempotencyKey;
    if (auth.type === 'bearer') headers['authorization'] = `Bearer ${auth.token.reveal()}`;
    if (token !== undefined) headers['authorization'] = `Bearer ${token.secret.reveal()}`;
    if (auth.type === 'header') headers[auth.name.toLowerCase()] = auth.value.reveal();
    if (auth.type === 'basic') {
      const user = `${auth.username.reveal()}:${auth.password?.reveal() ?? ''}`;
      headers['authorization'] = `Basic ${Buffer.from(user).toString('base64')}`;
    }
    if (auth.type === 'parameter') {
      if (encoding === 'form' && method !== 'GET') body = { ...(body as object), [auth.name]: auth.value.reveal() };
      else url.searchParams.append(auth.name, auth.value.reveal());
    }
    if (body === undefined) return { method, url, headers };
    headers['content-type'] = encoding === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
    return { method, url, headers, body: bodyText(body, encoding) };
  }

  async #exchange(exchange: Exchange, signal: AbortSignal): Promise<Answer | NoAnswer> {
    const call = () => this.#rest.call(exchange, signal);
    // A key in the form of a request cannot be recognized in an answer that repeats the form.
    const answer = await (this.#config.auth.type === 'parameter' ? withoutAnswers(call) : call());
    if (answer.kind === 'no-answer') {
      const { detail, mayHaveArrived } = answer;
      return { ...noAnswer({ kind: 'retry', detail }), mayHaveArrived };
    }
    const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, value ?? '']));
    const body = bodyOf(answer);
    const afterMs = retryAfterMs(answer.retryAfter, answer.answeredAtMs);
    const { status } = answer;
    const excerpt = (): string | undefined => answerExcerpt({ body, status, sent: this.#textsOf(exchange) });
    return { kind: 'answer', status, body, headers, afterMs, excerpt };
  }

  /** Returns everything that a request contained or proved, so that it can be hidden in the answer. */
  #textsOf({ url, headers, body }: Exchange): unknown[] {
    const { auth } = this.#config;
    const login = auth.type === 'basic' ? [auth.username.reveal(), auth.password?.reveal()] : [];
    const sentBody = parsedJson(body) ?? (body === undefined ? [] : [...new URLSearchParams(body).values()]);
    return [...textsOfAddress(url), ...Object.values(headers), ...login, sentBody];
  }
}

/**
 * Returns the body of an answer as JSON, or as text if it is not JSON. Integers beyond 2^53 become texts. As numbers,
 * they would lose digits, and an id would refer to another record.
 */
function bodyOf({ body, text }: Pick<RestAnswer, 'body' | 'text'>): unknown {
  if (body === undefined || text === undefined) return text;
  if (!/\d{16}/.test(text)) return body;
  const quoted = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
  return parsedJson(quoted);
}

interface Exchange {
  readonly method: Dispatcher.HttpMethod;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const unsent: NoAnswer = { kind: 'none', result: { kind: 'unsent' } };

function noAnswer(result: NoAnswer['result']): NoAnswer {
  return { kind: 'none', result };
}

/** Creates the limiters for the preset's limits, which the sink's `limits` replace. */
function limitersOf(config: HttpConfig, environment: SinkEnvironment): RollingLimiter[] {
  const own = environment.limits;
  const { perSecond, ...granted } = config.limits ?? {};
  const limits = { ...(own?.per10s === undefined && perSecond !== undefined && { perSecond }), ...granted, ...own };
  const { auth, baseUrl } = config;
  const account = {
    type: 'http',
    baseUrl: new URL(typeof baseUrl === 'string' ? baseUrl : baseUrl.reveal()).host,
    credential: credentialOf(auth),
    limits,
  };
  return Object.entries(windowsMs).flatMap(([kind, windowMs]) => {
    const limit = limits[kind as keyof typeof windowsMs];
    if (limit === undefined) return [];
    return [environment.accounts.share(account, kind, () => new RollingLimiter({ limit, windowMs }, limit))];
  });
}

const windowsMs = { perSecond: 1000, per10s: 10_000, perDay: 24 * 60 * 60 * 1000 } as const;

function credentialOf(auth: HttpConfig['auth']) {
  switch (auth.type) {
    case 'none':
      return '';
    case 'bearer':
      return auth.token;
    case 'basic':
      return auth.username;
    case 'oauth':
      return auth.grant.kind === 'jwt-bearer' ? auth.grant.privateKey : auth.grant.clientId;
    default:
      return auth.value;
  }
}
