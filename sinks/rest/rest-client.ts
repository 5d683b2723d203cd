import { type Dispatcher, request } from 'undici';
import { createDispatcher } from '../network/create-dispatcher.js';
import { neverArrived, noAnswerSentence } from '../network/failure-sentence.js';
import { answeredAtMs, headerText, parsedJson, readText, requestIdOf } from '../network/read-answer.js';
import { underOwnSignal, withinDeadline } from '../network/within-deadline.js';
import type { SinkEnvironment } from '../sink.js';

const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface RestClientOptions {
  /** All requests go to the origin of this URL. */
  readonly url: URL;
  /** The vendor's name in messages; the host by default. */
  readonly name?: string;
  /**
   * The settings for connections, the clock and the time limit for one request, from its start to the end of the answer
   * (30 s by default).
   */
  readonly environment: Pick<SinkEnvironment, 'network' | 'now' | 'requestTimeoutMs'>;
  /** See `mayReachPrivate`. */
  readonly allowPrivateAddresses: boolean;
  /** Maximum number of open connections, and therefore of requests in progress. */
  readonly connections: number;
  /** Maximum length of an answer. A longer one is discarded. 16 MiB by default. */
  readonly maxAnswerBytes?: number;
  /** Returns an address without secrets, for the log of attempts. */
  readonly shown?: (address: string) => string;
  /** Response headers that may hold the vendor's id of the request; the first one present is used. */
  readonly requestIdHeaders?: readonly string[];
}

interface RestRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: URL | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. The caller must set the `content-type` header. */
  readonly body?: string;
  /** The name of the request in messages, if the vendor's name is not clear enough. */
  readonly what?: string;
  /** The time limit, if it differs from that of the client. */
  readonly timeoutMs?: number;
  /**
   * If true, an answer counts even if its body is incomplete, because only its status matters. By default, such an
   * answer is `no-answer`.
   */
  readonly statusDecides?: boolean;
}

export interface RestAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Parsed JSON; undefined if the body is not JSON, or was discarded or incomplete. */
  readonly body: unknown;
  /** Undefined if the body was too long or incomplete. */
  readonly text: string | undefined;
  /** The first value of each header, by name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The `Retry-After` header as received; see `retryAfterMs`. */
  readonly retryAfter: string | undefined;
  /**
   * Time of the answer, Unix time in ms: by the vendor's clock (header `Date`), or by ours if there is no such header.
   */
  readonly answeredAtMs: number;
  /** The vendor's id of the request. It is safe to show: it has the form of an id and at most 128 characters. */
  readonly requestId: string | undefined;
}

export interface NoAnswer {
  readonly kind: 'no-answer';
  /** A sentence that contains no path, query, secret or content. */
  readonly detail: string;
  /** False if the request certainly had no effect. */
  readonly mayHaveArrived: boolean;
}

/**
 * Calls one vendor's API under the sink's network policy, for all lanes of the sink. Sends each request once. The
 * sink's own client handles retries, the account's limits and the meaning of answers.
 */
export class RestClient {
  readonly host: string;
  readonly dispatcher: Dispatcher;
  readonly #options: RestClientOptions;

  constructor(options: RestClientOptions) {
    const { url, environment, allowPrivateAddresses, connections, shown } = options;
    this.#options = options;
    this.host = url.host;
    this.dispatcher = createDispatcher(url, environment.network, {
      allowPrivateAddresses,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      connections,
      shown,
    });
  }

  /** Makes a request. Never throws: if the request was stopped, timed out or failed, returns `no-answer`. */
  async call(call: RestRequest, signal: AbortSignal): Promise<RestAnswer | NoAnswer> {
    const { environment, name = this.host } = this.#options;
    const timeoutMs = call.timeoutMs ?? environment.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    try {
      return await withinDeadline(signal, timeoutMs, (own) => this.#exchange(call, own));
    } catch (error) {
      const detail = noAnswerSentence(error, { host: this.host, name, timeoutMs, what: call.what });
      return { kind: 'no-answer', detail, mayHaveArrived: !neverArrived(error) };
    }
  }

  async close(): Promise<void> {
    await this.dispatcher.close();
  }

  async #exchange(
    { method, url, json, statusDecides, ...call }: RestRequest,
    signal: AbortSignal,
  ): Promise<RestAnswer> {
    const { maxAnswerBytes = MAX_ANSWER_BYTES, requestIdHeaders = ['x-request-id'], environment } = this.#options;
    const answer = await request(url, {
      method,
      dispatcher: this.dispatcher,
      signal,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'pigeonpost',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: json === undefined ? (call.body ?? null) : JSON.stringify(json),
    });
    const headers: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(answer.headers)) headers[name] = headerText(value);
    const reading = readText(answer.body, maxAnswerBytes, headers['content-encoding']);
    const text = await (statusDecides === true ? reading.catch(() => undefined) : reading);
    return {
      kind: 'answer',
      status: answer.statusCode,
      body: parsedJson(text),
      text,
      headers,
      retryAfter: headers['retry-after'],
      answeredAtMs: answeredAtMs(headers['date'], environment.now),
      requestId: requestIdOf(headers, requestIdHeaders),
    };
  }
}

/** The time during which one `send` or similar work of a lane may start calls. */
export interface CallBudget {
  readonly signal: AbortSignal;
  /** Remaining time in ms, which is also the maximum wait for a permit. At 0, no more calls start. */
  readonly remainingMs: () => number;
}

/**
 * Runs work with a budget that starts now. Uses a monotonic clock, so that a change of the wall clock cannot make the
 * work longer than its lease.
 */
export async function withCallBudget<Result>(
  signal: AbortSignal,
  budgetMs: number,
  work: (budget: CallBudget) => Promise<Result>,
  clock: { now(): number } = performance,
): Promise<Result> {
  const untilMs = clock.now() + budgetMs;
  const remainingMs = (): number => Math.max(0, untilMs - clock.now());
  return await underOwnSignal(signal, (own) => work({ signal: own, remainingMs }));
}
