import { z } from 'zod';
import { retryAfterMs } from '../../base/retry-after.js';
import { headerSecret, sinkUrl } from '../../config/values.js';
import { inItemOrder } from '../../sinks/in-item-order.js';
import { expression } from '../../sinks/mapping/expression-schema.js';
import { joinsOf } from '../../sinks/mapping/mentioned-fields.js';
import { mappingView } from '../../sinks/mapping/expression.js';
import { planEach } from '../../sinks/mapping/mapping-error.js';
import { mayReachPrivate, networkKeys, plainHttpStaysPrivate } from '../../sinks/network/address-policy.js';
import { type Causes, commonReasons, contentRejected, type Reasons } from '../../sinks/reasons.js';
import { type NoAnswer, type RestAnswer, RestClient } from '../../sinks/rest/rest-client.js';
import { forgetsPerson, type Operation, type Outcome, type Planned } from '../../sinks/sink.js';
import type { SinkEnvironment, SinkType, Subject } from '../../sinks/sink.js';

const configSchema = z
  .strictObject({
    baseUrl: sinkUrl().describe('The address of the store. The sink appends the id of each document.'),
    token: headerSecret().describe('Sent as a bearer token.'),
    owner: expression().describe('The person whose document it is. Items without a value are withheld (`no-owner`).'),
    document: expression().describe('The content of the document.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('baseUrl'));
type DocumentsConfig = z.infer<typeof configSchema>;

/** Writes one item's document under the item's own id, so a repeat replaces it; null deletes the document. */
type DocumentOperation = Operation & { readonly itemKey: string; readonly document: object | null };

const reasons = {
  ...commonReasons('forget-by-hand'),
  'no-owner': {
    short: 'no owner',
    sentence: 'the mapping finds no owner for it',
    kind: 'missing-value',
    readBy: { keys: /^owner$/ },
  },
} as const satisfies Reasons;

const causes: Causes = {
  'documents:locked': { meaning: 'their documents are locked', help: 'unlock them in the store, then redrive them' },
  'http:*': contentRejected,
};

/** A document store or search index: `PUT <baseUrl>/<id>` writes an item's document, `DELETE` removes it. */
export const documentsSinkType: SinkType<DocumentsConfig> = {
  type: 'documents',
  configSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['owner', 'document'],
  reasons,
  causes,
  lists: () => 'all',
  joins: ({ owner, document }) => joinsOf([owner, document]),
  destination: (config) => config.baseUrl,
  create(config, environment) {
    const url = new URL(config.baseUrl);
    const allowPrivateAddresses = mayReachPrivate(url, config);
    const rest = new RestClient({ url, name: 'the store', environment, allowPrivateAddresses, connections: 4 });
    const headers = { authorization: `Bearer ${config.token.reveal()}` };
    const addressOf = (id: string) => `${url.href.replace(/\/$/, '')}/${encodeURIComponent(id)}`;
    const deliver = async ({ itemKey, document }: DocumentOperation, signal: AbortSignal): Promise<Outcome> => {
      const method = document === null ? 'DELETE' : 'PUT';
      const call = { method, url: addressOf(itemKey), headers, ...(document !== null && { json: document }) } as const;
      const meaning = meaningOf(await rest.call(call, signal), method);
      // The engine keeps the object with the item, so that a later plan knows that there may be a document.
      if (document !== null) return meaning.kind === 'rejected' ? meaning : { ...meaning, object: { mayExist: true } };
      return meaning.kind === 'delivered' ? { ...meaning, object: null } : meaning;
    };
    return {
      traits: { order: 'item', needsContext: true, revisions: 'latest', repeats: 'harmless', batchSize: 50 },
      plan: (subjects) => planEach(subjects, (each) => plan(each, config, environment)),
      preview: (operation) => {
        const { itemKey, document } = operation as DocumentOperation;
        return [{ method: document === null ? 'DELETE' : 'PUT', address: addressOf(itemKey), body: document }];
      },
      send: async (operations, _lane, signal) => ({
        outcomes: await inItemOrder(operations as readonly DocumentOperation[], {
          concurrency: 4,
          mayStart: () => !signal.aborted,
          deliver: (operation) => deliver(operation, signal),
        }),
      }),
      async check(signal) {
        const found = meaningOf(await rest.call({ method: 'GET', url: addressOf('check'), headers }, signal), 'GET');
        return [{ ok: found.kind === 'delivered', text: found.detail }];
      },
      close: () => rest.close(),
    };
  },
};

async function plan(
  subject: Subject,
  config: DocumentsConfig,
  { name, onForget }: Pick<SinkEnvironment, 'name' | 'onForget'>,
): Promise<Planned<DocumentOperation>> {
  const { id: changeId, workspace, pigeonholeId, list, key, data } = subject.change;
  const write = (document: object | null) => ({
    kind: 'send' as const,
    operation: { changeId, itemKey: [workspace, pigeonholeId, list, key].join('.'), document },
  });
  const nothing = (reason: keyof typeof reasons) => ({ kind: 'nothing' as const, reason });
  if (forgetsPerson(subject.removal) && onForget === 'manual') return nothing('forget-by-hand');
  if (data === null) return write(null);
  const view = mappingView(subject);
  const owner = (await config.owner.evaluate(view, `${name}.owner`)) ?? null;
  // A person whose identity is hidden from now on must not stay in a document that was written before.
  if (owner === null) return subject.object === null ? nothing('no-owner') : write(null);
  return write({ owner, content: (await config.document.evaluate(view, `${name}.document`)) ?? null });
}

/** Classifies a response by its status only. The body may quote the document that was sent, so it is never reported. */
function meaningOf(answer: RestAnswer | NoAnswer, method: string) {
  // The call may have arrived, but a repeat is harmless.
  if (answer.kind === 'no-answer') return { kind: 'retry', detail: answer.detail } as const;
  const { status } = answer;
  const detail = `the store answered HTTP ${status}`;
  if (status < 300 || (status === 404 && method !== 'PUT')) return { kind: 'delivered', detail } as const;
  if (status === 401 || status === 403) return { kind: 'pause', cause: 'credential', detail } as const;
  if (status === 423) return { kind: 'rejected', cause: 'documents:locked', detail, about: 'record' } as const;
  const isAboutDocument = status >= 400 && status < 500 && status !== 429; // not 3xx: the sink follows no redirect
  if (isAboutDocument) return { kind: 'rejected', cause: `http:${status}`, detail } as const;
  const afterMs = retryAfterMs(answer.retryAfter, answer.answeredAtMs);
  return { kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) } as const;
}
