import { createRoute, z } from '@hono/zod-openapi';
import { listNames } from '../base/lists.js';
import type { Ledger } from '../ledger/ledger.js';
import { findItems, type KnownItem, timelineOf, twinOf } from '../operations/timeline.js';
import type { ApiApp } from './api-app.js';
import { itemNameSchema, withNames } from './item-names.js';
import { itemKey, printable, instant } from '../base/printable.js';
import { answers, needs, withIsoInstants } from './route-parts.js';
import { workspaceOf } from './scope.js';
import { findingsOfItem, itemFindingSchema } from '../operations/audit-sink.js';
import { outcomeText } from '../base/delivery-words.js';
import { causeText, reasonText } from '../sinks/reason-words.js';

/** The delivery of a revision to one sink, or the reason why there is none. */
export const whySinkSchema = z.object({
  sink: z.string(),
  state: z
    .string()
    .describe(
      '`behind`: the lane has not reached the change yet; `unwanted`: the sink does not receive the list; `passed`: the sink did not receive the change when the lane reached it.',
    ),
  outcome: z.string().describe('The state in words, and whether a replay caused the delivery.'),
  reason: z.string().nullable(),
  words: z.string().nullable().describe('The reason in words.'),
  detail: z.string().nullable().describe('The response of the destination, or what the lane waits for.'),
  attempts: z.int(),
  at: instant().nullable(),
  dueAt: instant().nullable(),
  identity: z.boolean().nullable().describe("Whether it was sent with the person's identity."),
  configuration: z.int().nullable().describe('Number of the configuration under which it was sent.'),
  replay: z.string().nullable(),
});
export type WhySink = z.infer<typeof whySinkSchema>;

const whyRevisionSchema = z.object({
  revision: z.int(),
  kind: z.string(),
  foundAt: instant(),
  readAs: z
    .string()
    .nullable()
    .describe('The page that contained it; null: it follows from another change, or from an absence.'),
  requestId: z.string().nullable().describe('Request ID of the service for that page.'),
  visibility: z.string().nullable(),
  sinks: z.array(whySinkSchema).readonly(),
});
export type WhyRevision = z.infer<typeof whyRevisionSchema>;

/**
 * Everything that is known about one item, without its text: where it was read, what each sink received and answered,
 * or why nothing was sent.
 */
export const whySchema = z
  .object({
    workspace: z.string(),
    pigeonholeId: z.int(),
    sessionId: z.int().nullable(),
    list: z.string(),
    key: z.string(),
    name: itemNameSchema,
    revision: z.int(),
    deleted: z.boolean(),
    visibility: z
      .string()
      .nullable()
      .describe('For interactions: whether the person may be shown. Null for other lists.'),
    consent: z.string().nullable(),
    lastChangedAt: instant(),
    polledAt: instant()
      .nullable()
      .describe("When the item's stream was last polled. The three fields below also describe the stream."),
    sweptAt: instant().nullable(),
    failure: z.string().nullable(),
    missingSince: instant().nullable(),
    twin: z
      .object({ list: z.string(), sinks: z.array(z.string()).readonly().describe('Sinks that received it.') })
      .nullable()
      .describe('For a question: the same question, with the same key, in the other list of questions.'),
    audit: z
      .array(itemFindingSchema)
      .readonly()
      .describe('What audits have found: destinations that differ from what was delivered.'),
    revisions: z.array(whyRevisionSchema).readonly(),
  })
  .openapi('Why');
export type Why = z.infer<typeof whySchema>;

export const whyRoute = createRoute({
  method: 'get',
  path: '/api/why',
  operationId: 'why',
  tags: ['Items'],
  summary: 'Show where an item was read, what each sink received and answered, or why nothing was sent',
  ...needs({
    right: 'read',
    looksLike:
      'why takes "list", the name of one, and "key", at most 200 printable characters, and may have "pigeonhole" (ID or WORKSPACE/ID)',
  }),
  request: {
    query: z.strictObject({
      list: z.enum(listNames),
      key: itemKey(),
      pigeonhole: printable(200)
        .optional()
        .describe('WORKSPACE/ID or the ID, required if the key occurs in several pigeonholes.'),
    }),
  },
  responses: answers(
    'The matching items: none, one, or one in each of several pigeonholes.',
    z.object({ items: z.array(whySchema) }),
  ),
});

export function serveWhy(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(whyRoute, async (c) => {
    const { list, key, pigeonhole } = c.req.valid('query');
    const workspace = workspaceOf(c);
    const items = await explain(ledger, { list, key, pigeonhole: pigeonhole ?? null });
    return c.json({ items: items.filter((item) => workspace === null || item.workspace === workspace) }, 200);
  });
}

/**
 * Returns the items of a list with a key: none, one, or one in each of several pigeonholes.
 * @param options.personal true: their names contain names and texts of people
 */
export async function explain(
  ledger: Ledger,
  asked: { readonly list: string; readonly key: string; readonly pigeonhole: string | null },
  { personal }: { readonly personal: boolean } = { personal: false },
): Promise<Why[]> {
  const items = await findItems(ledger, asked);
  const explained = await Promise.all(items.map((item) => explainItem(ledger, asked, item)));
  return await withNames(ledger, explained, { personal });
}

async function explainItem(
  ledger: Ledger,
  { list, key }: { list: string; key: string },
  item: KnownItem,
): Promise<Omit<Why, 'name'>> {
  const { changes, deliveries, lanes } = await timelineOf(ledger, item);
  const twin = await twinOf(ledger, { pigeonholeNumber: item.pigeonholeNumber, list, key });
  const revisions = changes.map(({ sequence, foundAt, ...change }): WhyRevision => {
    const rows = deliveries.filter((delivery) => delivery.sequence === sequence);
    const told = rows.map((source): WhySink => {
      const { sequence: _, updatedAt, ...row } = source;
      const { state, reason } = row;
      const isWord = reason === null || reason === 'by-replay'; // `outcome` already contains this reason
      const words = isWord ? null : state === 'dead' ? causeText(reason).meaning : reasonText(reason);
      const others = rows.filter((other) => other.sink === row.sink && other !== source);
      return withIsoInstants({ ...row, outcome: outcomeText(row, others), words, at: updatedAt });
    });
    const untold = lanes
      .filter(({ sink }) => !rows.some((row) => row.sink === sink))
      .map(({ sink, watermark, lists, failure, observes }): WhySink => {
        const isWanted = lists.length === 0 || lists.includes(list);
        const isBehind = isWanted && watermark < sequence;
        const reason = isBehind && observes ? 'observe' : null;
        const state = isBehind ? 'behind' : isWanted ? 'passed' : 'unwanted';
        const missed = { state, reason, replay: null };
        return {
          sink,
          ...missed,
          outcome: outcomeText(missed),
          words: reason === null ? null : reasonText(reason),
          detail: isBehind ? failure : null,
          attempts: 0,
          at: null,
          dueAt: null,
          identity: null,
          configuration: null,
        };
      });
    return { ...change, foundAt: foundAt.toISOString(), sinks: [...told, ...untold] };
  });
  const { pigeonholeNumber: _number, lastSequence: _last, seenAt, ...known } = item;
  const audit = await findingsOfItem(ledger, { ...known, list, key });
  return withIsoInstants({ ...known, list, key, lastChangedAt: seenAt, twin, audit, revisions });
}
