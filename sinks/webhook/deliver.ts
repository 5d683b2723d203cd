import type { Dispatcher } from 'undici';
import { answerExcerpt, textsOfAddress } from '../network/answer-excerpt.js';
import { carrying } from '../network/exchange-log.js';
import { noAnswerSentence } from '../network/failure-sentence.js';
import { answeredAtMs, headerText, parsedJson } from '../network/read-answer.js';
import { CutShort } from '../network/within-deadline.js';
import type { Operation, Outcome, Subject } from '../sink.js';
import { classifyAnswer } from './classify.js';
import type { Signer } from './sign.js';
import { randomUUID } from 'node:crypto';
import { changeJson } from '../change.js';

export interface WebhookOperation extends Operation {
  /** Operations with the same key are sent one after another. */
  readonly itemKey: string;
  /** The request's body. It is created once, so that the signature and repeats use the same characters. */
  readonly body: string;
}

/**
 * Returns the request of a test. It is an event with its own type, in the form that Standard Webhooks recommends
 * (`type`, `timestamp`, `data`). It has no `list` and no `key`, so a receiver cannot take it for a change.
 */
export function testOperation(now: number): WebhookOperation {
  const id = randomUUID();
  const data = { message: 'A test from pigeonpost. It is about no item and no person.' };
  const body = JSON.stringify({ id, type: 'pigeonpost.test', timestamp: new Date(now).toISOString(), data });
  return { changeId: id, itemKey: id, body };
}

export function toWebhookOperation({ change, dataJson }: Subject): WebhookOperation {
  return {
    changeId: change.id,
    itemKey: JSON.stringify([change.workspace, change.pigeonholeId, change.list, change.key]),
    body: changeJson(change, dataJson),
  };
}

/** Time limit for one request, from its start to the end of the response. Standard Webhooks recommends 15 to 30 s. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Maximum number of bytes of a response body that are read, so that the connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface Endpoint {
  readonly url: URL;
  readonly signer: Signer;
  readonly dispatcher: Dispatcher;
  readonly requestTimeoutMs: number;
  /** Unix time in ms. */
  readonly now: () => number;
}

/** Sends one change and returns its outcome. Never throws. */
export function deliver(operation: WebhookOperation, endpoint: Endpoint, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return Promise.resolve({ kind: 'unsent' });
  const { dispatcher, signer, url } = endpoint;
  const timestampSeconds = Math.floor(endpoint.now() / 1000);
  return new Promise((resolve) => {
    const exchange = new Exchange(operation.body, endpoint, signal, resolve);
    try {
      const request = {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'pigeonpost',
          ...signer.headers({ id: operation.changeId, timestampSeconds, body: operation.body }),
        },
        body: operation.body,
      } as const;
      carrying([operation.changeId], () => dispatcher.dispatch(request, exchange));
    } catch (error) {
      exchange.fail(error);
    }
  });
}

/**
 * Handles one request for undici's dispatcher. undici's `request` would create a readable stream, an AbortSignal and
 * four promises for each request, although the body matters only if the receiver refuses the change.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #outcome: Outcome | undefined;
  #bodyBytes = 0;
  #status = 0;
  /** The body of a refusal. */
  readonly #chunks: Buffer[] = [];
  /** Set if pigeonpost ended the request; says why. */
  #cut: CutShort | undefined;

  constructor(
    private readonly sentBody: string,
    private readonly endpoint: Endpoint,
    private readonly signal: AbortSignal,
    private readonly resolve: (outcome: Outcome) => void,
  ) {
    this.#timer = setTimeout(() => this.#cutShort('late'), endpoint.requestTimeoutMs);
    signal.addEventListener('abort', this.#stop);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cut !== undefined) controller.abort(this.#cut); // the request was ended while it waited for a connection, so nothing was sent
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    if (status < 200) return; // an informational status; the response follows
    this.#status = status;
    const { now } = this.endpoint;
    const retryAfter = headerText(headers['retry-after']);
    const answeredAt = retryAfter === undefined ? now() : answeredAtMs(headers['date'], now);
    this.#outcome = classifyAnswer({ status, retryAfter, answeredAtMs: answeredAt });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.byteLength;
    if (this.#status >= 400) this.#chunks.push(chunk);
    if (this.#bodyBytes > MAX_ANSWER_BYTES) controller.abort(new Error('the response is longer than is read'));
  }

  onResponseEnd(): void {
    this.#settle(this.#outcome!);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Settles a request that did not complete. If a status arrived before, it determines the outcome. */
  fail(error: unknown): void {
    const { url, requestTimeoutMs: timeoutMs } = this.endpoint;
    // The change may have arrived. A repeat is harmless, because the receiver recognizes its id.
    const detail = noAnswerSentence(this.#cut ?? error, { host: url.host, name: 'the receiver', timeoutMs });
    this.#settle(this.#outcome ?? { kind: 'retry', detail });
  }

  readonly #stop = (): void => this.#cutShort('stopped');

  #cutShort(reason: CutShort['reason']): void {
    this.#cut = new CutShort(reason);
    this.fail(this.#cut);
    this.#controller?.abort(this.#cut);
  }

  #settle(outcome: Outcome): void {
    clearTimeout(this.#timer);
    this.signal.removeEventListener('abort', this.#stop);
    this.resolve(outcome.kind === 'rejected' || outcome.kind === 'retry' ? this.#withAnswer(outcome) : outcome);
  }

  /** Adds what the receiver says about its refusal. */
  #withAnswer(outcome: Extract<Outcome, { kind: 'rejected' | 'retry' }>): Outcome {
    if (this.#chunks.length === 0) return outcome;
    const { url, signer } = this.endpoint;
    const answer = answerExcerpt({
      body: Buffer.concat(this.#chunks).toString('utf8'),
      status: this.#status,
      sent: [...textsOfAddress(url), parsedJson(this.sentBody), ...signer.secrets],
    });
    return answer === undefined ? outcome : { ...outcome, answer };
  }
}
