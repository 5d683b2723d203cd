import type { RollingLimiter } from '../network/rolling-limiter.js';
import { CutShort } from '../network/within-deadline.js';
import { TokenFailure, type Token } from '../rest/request-token.js';
import type { TokenSource } from '../rest/token-source.js';
import type { NoAnswer, RestAnswer, RestClient } from '../rest/rest-client.js';
import { type Result, fieldsOf } from '../sink.js';

/** Maximum wait of a request for a permit under the account's limits. */
const MAX_PERMIT_WAIT_MS = 15_000;

/** `body` is undefined unless the status is 200. */
export type LrsAnswer = Pick<
  RestAnswer,
  'kind' | 'status' | 'body' | 'headers' | 'retryAfter' | 'answeredAtMs' | 'requestId'
>;

export interface NoLrsAnswer extends NoAnswer {
  /** Set if the token request failed: its result, which is `pause` if the token endpoint refuses the credentials. */
  readonly result?: Extract<Result, { readonly kind: 'retry' | 'pause' }>;
}

interface LrsOptions {
  /** The configured address of the LRS. */
  readonly endpoint: URL;
  /** The header `Authorization` of Basic authentication; empty if there are `tokens`. */
  readonly basic: string;
  readonly tokens?: TokenSource;
  readonly rest: RestClient;
  /** Unix time in ms. */
  readonly now: () => number;
  /** The limiters of the account; empty if no limits are configured. */
  readonly limiters: readonly RollingLimiter[];
}

/**
 * Calls a Learning Record Store. Reads the version of xAPI before the first call, and again after a refusal. Never
 * throws.
 */
export class Lrs {
  readonly host: string;
  readonly #options: LrsOptions;
  #quietUntil = 0;
  #version: XapiVersion | undefined;

  constructor(options: LrsOptions) {
    this.#options = options;
    this.host = options.endpoint.host;
  }

  /** The remaining time of the wait that the LRS requested, in ms; 0 if there is none. */
  get quietForMs(): number {
    return Math.max(0, this.#quietUntil - this.#options.now());
  }

  /** Stops the calls of all lanes for this time, because the LRS requested a wait. */
  keepQuiet(forMs: number): void {
    this.#quietUntil = Math.max(this.#quietUntil, this.#options.now() + forMs);
  }

  /** Stores statements in the LRS. @param body a JSON array of statements */
  async postStatements(body: string, signal: AbortSignal): Promise<LrsAnswer | NoLrsAnswer> {
    return await this.#inItsVersion('POST', this.#url('/statements'), signal, body);
  }

  /**
   * Reads a statement by its id: status 200 with the statement, or 404. Ralph (github.com/openfun/ralph) answers such a
   * request with a list of none or one, and 200, unlike xAPI 1.0.3, Communication, 2.1.3; the result is the same.
   */
  async getStatement(
    parameter: 'statementId' | 'voidedStatementId',
    id: string,
    signal: AbortSignal,
  ): Promise<LrsAnswer | NoLrsAnswer> {
    const answer = await this.#inItsVersion('GET', this.#url('/statements', { [parameter]: id }), signal);
    const list = answer.kind === 'answer' && answer.status === 200 ? fieldsOf(answer.body)['statements'] : undefined;
    if (answer.kind !== 'answer' || !Array.isArray(list)) return answer;
    const body: unknown = list.find((each) => fieldsOf(each)['id'] === id);
    return body === undefined ? { ...answer, status: 404 } : { ...answer, body };
  }

  /** Reads a list of statements that has no entries, because all of them would have to be stored tomorrow. */
  async getNoStatements(signal: AbortSignal): Promise<LrsAnswer | NoLrsAnswer> {
    const since = new Date(this.#options.now() + 24 * 60 * 60 * 1000).toISOString();
    return await this.#inItsVersion('GET', this.#url('/statements', { since, limit: '1' }), signal);
  }

  /** Reads the versions of xAPI that the LRS supports. This request needs no version header. */
  async getAbout(signal: AbortSignal): Promise<LrsAnswer | NoLrsAnswer> {
    const answer = await this.#ask({ method: 'GET', url: this.#url('/about'), version: undefined }, signal);
    // If the LRS has no About resource, it is assumed to support 1.0.3, the most common version. If the LRS is busy or
    // fails, the versions are read again before the next call.
    const hasSpoken = answer.kind === 'answer' && answer.status < 500 && answer.status !== 429;
    if (hasSpoken) this.#version = versionIn(answer.body) ?? '1.0.3';
    return answer;
  }

  /**
   * Makes the next call read the version again, because a refusal may mean that the LRS now supports another version.
   */
  forgetVersion(): void {
    this.#version = undefined;
  }

  tryNow(): void {
    this.#quietUntil = 0;
    this.#options.tokens?.tryNow();
  }

  async #inItsVersion(method: 'GET' | 'POST', url: URL, signal: AbortSignal, body?: string) {
    if (this.#version === undefined) {
      const about = await this.getAbout(signal);
      if (about.kind === 'no-answer') return { ...about, mayHaveArrived: false };
    }
    const knownVersion = this.#version;
    const answer = await this.#ask({ method, url, body, version: knownVersion ?? '1.0.3' }, signal);
    if (knownVersion !== undefined || answer.kind !== 'answer' || answer.status !== 400) return answer;
    const detail = `${this.host} does not report its version of xAPI, and refused a request with version 1.0.3 (HTTP 400)`;
    return { kind: 'no-answer', detail, mayHaveArrived: false } as const;
  }

  #url(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(`${this.#options.endpoint.href.replace(/\/+$/, '')}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  async #ask(call: Call, signal: AbortSignal): Promise<LrsAnswer | NoLrsAnswer> {
    const { token, answer } = await this.#askWithPermits(call, signal);
    if (answer.kind !== 'answer' || answer.status !== 401 || token === undefined) return answer;
    // A token may become invalid before it expires. The LRS has done nothing, so the call is repeated once with a new
    // token.
    this.#options.tokens?.end(token);
    return (await this.#askWithPermits(call, signal)).answer;
  }

  async #askWithPermits(call: Call, signal: AbortSignal): Promise<Asked> {
    const permits = [];
    try {
      for (const limiter of this.#options.limiters) {
        const permit = await limiter.take(signal, MAX_PERMIT_WAIT_MS);
        if (permit === undefined) return notSent('the request received no permit under "limits"');
        permits.push(permit);
      }
      return await this.#askNow(call, signal);
    } finally {
      for (const permit of permits) permit.done();
    }
  }

