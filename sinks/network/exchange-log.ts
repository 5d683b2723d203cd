import { AsyncLocalStorage } from 'node:async_hooks';
import type { Dispatcher } from 'undici';
import { headerText, requestIdOf } from './read-answer.js';
import { shownAddress } from './shown-address.js';

/*
 * Records the calls that a sink makes during one `send`, for the log of attempts (decision 0115). Every connection of a sink
 * passes through `recorded`, so no sink has to record anything. A sink that makes a call for one change, or for some changes
 * of a batch, says so with `carrying`. Requests are not recorded here: the log shows the operation as `Sink.preview` shows it,
 * which has no secret and, in a batch, nothing of other items.
 */

/** A call that a sink made. */
export interface Exchange {
  readonly method: string;
  /** Without secrets. */
  readonly address: string;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly requestId: string | null;
  /** `performance.now()` at the start and at the end. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Returns the start of the answer's body without secrets; null: there is none, it is no text, or it is not recorded. */
  answer(): RecordedAnswer | null;
  /** The changes that the call was about; null: the sink does not say. */
  readonly changeIds: readonly string[] | null;
}

export interface RecordedAnswer {
  readonly body: string;
  /** Whether the body was longer. */
  readonly cut: boolean;
}

interface Recording {
  readonly log: Exchange[];
  readonly changeIds: readonly string[] | null;
  /** False if an answer may contain records that no change of the `send` is about. */
  readonly keepsAnswers: boolean;
}

const current = new AsyncLocalStorage<Recording | null>();

/** Runs `work`, and adds the calls that it makes to `log`. */
export function recordExchanges<Result>(log: Exchange[], work: () => Promise<Result>): Promise<Result> {
  return current.run({ log, changeIds: null, keepsAnswers: true }, work);
}

/** Runs `work`, whose calls are about these changes. */
export function carrying<Result>(changeIds: readonly string[], work: () => Result): Result {
  const recording = current.getStore();
  return recording == null ? work() : current.run({ ...recording, changeIds }, work);
}

/** Runs `work`, whose calls read records of others too: what they answer is not recorded. */
export function withoutAnswers<Result>(work: () => Result): Result {
  const recording = current.getStore();
  return recording == null ? work() : current.run({ ...recording, keepsAnswers: false }, work);
}

/** Runs `work` without recording its calls, because their answers are secrets. */
export function unrecorded<Result>(work: () => Result): Result {
  return current.run(null, work);
}

/** Maximum number of bytes of an answer that are recorded. */
const maxAnswerBytes = 4096;

/** Headers with the vendors' ids of a request, the most specific first. */
const requestIdHeaders = [
  'x-hubspot-correlation-id',
  'x-slack-req-id',
  'x-sfdc-request-id',
  'x-ms-service-request-id',
  'x-request-context-id',
  'x-amz-request-id',
  'x-request-id',
  'request-id',
  'x-correlation-id',
];

/** Returns an interceptor that records the calls of `recordExchanges`. @param shown returns an address without secrets */
export function recorded(shown: (address: string) => string = shownAddress): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (request, handler) => {
    const recording = current.getStore();
    return recording == null
      ? dispatch(request, handler)
      : dispatch(request, new RecordingHandler(request, handler, recording, shown));
  };
}

/**
 * Handles one request, and is its record: during a first load, a second object for each request would cost more than the
 * sink's own work on it.
 */
class RecordingHandler implements Dispatcher.DispatchHandler, Exchange {
  readonly startedAt = performance.now();
  endedAt = 0;
  status: number | null = null;
  #headers: Record<string, string | string[] | undefined> = {};
  #chunks: Buffer[] | undefined;
  #bytes = 0;

  constructor(
    private readonly request: Dispatcher.DispatchOptions,
    private readonly handler: Dispatcher.DispatchHandler,
    private readonly recording: Recording,
    private readonly shown: (address: string) => string,
  ) {}

