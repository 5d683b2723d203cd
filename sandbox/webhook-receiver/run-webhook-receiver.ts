import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { refusePages } from '../serve/refuse-pages.js';
import { DeliveryTally, type ListTally, receiptOf, type Receipt, ReceiptLog } from './receipt.js';
import { type Notice, readSignedMessage } from './read-signed-change.js';
import { z } from 'zod';

const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface WebhookReceiverOptions {
  /** `whsec_…`; a request signed with any of them is accepted. */
  readonly secrets: readonly string[];
  /** The port; 0, the default, picks a free one. */
  readonly port?: number;
  /** File that keeps receipts across restarts; without it, they are only in memory. */
  readonly logFile?: string;
}

export interface WebhookReceiver {
  /** The URL to send changes to. Every other path outside `/_control/` works too. */
  readonly url: string;
  readonly receipts: () => readonly Receipt[];
  /** Alerts and tests of sinks in the order of arrival. Not kept across restarts. */
  readonly notices: () => readonly Notice[];
  readonly summary: () => ReceiverSummary;
  /** Stops the receiver and closes open connections. */
  readonly close: () => Promise<void>;
}

interface ReceiverSummary {
  readonly deliveries: number;
  /** Requests that were not accepted, by status or `dropped`. Not kept across restarts. */
  readonly refused: Readonly<Record<string, number>>;
  readonly lists: Readonly<Record<string, ListTally>>;
}

/**
 * Starts a webhook receiver on loopback, written as a careful customer would write one. It accepts changes with a valid
 * signature, records each, and fails on demand. It also accepts and records alerts and the tests of sinks.
 *
 * - `POST /_control/answers` plans answers (`plannedAnswerSchema`), `DELETE` removes them, `GET` shows the remaining ones
 * - `GET /_control/receipts` returns all receipts as NDJSON, `GET /_control/summary` counts them by list
 * - `GET /_control/notices` returns the alerts and the tests of sinks
 *
 * @throws if the port is in use or the log cannot be opened
 */
export async function runWebhookReceiver(options: WebhookReceiverOptions): Promise<WebhookReceiver> {
  const verifiers = options.secrets.map((secret) => new Webhook(secret));
  const log = options.logFile === undefined ? undefined : new ReceiptLog(options.logFile);
  const receipts: Receipt[] = [...(log?.earlier ?? [])];
  const notices: Notice[] = [];
  const tally = new DeliveryTally();
  receipts.forEach((receipt) => tally.add(receipt));
  const refused: Record<string, number> = {};
  const plans = new PlannedAnswers();
  const closing = new AbortController();
  const summary = (): ReceiverSummary => ({
    deliveries: receipts.length,
    refused: { ...refused },
    lists: tally.lists(),
  });

  const server = createServer((request, response) => {
    if (refusePages(request, response)) return;
    const handle = request.url?.startsWith('/_control/') ? control : receive;
    handle(request, response).catch((error: unknown) => {
      // If the client is still connected, the error is a defect of this receiver and must be visible.
      if (!response.headersSent && !response.destroyed) answer(response, 500, `${String(error)}\n`);
      else response.destroy();
    });
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return answer(response, 405, 'send changes with POST\n');
    const body = await bodyOf(request);
    if (body === undefined) return refuse(response, 413, 'the body is too large');
    const signed = readSignedMessage(body, request.headers, verifiers);
    if ('refusedWith' in signed) return refuse(response, signed.refusedWith, signed.reason);
    if ('notice' in signed) {
      notices.push(signed.notice);
      return answer(response, 204);
    }

    const { change } = signed;
    const plan = plans.take(change) ?? plannedAnswerSchema.parse({});
    const said = plan.drop ? 'dropped' : plan.status;
    if (isStored(plan)) {
      const receipt = receiptOf({ number: receipts.length + 1, receivedAt: new Date(), body, change, answer: said });
      log?.append({ ...receipt, change }); // before the answer, so that no confirmed change is lost
      receipts.push(receipt);
      tally.add(receipt);
    } else {
      refused[said] = (refused[said] ?? 0) + 1;
    }
    if (plan.delayMs > 0) await pause(plan.delayMs, undefined, { signal: closing.signal });
    if (plan.drop) return void response.destroy();
    if (plan.retryAfter !== undefined) response.setHeader('retry-after', plan.retryAfter);
    if (plan.status >= 300 && plan.status < 400) response.setHeader('location', '/elsewhere');
    answer(response, plan.status, plan.body);
  }

  async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (`${request.method} ${request.url}`) {
      case 'GET /_control/summary':
        return answer(response, 200, `${JSON.stringify(summary())}\n`);
      case 'GET /_control/receipts':
        response.setHeader('content-type', 'application/x-ndjson');
        return pipeline(Readable.from(linesOf(receipts)), response);
      case 'GET /_control/notices':
        return answer(response, 200, `${JSON.stringify(notices)}\n`);
      case 'GET /_control/answers':
        return answer(response, 200, `${JSON.stringify(plans.all())}\n`);
      case 'DELETE /_control/answers':
        plans.clear();
        return answer(response, 204);
      case 'POST /_control/answers': {
        const plan = plannedAnswerSchema.safeParse(parsedJson(String(await bodyOf(request))));
        if (!plan.success) return answer(response, 400, `${plan.error.message}\n`);
        plans.add(plan.data);
        return answer(response, 204);
      }
      default:
        return answer(response, 404, 'unknown path; the control API has answers, notices, receipts and summary\n');
    }
  }

  function refuse(response: ServerResponse, status: number, reason: string): void {
    refused[status] = (refused[status] ?? 0) + 1;
    answer(response, status, `${reason}\n`);
  }

  server.listen(options.port ?? 0, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    log?.close();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    receipts: () => receipts,
    notices: () => notices,
    summary,
    async close() {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      log?.close();
    },
  };
}