  async #askNow(call: Call, signal: AbortSignal): Promise<Asked> {
    const { rest, basic, tokens } = this.#options;
    let token: Token | undefined;
    try {
      token = await tokens?.get(signal);
    } catch (error) {
      if (error instanceof CutShort) return notSent('stopped before the LRS answered');
      if (!(error instanceof TokenFailure)) throw error;
      return notSent(error.message, error.result);
    }
    const { method, url, body, version } = call;
    const headers = {
      authorization: token === undefined ? basic : `Bearer ${token.secret.reveal()}`,
      ...(version !== undefined && { 'x-experience-api-version': version }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    // If the body of a success is incomplete, the answer still counts, because the status says that the LRS has stored
    // the statements.
    const request = { method, url, headers, statusDecides: true, ...(body !== undefined && { body }) };
    const answer = await rest.call(request, signal);
    if (answer.kind === 'no-answer') return { token, answer };
    return { token, answer: { ...answer, body: answer.status === 200 ? answer.body : undefined } };
  }
}

interface Asked {
  /** The access token of the request, if it was made with one. */
  readonly token?: Token | undefined;
  readonly answer: LrsAnswer | NoLrsAnswer;
}

function notSent(detail: string, result?: NoLrsAnswer['result']): Asked {
  return { answer: { kind: 'no-answer', detail, mayHaveArrived: false, ...(result !== undefined && { result }) } };
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly body?: string | undefined;
  /** Undefined if the resource needs no version. */
  readonly version: XapiVersion | undefined;
}

/** The value of `X-Experience-API-Version`. If an LRS does not report its version, 1.0.3 is used, which most accept. */
type XapiVersion = '1.0.3' | '2.0.0';

/**
 * Returns the version to use, from an answer of the About resource; undefined if pigeonpost supports none of the
 * versions in it. If the LRS supports both, 1.0.3 is used, so that existing and new statements have the same version.
 * The statements are the same in both versions: their timestamps are in UTC, which 2.0 requires. Sources: xAPI 1.0.3,
 * Communication, 2.8 "About Resource" and 3.3 "Versioning"; for 2.0 (IEEE 9274.1.1) adlnet/lrs-conformance-test-suite,
 * test/v2_0 (About Resource, Versioning).
 */
export function versionIn(about: unknown): XapiVersion | undefined {
  const { version } = fieldsOf(about);
  const known = Array.isArray(version) ? version.filter((each): each is string => typeof each === 'string') : [];
  if (known.some((each) => /^1\.0(\.\d+)?$/.test(each))) return '1.0.3';
  return known.some((each) => /^2\.0(\.\d+)?$/.test(each)) ? '2.0.0' : undefined;
}
