import { performance } from 'node:perf_hooks';
import { isNotConfirmed, onlyWhileHeld } from '../base/lease.js';
import { type KnownFrames, type RawAnswer, type ServiceAnswer, readAnswer } from './answer.js';
import { ApiError, type Call, ClientOptionsError } from './api-error.js';
import { decodedBody } from '../base/decoded-body.js';
import { maxAnswerBytes, openConnections, readBaseUrl, type ClientOptions } from './connections.js';
import { headerOf } from './response.js';
import { transportFailure, type Ending } from './transport-failure.js';

interface ServiceRequest extends Call {
  /** Already encoded, without the question mark. */
  readonly query?: string;
  /** The request body: serialized JSON. */
  readonly json?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Pages that need not be parsed again (`readAnswer`). */
  readonly known?: KnownFrames | undefined;
}

/** The HTTP connections to the service. */
export type Exchange = ReturnType<typeof openExchange>;

/**
 * Opens the HTTP connections to the service. Every request to the service is sent here, and only here is the API key
 * added to it.
 * @throws {ClientOptionsError} if an option is invalid
 */
export function openExchange(options: ClientOptions) {
  const baseUrl = readBaseUrl(options.baseUrl);
  // undici would reject the header only at the first request, and without the reason.
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new ClientOptionsError(
      'apiKey',
      'is empty or contains characters that a header cannot carry; set it to the key and nothing else',
    );
  }
  const requestTimeoutMs = options.requestTimeoutMs ?? 30_000;
  // Node.js timers above 2^31 - 1 ms fire immediately.
  if (!(requestTimeoutMs > 0 && requestTimeoutMs < 2 ** 31)) {
    throw new ClientOptionsError('requestTimeoutMs', 'is not a number of milliseconds above 0 and below 2^31');
  }
  const connections = openConnections(baseUrl, options, requestTimeoutMs);
  const reads = connections.reads.compose(onlyWhileHeld);
  const writes = connections.writes.compose(onlyWhileHeld);
  const now = options.now ?? Date.now;
  let closing: Promise<void> | undefined;

  const fetchAnswer = async ({ method, path, query, json, signal }: ServiceRequest): Promise<RawAnswer> => {
    const deadline = openDeadline(requestTimeoutMs, signal);
    const requestedAt = now();
    try {
      const response = await (method === 'GET' ? reads : writes).request({
        origin: baseUrl.origin,
        path: `${baseUrl.prefix}${path}${query === undefined || query === '' ? '' : `?${query}`}`,
        method,
        headers: {
          'x-api-key': options.apiKey,
          accept: 'application/json',
          // Without this header, any encoding is allowed (RFC 9110, 12.5.3).
          'accept-encoding': 'identity',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: json ?? null,
        signal: deadline.signal,
      });
      const received = Buffer.from(await response.body.bytes());
      const encoding = headerOf(response.headers, 'content-encoding');
      // Compressed although identity was requested, for example by a proxy. What cannot be decoded is judged as received.
      const decoded = await decodedBody(received, encoding, options.maxResponseBytes ?? maxAnswerBytes);
      const bytes = decoded ?? received;
      const headers = decoded === undefined ? response.headers : { ...response.headers, 'content-encoding': undefined };
      return { status: response.statusCode, headers, body: bytes, requestedAt, answeredAt: now() };
    } catch (error) {
      if (isNotConfirmed(error)) throw error;
      throw transportFailure({ method, path }, error, deadline.ending(), requestTimeoutMs);
    } finally {
      deadline.clear();
    }
  };

  return {
    /**
     * Sends one request, without retries. If the caller runs inside `whileHeld` (base/lease.ts), its lease is
     * confirmed right before the request is written.
     * @throws {ApiError} for everything except a success; the error of `confirm` if the lease was not confirmed
     */
    async send(request: ServiceRequest): Promise<ServiceAnswer> {
      const call: Call = { method: request.method, path: request.path };
      if (request.signal?.aborted === true) {
        throw new ApiError(call, {
          kind: 'aborted',
          problem: 'the caller had aborted the call before it started',
          mayHaveTakenEffect: false,
        });
      }
      const startedAt = performance.now();
      let durationMs: number | undefined;
      const report = (
        outcome: Pick<ApiError, 'status' | 'code' | 'requestId' | 'quota'>,
        kind: ApiError['kind'] | null,
      ) => {
        const { status, code, requestId, quota } = outcome;
        options.onResponse?.({
          ...call,
          status,
          code,
          kind,
          requestId,
          durationMs: durationMs ?? performance.now() - startedAt,
          quota,
        });
      };
      try {
        const raw = await fetchAnswer(request);
        durationMs = performance.now() - startedAt;
        const answer = readAnswer(call, raw, request.known);
        const { status, requestId, quota } = answer;
        report({ status, requestId, quota, code: null }, null);
        return answer;
      } catch (error) {
        if (error instanceof ApiError) report(error, error.kind);
        throw error;
      }
    },
    /** Waits for requests in progress, each of which has a deadline, then closes the connections. */
    close: (): Promise<void> => (closing ??= Promise.all([reads.close(), writes.close()]).then(() => undefined)),
  };
}

/** Ends a request when its time is up or its caller aborts it, and records which of the two happened first. */
interface Deadline {
  readonly signal: AbortSignal;
  readonly ending: () => Ending | undefined;
  /** Must be called when the request has ended, because the signal of a caller may outlive thousands of requests. */
  readonly clear: () => void;
}

/** Does not use AbortSignal.any: in Node.js 20, each use leaks memory on a long-lived signal. */
function openDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let ending: Ending | undefined;
  const end = (by: Ending): void => {
    ending ??= by;
    controller.abort();
  };
  const onCallerAbort = (): void => end('caller');
  const timer = setTimeout(() => end('deadline'), timeoutMs);
  caller?.addEventListener('abort', onCallerAbort, { once: true });
  return {
    signal: controller.signal,
    ending: () => ending,
    clear: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onCallerAbort);
    },
  };
}
