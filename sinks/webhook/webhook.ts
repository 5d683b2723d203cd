import { RestClient, withCallBudget } from '../rest/rest-client.js';
import { inItemOrder } from '../in-item-order.js';
import { underOwnSignal } from '../network/within-deadline.js';
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
import { parsedJson } from '../network/read-answer.js';
import { withoutTokens } from '../network/shown-address.js';
import { reachedLine } from '../network/failure-sentence.js';
import { webhookCauses, webhookReasons } from './reasons.js';

/** Maximum number of concurrent requests and of connections to the receiver. */
const CONCURRENCY = 16;
/** Maximum number of requests between two commits. */
const BATCH_SIZE = 500;
/** A `send` starts no request after this time, so that a slow receiver does not keep a lane busy for minutes. */
const START_WINDOW_MS = 30_000;

/**
 * Creates the sink that sends each change as a signed POST, according to Standard Webhooks. docs/sinks/webhook.md
 * describes what a receiver must do.
 */
export function createWebhookSink(config: WebhookConfig, environment: SinkEnvironment): Sink<WebhookOperation> {
  const url = new URL(config.url);
  const rest = new RestClient({
    url,
    name: 'the receiver',
    environment,
    allowPrivateAddresses: config.allowPrivateAddresses,
    connections: CONCURRENCY,
    shown: withoutTokens,
  });
  const endpoint: Endpoint = {
    url,
    signer: new Signer(config.secret),
    requestTimeoutMs: environment.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    now: environment.now,
    dispatcher: rest.dispatcher,
  };
  return {
    traits: {
      order: 'item',
      needsContext: false,
      revisions: 'every',
      repeats: 'harmless',
      batchSize: BATCH_SIZE,
    },
    check: (signal) => checkReceiver(rest, url, environment.name, signal),
    plan: (subjects) =>
      Promise.resolve(subjects.map((subject) => ({ kind: 'send', operation: toWebhookOperation(subject) }))),
    preview: ({ body }) => [{ method: 'POST', address: withoutTokens(url), body: parsedJson(body) }],
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
    close: () => rest.close(),
  };
}

export const webhookSinkType: SinkType<WebhookConfig> = {
  type: 'webhook',
  configSchema: webhookConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: [],
  reasons: webhookReasons,
  causes: webhookCauses,
  forwards: () => true,
  lists: () => 'all',
  destination: ({ url }) => url,
  create: createWebhookSink,
};

/**
 * Checks whether the receiver can be reached, with a HEAD request, which changes nothing there. A response below 500,
 * except 3xx and 410, counts as reached: a receiver that supports only POST refuses HEAD, for example with 405. The
 * request has no signature, because Standard Webhooks signs only messages. Never throws.
 */
async function checkReceiver(rest: RestClient, url: URL, name: string, signal: AbortSignal): Promise<CheckLine[]> {
  const answer = await rest.call({ method: 'HEAD', url }, signal);
  if (answer.kind === 'no-answer') return [{ ok: false, text: answer.detail }];
  const later = `the check does not test the signature: run "pigeonpost sink test ${name}" to test it`;
  return [reachedLine(url.host, answer.status, { key: 'url', later })];
}