  get method(): string {
    return this.request.method;
  }

  get address(): string {
    return this.shown(new URL(this.request.path, String(this.request.origin)).href);
  }

  get changeIds(): readonly string[] | null {
    return this.recording.changeIds;
  }

  get requestId(): string | null {
    return requestIdOf(this.#headers, requestIdHeaders) ?? null;
  }

  answer(): RecordedAnswer | null {
    if (this.status === null || !this.recording.keepsAnswers) return null;
    if (this.#chunks === undefined) return { body: '', cut: false };
    const encoding = headerText(this.#headers['content-encoding']);
    if (encoding !== undefined && encoding !== 'identity') return null;
    const text = new TextDecoder().decode(Buffer.concat(this.#chunks));
    const isCut = this.#bytes > maxAnswerBytes;
    // A character that was cut in the middle.
    const whole = isCut ? text.replace(/\uFFFD$/, '') : text;
    if (/[\0-\x08\x0e-\x1f]/.test(whole)) return null;
    return { body: withoutSecrets(whole, secretsOf(this.request, this.shown)), cut: isCut };
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.handler.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    this.handler.onRequestUpgrade?.(...given);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
    message?: string,
  ): void {
    if (status >= 200) {
      this.status = status;
      this.#headers = headers;
    }
    this.handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < maxAnswerBytes) (this.#chunks ??= []).push(chunk.subarray(0, maxAnswerBytes - this.#bytes));
    this.#bytes += chunk.byteLength;
    this.handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: Record<string, string | string[]>): void {
    this.#end();
    this.handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.handler.onResponseError?.(controller, error);
  }

  #end(): void {
    this.endedAt = performance.now();
    this.recording.log.push(this);
  }
}

/** Request headers whose values are no secrets. */
const harmless: ReadonlySet<string> = new Set(
  `accept accept-encoding accept-language content-type content-length user-agent host connection if-match if-none-match
  webhook-id webhook-timestamp x-amz-date x-amz-content-sha256 x-experience-api-version odata-version odata-maxversion prefer`.split(
    /\s+/,
  ),
);
/** A shorter value could be a word of any answer, and is no secret worth the name. */
const minSecretLength = 6;

/** Returns everything of a request that may prove who sent it, and what its shown address hides. */
function secretsOf(
  { origin, path, headers }: Dispatcher.DispatchOptions,
  shown: (address: string) => string,
): string[] {
  const url = new URL(path, String(origin));
  const visible = shown(url.href);
  const values = headerEntries(headers).flatMap(([name, value]) => (harmless.has(name) ? [] : partsOf(value)));
  const own = [url.username, url.password, ...url.searchParams.values()];
  const segments = url.pathname.split('/').filter((segment) => !visible.includes(segment));
  return [...values, ...own, ...segments].filter((text) => text.length >= minSecretLength);
}

function headerEntries(headers: Dispatcher.DispatchOptions['headers']): [string, string][] {
  if (headers === null || headers === undefined) return [];
  const entries: [unknown, unknown][] = Array.isArray(headers)
    ? (headers as string[]).flatMap((name, at): [unknown, unknown][] => (at % 2 === 0 ? [[name, headers[at + 1]]] : []))
    : Symbol.iterator in headers
      ? [...(headers as Iterable<[unknown, unknown]>)]
      : Object.entries(headers);
  return entries.map(([name, value]) => [String(name).toLowerCase(), String(value)]);
}

/** Returns a header's value and its parts: the token after `Bearer`, and user and password of `Basic`. */
function partsOf(value: string): string[] {
  const parts = value.split(/[\s,;=]+/);
  const basic = /^Basic\s+(\S+)$/i.exec(value)?.[1];
  const login = basic === undefined ? [] : Buffer.from(basic, 'base64').toString('utf8').split(':');
  return [value, ...parts, ...login];
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((left, form) => left.replaceAll(form, '(secret)'), text);
}
