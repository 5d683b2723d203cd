import { request, type Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { noAnswerSentence } from '../network/failure-sentence.js';
import { answeredAtMs, headerText } from '../network/read-answer.js';
import { withinDeadline } from '../network/within-deadline.js';
import type { Outcome } from '../sink.js';
import { classifyAnswer } from './classify-answer.js';
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
  const timeoutMs = endpoint.requestTimeoutMs;
  try {
    return await withinDeadline(signal, timeoutMs, (own) => post(operation, endpoint, own));
  } catch (error) {
    // It may have arrived, which a repeat does not harm: it is recognised by its id.
    const asked = { host: endpoint.url.host, name: 'the receiver', timeoutMs };
    return { kind: 'retry', detail: noAnswerSentence(error, asked) };
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
    answeredAtMs: answeredAtMs(answer.headers.date, endpoint.now),
  });
  // The status has decided. A body that breaks off or never ends takes nothing back.
  await answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
  return outcome;
}
