import { request, type Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { httpDateMs } from '../network/retry-after.js';
import type { Outcome } from '../sink.js';
import { classifyAnswer } from './classify-answer.js';
import { classifyFailure } from './classify-failure.js';
import type { WebhookOperation } from './format.js';
import { signatureHeaders } from './sign.js';

/** Longest for one request from its start to the end of the answer. Standard Webhooks names 15 to 30 s. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Of an answer's body this much is read and thrown away, so that the connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface Endpoint {
  readonly url: URL;
  readonly secrets: readonly Secret[];
  readonly dispatcher: Dispatcher;
  readonly requestTimeoutMs: number;
  /** Unix time in ms. */
  readonly now: () => number;
}

/** Sends one change and says what became of it. Never throws. */
export async function deliver(operation: WebhookOperation, endpoint: Endpoint, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return { kind: 'unsent' };
  // Not AbortSignal.any: in Node 20 each call leaves something behind on a signal that lives long.
  const call = new AbortController();
  const stop = (): void => call.abort();
  const timer = setTimeout(stop, endpoint.requestTimeoutMs);
  signal.addEventListener('abort', stop);
  try {
    return await post(operation, endpoint, call.signal);
  } catch (error) {
    // Both may have arrived, which a repeat does not harm.
    if (signal.aborted) return { kind: 'retry', detail: 'stopped before the receiver answered' };
    if (call.signal.aborted) {
      return {
        kind: 'retry',
        detail: `${endpoint.url.host} did not answer within ${endpoint.requestTimeoutMs / 1000} s`,
      };
    }
    return classifyFailure(error, endpoint.url.host);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

async function post(operation: WebhookOperation, endpoint: Endpoint, signal: AbortSignal): Promise<Outcome> {
  const sentAtMs = endpoint.now();
  const message = { id: operation.changeId, timestampSeconds: Math.floor(sentAtMs / 1000), body: operation.body };
  const answer = await request(endpoint.url, {
    method: 'POST',
    dispatcher: endpoint.dispatcher,
    signal,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'pigeonpost',
      ...signatureHeaders(message, endpoint.secrets),
    },
    body: operation.body,
  });
  const outcome = classifyAnswer({
    status: answer.statusCode,
    retryAfter: headerText(answer.headers['retry-after']),
    answeredAtMs: httpDateMs(headerText(answer.headers.date) ?? '') || endpoint.now(),
  });
  // The status has decided. A body that breaks off or never ends takes nothing back.
  await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
  return outcome;
}

function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