function answer(response: ServerResponse, status: number, text = ''): void {
  response.writeHead(status).end(status === 204 || status === 304 ? undefined : text);
}

/** Returns a body. If it is too large, reads and drops the rest, and returns undefined. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

/** Returns undefined, which no schema accepts, for a text that is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function* linesOf(receipts: readonly Receipt[]): Generator<string> {
  for (const receipt of receipts) yield `${JSON.stringify(receipt)}\n`;
}

/**
 * An answer to the next matching requests, instead of accepting them with 204. Applies only to changes with a valid
 * signature, not to alerts and tests of sinks.
 */
const plannedAnswerSchema = z.strictObject({
  count: z.int().min(1).default(1),
  status: z.int().min(200).max(599).default(204),
  /** Closes the connection instead of answering. */
  drop: z.boolean().default(false),
  /** Whether the change counts as received. By default, it does if the answer reports success. */
  store: z.boolean().optional(),
  /** Waits between storing and answering. */
  delayMs: z.int().min(0).max(600_000).default(0),
  retryAfter: z.string().optional(),
  /** The answer's body, for example one that is too long or not JSON. */
  body: z.string().default(''),
  /** Restricts the answer to changes of this list, and of this key. */
  list: z.string().optional(),
  key: z.string().optional(),
});

type PlannedAnswer = z.output<typeof plannedAnswerSchema>;

/** The answers planned by tests. The first one that matches a change is used, at most `count` times. */
class PlannedAnswers {
  #plans: PlannedAnswer[] = [];

  add(plan: PlannedAnswer): void {
    this.#plans.push(plan);
  }

  clear(): void {
    this.#plans = [];
  }

  all(): readonly PlannedAnswer[] {
    return this.#plans;
  }

  /** Uses the plan for a change once and returns it, or undefined if there is none. */
  take(change: { readonly list: string; readonly key: string }): PlannedAnswer | undefined {
    const position = this.#plans.findIndex(
      ({ list, key }) => (list ?? change.list) === change.list && (key ?? change.key) === change.key,
    );
    const plan = this.#plans[position];
    if (plan === undefined) return undefined;
    if (plan.count > 1) this.#plans[position] = { ...plan, count: plan.count - 1 };
    else this.#plans.splice(position, 1);
    return plan;
  }
}

function isStored(plan: PlannedAnswer): boolean {
  return plan.store ?? (!plan.drop && plan.status < 300);
}
