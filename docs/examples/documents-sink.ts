import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';
import { z } from 'zod';
import { headerSecret, sinkUrl } from '../../config/values.js';
import { inItemOrder } from '../../sinks/in-item-order.js';
import { expression } from '../../sinks/mapping/expression-schema.js';
import { joinsOf } from '../../sinks/mapping/mentioned-fields.js';
import { mappingView } from '../../sinks/mapping/expression.js';
import { planEach } from '../../sinks/mapping/mapping-error.js';
import { mayReachPrivate, networkKeys, plainHttpStaysPrivate } from '../../sinks/network/address-policy.js';
import { createDispatcher } from '../../sinks/network/create-dispatcher.js';
import { noAnswerSentence } from '../../sinks/network/failure-sentence.js';
import { answeredAtMs, headerText } from '../../sinks/network/read-answer.js';
import { retryAfterMs } from '../../base/retry-after.js';
import { withinDeadline } from '../../sinks/network/within-deadline.js';
import type { Operation, Planned, SinkType, Subject } from '../../sinks/sink.js';

const configSchema = z
  .strictObject({
    baseUrl: sinkUrl().describe('The address of the store. The sink appends the id of each document.'),
    token: headerSecret().describe('Sent as a bearer token.'),
    document: expression().describe('The document of an item. Without a value, the sink deletes it.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('baseUrl'));
type DocumentsConfig = z.infer<typeof configSchema>;

/** Writes one item's document under the item's own id, so a repeat replaces it; null deletes the document. */
type DocumentOperation = Operation & { readonly itemKey: string; readonly document: unknown };

const timeoutMs = 30_000;

/** A document store or search index: `PUT <baseUrl>/<id>` writes an item's document, `DELETE` removes it. */
export const documentsSinkType: SinkType<DocumentsConfig> = {
  type: 'documents',
  configSchema,
  acceptsByDefault: ['obtained'],
  lists: () => 'all',
  joins: ({ document }) => joinsOf([document]),
  destination: (config) => config.baseUrl,
  create(config, { name, network }) {
    const url = new URL(config.baseUrl);
    const options = { allowPrivateAddresses: mayReachPrivate(url, config), connectTimeoutMs: 10_000, connections: 4 };
    const dispatcher = createDispatcher(url, network, options);
    const headers = { authorization: `Bearer ${config.token.reveal()}`, 'content-type': 'application/json' };

    const ask = (method: 'GET' | 'PUT' | 'DELETE', id: string, document: unknown, signal: AbortSignal) =>
      withinDeadline(signal, timeoutMs, async (own) => {
        const target = `${url.href.replace(/\/$/, '')}/${encodeURIComponent(id)}`;
        const body = document === null ? null : JSON.stringify(document);
        const answer = await request(target, { method, headers, body, dispatcher, signal: own });
        await answer.body.dump({ limit: 65_536, signal: own });
        return meaningOf(method, answer.statusCode, answer.headers);
      }).catch((error: unknown) => {
        const detail = noAnswerSentence(error, { host: url.host, name: 'the store', timeoutMs });
        return { kind: 'retry', detail } as const; // the call may have arrived, but a repeat is harmless
      });
    return {
      traits: { order: 'item', needsContext: true, revisions: 'latest', repeats: 'harmless', batchSize: 50 },
      plan: (subjects) => planEach(subjects, (each) => plan(each, config, name)),
      preview: (operation) => {
        const { itemKey, document } = operation as DocumentOperation;
        const address = `${url.origin}${url.pathname.replace(/\/$/, '')}/${encodeURIComponent(itemKey)}`;
        return [{ method: document === null ? 'DELETE' : 'PUT', address, body: document }];
      },
      send: async (operations, _lane, signal) => ({
        outcomes: await inItemOrder(operations as readonly DocumentOperation[], {
          concurrency: options.connections,
          mayStart: () => !signal.aborted,
          deliver: ({ itemKey, document }) => ask(document === null ? 'DELETE' : 'PUT', itemKey, document, signal),
        }),
      }),
      async check(signal) {
        const found = await ask('GET', 'pigeonpost-check', null, signal);
        return [{ ok: found.kind === 'delivered', text: found.detail }];
      },
      close: () => dispatcher.close(),
    };
  },
};

async function plan(subject: Subject, config: DocumentsConfig, name: string): Promise<Planned<DocumentOperation>> {
  const { id: changeId, workspace, pigeonholeId, list, key, data } = subject.change;
  const itemKey = [workspace, pigeonholeId, list, key].join('.');
  const kept = data === null ? null : await config.document.evaluate(mappingView(subject), `${name}.document`);
  return { kind: 'send', operation: { changeId, itemKey, document: kept ?? null } };
}

/** Classifies a response by its status only. The body may quote the document that was sent, so it is never reported. */
function meaningOf(method: string, status: number, headers: IncomingHttpHeaders) {
  const detail = `the store answered HTTP ${status}`;
  if (status < 300 || (status === 404 && method !== 'PUT')) return { kind: 'delivered', detail } as const;
  if (status === 401 || status === 403) return { kind: 'pause', cause: 'credential', detail } as const;
  const isAboutDocument = status >= 400 && status < 500 && status !== 429; // not 3xx: the sink follows no redirect
  if (isAboutDocument) return { kind: 'rejected', cause: `http:${status}`, detail } as const;
  const afterMs = retryAfterMs(headerText(headers['retry-after']), answeredAtMs(headers.date, Date.now));
  return { kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) } as const;
}
