import { request, type Dispatcher } from 'undici';
import { neverArrived } from '../network/failure-sentence.js';
import { noAnswerSentence } from '../network/no-answer-sentence.js';
import { answeredAtMs, headerText, parsedJson, readText } from '../network/read-answer.js';
import type { RollingLimiter } from '../network/rolling-limiter.js';
import { withinDeadline } from '../network/within-deadline.js';

/** Of an answer that is a statement, or a list of ids, this much is read; a statement of ours has a few KiB. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Longest that a request waits for its turn among those that the account grants. */
const LONGEST_TURN_MS = 15_000;

export interface LrsAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Parsed JSON of a success; undefined: it was none, or did not come to its end. */
  readonly body: unknown;
  readonly retryAfter: string | undefined;
  /** Unix time in ms, by the LRS's own clock where it says. */
  readonly answeredAtMs: number;
  /** As the LRS, or what stands before it, names the request; for a person who asks its operator. */
  readonly requestId: string | undefined;
}

/** No answer came. */
export interface LrsSilence {
  readonly kind: 'silence';
  /** A sentence without secret or content. */
  readonly detail: string;
  /** What was sent may have been stored all the same. */
  readonly mayHaveArrived: boolean;
}

export interface LrsOptions {
  /** Ends without a slash. */
  readonly endpoint: URL;
  readonly authorization: string;
  readonly dispatcher: Dispatcher;
  readonly requestTimeoutMs: number;
  /** Unix time in ms. */
  readonly now: () => number;
  /** What the account grants, where somebody said so. */
  readonly limiters: readonly RollingLimiter[];
}

/** An xAPI 1.0.3 Learning Record Store: the two calls of its Statement Resource that are needed, each made once. Never throws. */
export class Lrs {
  readonly host: string;
  readonly #options: LrsOptions;
  #quietUntil = 0;

  constructor(options: LrsOptions) {
    this.#options = options;
    this.host = options.endpoint.host;
  }

  /** How long it has asked everybody to leave it alone; 0: it has not. */
  get quietForMs(): number {
    return Math.max(0, this.#quietUntil - this.#options.now());
  }

  /** It asks for a pause, on whichever lane. */
  keepQuiet(forMs: number): void {
    this.#quietUntil = Math.max(this.#quietUntil, this.#options.now() + forMs);
  }

  /** @param body a JSON array of statements */
  async postStatements(body: string, signal: AbortSignal): Promise<LrsAnswer | LrsSilence> {
    return await this.#ask('POST', this.#url('/statements'), signal, body);
  }

  async getStatement(
    parameter: 'statementId' | 'voidedStatementId',
    id: string,
    signal: AbortSignal,
  ): Promise<LrsAnswer | LrsSilence> {
    return await this.#ask('GET', this.#url('/statements', { [parameter]: id }), signal);
  }

  async getAbout(signal: AbortSignal): Promise<LrsAnswer | LrsSilence> {
    return await this.#ask('GET', this.#url('/about'), signal);
  }

  #url(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(`${this.#options.endpoint.href.replace(/\/+$/, '')}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  async #ask(method: 'GET' | 'POST', url: URL, signal: AbortSignal, body?: string): Promise<LrsAnswer | LrsSilence> {
    const permits = [];
    try {
      for (const limiter of this.#options.limiters) {
        const permit = await limiter.take(signal, LONGEST_TURN_MS);
        if (permit === undefined) return { kind: 'silence', detail: 'waits for its turn', mayHaveArrived: false };
        permits.push(permit);
      }
      return await this.#askNow(method, url, signal, body);
    } finally {
      for (const permit of permits) permit.done();
    }
  }

  async #askNow(method: 'GET' | 'POST', url: URL, signal: AbortSignal, body?: string): Promise<LrsAnswer | LrsSilence> {
    const timeoutMs = this.#options.requestTimeoutMs;
    try {
      return await withinDeadline(signal, timeoutMs, (own) => this.#exchange(method, url, own, body));
    } catch (error) {
      const detail = noAnswerSentence(error, { host: this.host, name: 'the LRS', timeoutMs });
      return { kind: 'silence', detail, mayHaveArrived: !neverArrived(error) };
    }
  }

  async #exchange(method: 'GET' | 'POST', url: URL, signal: AbortSignal, body?: string): Promise<LrsAnswer> {
    const { dispatcher, authorization, now } = this.#options;
    const answer = await request(url, {
      method,
      dispatcher,
      signal,
      headers: {
        authorization,
        'x-experience-api-version': '1.0.3',
        accept: 'application/json',
        'user-agent': 'pigeonpost',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    });
    const status = answer.statusCode;
    const header = (name: string): string | undefined => headerText(answer.headers[name]);
    const found: Omit<LrsAnswer, 'body'> = {
      kind: 'answer',
      status,
      retryAfter: header('retry-after'),
      answeredAtMs: answeredAtMs(answer.headers.date, now),
      requestId: requestIdOf(header('x-request-id') ?? header('x-amzn-requestid')),
    };
    if (status === 200) {
      const text = await readText(answer.body, MAX_ANSWER_BYTES).catch(() => undefined); // it may break off
      return { ...found, body: parsedJson(text) };
    }
    await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
    return { ...found, body: undefined };
  }
}

/** An id as it may be shown: nothing that could be a text of somebody. */
function requestIdOf(header: string | undefined): string | undefined {
  return header !== undefined && /^[\w.:=-]{1,128}$/.test(header) ? header : undefined;
}
