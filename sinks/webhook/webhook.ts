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
/** After this time a `send` starts no further request: a slow receiver must not occupy a lane for minutes. */
const START_WINDOW_MS = 30_000;

export interface WebhookTuning {
  /** Unix time in ms: stamps requests and reads Retry-After dates. */
  readonly now?: () => number;
  readonly requestTimeoutMs?: number;
}

/** One signed POST per change, by Standard Webhooks. README.md has the receiver's side. */
export function createWebhookSink(
  config: WebhookConfig,
  environment: SinkEnvironment,
  tuning: WebhookTuning = {},
): Sink<WebhookOperation> {
  const url = new URL(config.url);
  const endpoint: Endpoint = {
    url,
    signer: new Signer(config.secret),
    requestTimeoutMs: tuning.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    now: tuning.now ?? environment.now ?? Date.now,
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
      const startUntilMs = performance.now() + START_WINDOW_MS; // monotonic: a set clock must not stretch a lease
      const outcomes = await underOwnSignal(signal, (own) =>
        inItemOrder(operations, {
          concurrency: CONCURRENCY,
          mayStart: () => !own.aborted && performance.now() < startUntilMs,
          deliver: (operation) => deliver(operation, endpoint, own),
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
  create: (config, environment) => createWebhookSink(config, environment),
};

/**
 * Checks that the receiver can be reached, with HEAD, which changes nothing there. Any response below 500 counts,
 * because many receivers support only POST. Whether it accepts the signature shows only with the first change. Never
 * throws.
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
        reachedLine(host, answer.statusCode, { key: 'url', later: 'its signature check shows with the first change' }),
      ];
    });
  } catch (error) {
    return [{ ok: false, text: noAnswerSentence(error, { host, name: 'the receiver', timeoutMs }) }];
  }
}
