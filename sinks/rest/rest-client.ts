import { type Dispatcher, request } from 'undici';
import { createDispatcher } from '../network/create-dispatcher.js';
import { neverArrived, noAnswerSentence } from '../network/failure-sentence.js';
import { answeredAtMs, headerText, parsedJson, readText } from '../network/read-answer.js';
import { underOwnSignal, withinDeadline } from '../network/within-deadline.js';
import type { NetworkSettings } from '../sink.js';

const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface RestClientOptions {
  /** Every request goes to its origin. */
  readonly url: URL;
  /** The vendor's name in messages to people; by default the host. */
  readonly name?: string;
  readonly network: NetworkSettings;
  /** See `mayReachPrivate`. */
  readonly allowPrivateAddresses: boolean;
  /** Maximum number of open connections, and so of requests in progress. */
  readonly connections: number;
  /** Limit for one request from its start to the end of the answer; 30 s by default. */
  readonly requestTimeoutMs?: number | undefined;
  /** A longer answer is not read; 16 MiB by default. */
  readonly maxAnswerBytes?: number;
  /** Response headers that may hold the vendor's id of the request; the first one present is used. */
  readonly requestIdHeaders?: readonly string[];
  /** Unix time in ms. */
  readonly now?: (() => number) | undefined;
}

interface RestRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: URL | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is; needs its own `content-type` header. */
  readonly body?: string;
  /** Names the request in messages to people, where the vendor's name does not say enough. */
  readonly what?: string;
  /** Keeps the answer if its body breaks off or is not needed: the status decides. By default that is no answer. */
  readonly statusDecides?: boolean;
}

export interface RestAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Parsed JSON; undefined if the body is not JSON or was not read. */
  readonly body: unknown;
  /** Undefined if the body was too long or broke off. */
  readonly text: string | undefined;
  /** Names in lower case; the first value of each. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The `Retry-After` header as received; see `retryAfterMs`. */
  readonly retryAfter: string | undefined;
  /** Unix time in ms by the vendor's clock (`Date`), or by ours if the answer has no `Date`. */
  readonly answeredAtMs: number;
  /** Safe to show: at most 128 characters of an id. */
  readonly requestId: string | undefined;
}

export interface NoAnswer {
  readonly kind: 'no-answer';
  /** A sentence without path, query, secret or content. */
  readonly detail: string;
  /** False if the request certainly had no effect. */
  readonly mayHaveArrived: boolean;
}

/**
 * Connections to one vendor's API under the sink's network policy, shared by all lanes of the sink. Sends each request
 * once: retries, limits of the account and the meaning of an answer belong to the sink's own client.
 */
export class RestClient {
  readonly host: string;
  readonly dispatcher: Dispatcher;
  readonly #options: RestClientOptions;

  constructor(options: RestClientOptions) {
    const { url, network, allowPrivateAddresses, connections } = options;
    this.#options = options;
    this.host = url.host;
    this.dispatcher = createDispatcher(url, network, {
      allowPrivateAddresses,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      connections,
    });
  }

  /** Never throws: a request that was stopped, late or failed on the way is `no-answer`. */
  async call(call: RestRequest, signal: AbortSignal): Promise<RestAnswer | NoAnswer> {
    const { requestTimeoutMs: timeoutMs = REQUEST_TIMEOUT_MS, name = this.host } = this.#options;
    try {
      return await withinDeadline(signal, timeoutMs, (own) => this.#exchange(call, own));
    } catch (error) {
      const detail = noAnswerSentence(error, {
        host: this.host,
        name,
        timeoutMs,
        ...(call.what !== undefined && { what: call.what }),
      });
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
    const { maxAnswerBytes = MAX_ANSWER_BYTES, now = Date.now } = this.#options;
    const answer = await request(url, {
      method,
      dispatcher: this.dispatcher,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': 'pigeonpost',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: json === undefined ? (call.body ?? null) : JSON.stringify(json),
    });
    const headers: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(answer.headers)) headers[name] = headerText(value);
    const reading = readText(answer.body, maxAnswerBytes);
    const text = await (statusDecides === true ? reading.catch(() => undefined) : reading);
    return {
      kind: 'answer',
      status: answer.statusCode,
      body: parsedJson(text),
      text,
      headers,
      retryAfter: headers['retry-after'],
      answeredAtMs: answeredAtMs(headers['date'], now),
      requestId: this.#requestId(headers),
    };
  }

  /** Anything that does not look like an id could be a value of a record, and is not shown. */
  #requestId(headers: RestAnswer['headers']): string | undefined {
    const { requestIdHeaders = ['x-request-id'] } = this.#options;
    const id = requestIdHeaders.map((name) => headers[name]).find((found) => found !== undefined);
    return id !== undefined && /^[\w.:=-]{1,128}$/.test(id) ? id : undefined;
  }
}

/** The time in which one piece of a lane's work may start calls. */
export interface CallBudget {
  readonly signal: AbortSignal;
  /** Time left in ms, and so the longest wait for a permit; at 0 no further call starts. */
  readonly remainingMs: () => number;
}

/** Runs work with a budget that starts now. Counts on a monotonic clock, so that a changed clock cannot stretch a lease. */
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
