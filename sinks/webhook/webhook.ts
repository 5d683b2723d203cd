import { withCallBudget } from '../rest/rest-client.js';
import { inItemOrder } from '../in-item-order.js';
import { underOwnSignal, withinDeadline } from '../network/within-deadline.js';
import { createDispatcher } from '../network/create-dispatcher.js';
import type { CheckLine, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { webhookConfigSchema, type WebhookConfig } from './config.js';
import {
  deliver,
  type Endpoint,
  REQUEST_TIMEOUT_MS,
  testOperation,
  toWebhookOperation,
  type WebhookOperation,
} from './deliver.js';
import { Signer } from './sign.js';
import { request } from 'undici';
import { noAnswerSentence, reachedLine } from '../network/failure-sentence.js';

/** Maximum number of concurrent requests and of connections to the receiver. */
const CONCURRENCY = 16;
/** Maximum number of requests between two commits. */
const BATCH_SIZE = 500;
const CONNECT_TIMEOUT_MS = 10_000;
/** A `send` starts no request after this time, so that a slow receiver does not keep a lane busy for minutes. */
const START_WINDOW_MS = 30_000;

/**
 * Creates the sink that sends each change as a signed POST, according to Standard Webhooks. docs/sinks/webhook.md
 * describes what a receiver must do.
 */
export function createWebhookSink(config: WebhookConfig, environment: SinkEnvironment): Sink<WebhookOperation> {
  const url = new URL(config.url);
  const endpoint: Endpoint = {
    url,
    signer: new Signer(config.secret),
    requestTimeoutMs: environment.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    now: environment.now,
    dispatcher: createDispatcher(url, environment.network, {
      allowPrivateAddresses: config.allowPrivateAddresses,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      connections: CONCURRENCY,
    }),
  };
  return {
    traits: {
      order: 'item',
      needsContext: false,
      revisions: 'every',
      repeats: 'harmless',
      batchSize: BATCH_SIZE,
    },
    check: (signal) => checkReceiver(endpoint, signal),
    plan: (subjects) =>
      Promise.resolve(subjects.map((subject) => ({ kind: 'send', operation: toWebhookOperation(subject) }))),
    async send(operations, _lane, signal) {
      const outcomes = await withCallBudget(signal, START_WINDOW_MS, (budget) =>
        inItemOrder(operations, {
          concurrency: CONCURRENCY,
          mayStart: () => !budget.signal.aborted && budget.remainingMs() > 0,
          deliver: (operation) => deliver(operation, endpoint, budget.signal),
        }),
      );
      return { outcomes };
    },
    sendTest: (signal) => underOwnSignal(signal, (own) => deliver(testOperation(endpoint.now()), endpoint, own)),
    close: () => endpoint.dispatcher.close(),
  };
}

export const webhookSinkType: SinkType<WebhookConfig> = {
  type: 'webhook',
  configSchema: webhookConfigSchema,
  acceptsByDefault: ['obtained'],
  lists: () => 'all',
  destination: ({ url }) => url,
  create: createWebhookSink,
};

/**
 * Checks whether the receiver can be reached, with a HEAD request, which changes nothing there. A response below 500,
 * except 3xx and 410, counts as reached: a receiver that supports only POST refuses HEAD, for example with 405. Only
 * the first change shows whether the receiver accepts the signature. Never throws.
 */
async function checkReceiver(endpoint: Endpoint, signal: AbortSignal): Promise<CheckLine[]> {
  const { url, dispatcher, requestTimeoutMs: timeoutMs } = endpoint;
  const { host } = url;
  try {
    return await withinDeadline(signal, timeoutMs, async (own) => {
      const answer = await request(url, {
        method: 'HEAD',
        dispatcher,
        signal: own,
        headers: { 'user-agent': 'pigeonpost' },
      });
      answer.body.on('error', () => undefined).destroy();
      return [
        reachedLine(host, answer.statusCode, {
          key: 'url',
          later: 'the first change will show whether it accepts the signature',
        }),
      ];
    });
  } catch (error) {
    return [{ ok: false, text: noAnswerSentence(error, { host, name: 'the receiver', timeoutMs }) }];
  }
}
