import { createRoute, z } from '@hono/zod-openapi';
import { listNames } from '../base/lists.js';
import { outcomeText } from '../base/delivery-words.js';
import { configuredName, idText, instant, itemKey, pigeonholeName, printable } from '../base/printable.js';
import type { AttemptContent } from '../delivering/attempt-log.js';
import { deliveryStateChoices, type ListedDelivery, listDeliveries } from '../delivering/delivery-list.js';
import { type Attempt, attemptOutcomes, listAttempts, readAttempt } from '../ledger/attempts.js';
import { causeText, reasonText } from '../sinks/reason-words.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { itemNameSchema, withNames } from './item-names.js';
import { Refused } from './problem.js';
import {
  answers,
  needs,
  pageOf,
  pageQuery,
  pagesBy,
  personalSchema,
  positionOf,
  withIsoInstants,
} from './route-parts.js';
import { notKnown, requireWorkspace, seesSink, wantsPersonal, workspaceOf } from './scope.js';

/** The members that a delivery and an attempt share. */
const itemParts = {
  workspace: z.string(),
  pigeonholeId: z.int(),
  sequence: z.int(),
  list: z.string(),
  key: z.string(),
  name: itemNameSchema,
  revision: z.int(),
  identity: z.boolean().nullable().describe("Whether it was sent with the person's identity; null: never sent."),
  replay: z.int().describe('Number of the replay that sent it; 0: the change was sent for the first time.'),
};

const listedDeliverySchema = z
  .object({
    ...itemParts,
    state: z.string(),
    outcome: z.string().describe('The state in words.'),
    reason: z.string().nullable().describe('Why it was withheld, or the cause of a dead letter: a stable code.'),
    words: z.string().nullable().describe('The reason in words.'),
    detail: z.string().nullable().describe('The response of the destination.'),
    attempts: z.int(),
    configuration: z.int().describe('Number of the configuration under which it was decided.'),
    dueAt: instant().nullable().describe('When it is tried next.'),
    at: instant().describe('When it was last tried or decided.'),
  })
  .openapi('ListedDelivery');
export type ListedDeliveryView = z.infer<typeof listedDeliverySchema>;

const attemptSchema = z
  .object({
    number: z.int(),
    sink: z.string(),
    ...itemParts,
    try: z.int().describe('Number of the try, from 1.'),
    at: instant(),
    durationMs: z
      .int()
      .describe(
        'From the first call about the change to the last answer; of the whole batch if its calls were shared.',
      ),
    outcome: z.enum(attemptOutcomes),
    cause: z
      .string()
      .nullable()
      .describe('Why it failed: the code of the sink, `http-STATUS` or `no-answer`. Null: it was delivered.'),
    words: z.string().nullable().describe('The cause in words, if it has any.'),
    detail: z.string().nullable().describe('The response in a sentence.'),
    status: z.int().nullable().describe('HTTP status of the last answer; null: none.'),
    requestId: z.string().nullable().describe('The id that the destination gave the request.'),
    hasContent: z.boolean().describe('Whether the request and the answer are stored.'),
    state: z.string().nullable().describe('State of the delivery now.'),
    reason: z.string().nullable().describe('Its reason or cause now.'),
    dueAt: instant().nullable(),
  })
  .openapi('Attempt');
export type AttemptView = z.infer<typeof attemptSchema>;

const cutText = z.object({ body: z.string(), cut: z.boolean().describe('Whether it was longer.') });

const contentSchema = z
  .object({
    requests: z
      .array(
        z.object({
          method: z.string(),
          address: z.string().describe('Without secrets.'),
          body: z.string().nullable(),
          cut: z.boolean().describe('Whether the body was longer.'),
        }),
      )
      .readonly()
      .describe('What was sent, in order. In a batch, the part of this item.'),
    calls: z
      .array(
        z.object({
          method: z.string(),
          address: z.string(),
          status: z.int().nullable(),
          requestId: z.string().nullable(),
          durationMs: z.int(),
          answer: cutText.nullable().describe('Null if the answer may be about other items too.'),
          shared: z.boolean().describe('Whether the call carried other changes too.'),
        }),
      )
      .readonly()
      .describe('The HTTP calls that were made, and what they answered.'),
    furtherCalls: z.int(),
  })
  .nullable()
  .optional()
  .describe('Request and answer; null if they are not stored, absent unless personal data was requested.');

const fullAttemptSchema = attemptSchema.extend({ content: contentSchema }).openapi('FullAttempt');
export type FullAttemptView = z.infer<typeof fullAttemptSchema>;

const common = {
  ...pageQuery,
  sink: configuredName(),
  list: z.enum(listNames).optional(),
  pigeonhole: pigeonholeName().optional(),
  personal: personalSchema,
};

export const deliveryLogRoute = createRoute({
  method: 'get',
  path: '/api/deliveries',
  operationId: 'listDeliveriesOfSink',
  tags: ['Sinks'],
  summary: 'List the deliveries of a sink in one state, over all pigeonholes: what a count consists of',
  ...needs({
    right: 'read',
    looksLike:
      'a list of deliveries takes "sink" and "state", and may have "reason", "list" and "pigeonhole" (WORKSPACE/ID)',
  }),
  request: {
    query: z.strictObject({
      ...common,
      state: z
        .enum(deliveryStateChoices)
        .describe('`open`: waiting for its turn or for the next attempt; `dead`: dead letters.'),
      reason: printable(500).optional().describe('Only this reason or cause.'),
    }),
  },
  responses: answers(
    'One page of deliveries, by pigeonhole, the newest change of each first.',
    pageOf(listedDeliverySchema),
    404,
  ),
});

export const attemptsRoute = createRoute({
  method: 'get',
  path: '/api/attempts',
  operationId: 'listAttempts',
  tags: ['Sinks'],
  summary: 'List the attempts of a sink: all that failed, and the last of those that succeeded',
  ...needs({
    right: 'read',
    looksLike:
      'a list of attempts takes "sink", and may have "outcome", "cause", "list", "key", "pigeonhole" (WORKSPACE/ID), "since" and "until"',
  }),
  request: {
    query: z.strictObject({
      ...common,
      outcome: z
        .enum(['failed', ...attemptOutcomes])
        .optional()
        .describe('`failed`: all except `delivered`.'),
      cause: printable(500).optional(),
      key: itemKey().optional(),
      sequence: idText().optional().describe('Only attempts at this change of the pigeonhole.'),
      since: positionOf.instant.optional(),
      until: positionOf.instant.optional(),
    }),
  },
  responses: answers('One page of attempts, newest first.', pageOf(attemptSchema), 404),
});

export const attemptRoute = createRoute({
  method: 'get',
  path: '/api/attempts/{number}',
  operationId: 'showAttempt',
  tags: ['Sinks'],
  summary: 'Show an attempt, and with personal data what was sent and answered',
  ...needs({ right: 'read' }),
  request: {
    params: z.object({ number: idText() }),
    query: z.strictObject({ personal: personalSchema }),
  },
  responses: answers('The attempt.', fullAttemptSchema, 404),
});

const deliveryPages = pagesBy(
  z.tuple([positionOf.int4, positionOf.int8, positionOf.int4]),
  ({ pigeonholeNumber, sequence, replay }: ListedDelivery) => [pigeonholeNumber, sequence, replay],
);
const attemptPages = pagesBy(z.tuple([positionOf.int8]), ({ number }: Attempt) => [number]);

export function serveDeliveries(app: ApiApp, sources: ApiSources): void {
  const { ledger, config } = sources;
  const check = (c: ApiContext, sink: string, pigeonhole: string | undefined): void => {
    if (!Object.hasOwn(config.sinks, sink) || !seesSink(c, sources, sink)) {
      throw notKnown(c, sources, { kind: 'sink', name: sink });
    }
    if (pigeonhole !== undefined) requireWorkspace(c, pigeonhole.split('/')[0]!);
  };

  app.openapi(deliveryLogRoute, async (c) => {
    const { limit, after, sink, state, reason, list, pigeonhole, personal } = c.req.valid('query');
    const shows = wantsPersonal(c, personal);
    check(c, sink, pigeonhole);
    const last = deliveryPages.endOf(after);
    const rows = await listDeliveries(ledger, {
      sink,
      state,
      reason: reason ?? null,
      list: list ?? null,
      workspace: workspaceOf(c),
      pigeonhole: pigeonhole ?? null,
      after: last === null ? null : { pigeonholeNumber: last[0], sequence: last[1], replay: last[2] },
      limit: limit + 1,
    });
    const { items, next } = deliveryPages.page(rows, limit, viewDelivery);
    const name = async () => await withNames(ledger, items, { personal: shows });
    const entry = {
      action: 'deliveries-personal',
      target: `sink:${sink}`,
      detail: { state, list: list ?? null, limit },
    };
    return c.json({ items: shows ? await audited(c, ledger, entry, name) : await name(), next }, 200);
  });

  app.openapi(attemptsRoute, async (c) => {
    const { limit, after, personal, sequence, since, until, ...choice } = c.req.valid('query');
    const shows = wantsPersonal(c, personal);
    check(c, choice.sink, choice.pigeonhole);
    const rows = await listAttempts(
      ledger.db,
      {
        ...choice,
        workspace: workspaceOf(c) ?? undefined,
        sequence: sequence === undefined ? undefined : Number(sequence),
        since: since === undefined ? undefined : new Date(since),
        until: until === undefined ? undefined : new Date(until),
      },
      { before: attemptPages.endOf(after)?.[0] ?? null, limit: limit + 1 },
    );
    const { items, next } = attemptPages.page(rows, limit, viewAttempt);
    const name = async () => await withNames(ledger, items, { personal: shows });
    const entry = {
      action: 'attempts-personal',
      target: `sink:${choice.sink}`,
      detail: { list: choice.list ?? null, limit },
    };
    return c.json({ items: shows ? await audited(c, ledger, entry, name) : await name(), next }, 200);
  });

  app.openapi(attemptRoute, async (c) => {
    const shows = wantsPersonal(c, c.req.valid('query').personal);
    const found = await readAttempt(ledger.db, Number(c.req.valid('param').number));
    const own = workspaceOf(c);
    if (found === undefined || (own !== null && found.workspace !== own) || !seesSink(c, sources, found.sink)) {
      throw new Refused(404, 'no such attempt is in the log; "retention.attempts" says how long attempts are kept');
    }
    const { content, subject, ...attempt } = found;
    const name = async () => (await withNames(ledger, [viewAttempt(attempt)], { personal: shows }))[0]!;
    if (!shows) return c.json(await name(), 200);
    const entry = {
      action: 'show-attempt-personal',
      target: `sink:${found.sink}`,
      detail: { list: found.list },
      subject,
    };
    const show = async () => ({
      ...(await name()),
      content: content === null ? null : (JSON.parse(content) as AttemptContent),
    });
    return c.json(await audited(c, ledger, entry, show), 200);
  });
}

function viewDelivery(row: ListedDelivery): Omit<ListedDeliveryView, 'name'> {
  const { pigeonholeNumber: _, updatedAt, ...rest } = row;
  const { state, reason, replay } = rest;
  const words = reason === null ? null : state === 'dead' ? causeText(reason).meaning : reasonText(reason);
  const outcome = outcomeText({ state, reason, replay: replay === 0 ? null : 'one' });
  return { ...withIsoInstants({ ...rest, at: updatedAt }), outcome, words };
}

function viewAttempt({ pigeonholeNumber: _, ...row }: Attempt): Omit<AttemptView, 'name'> {
  const words = row.cause !== null && row.outcome === 'rejected' ? causeText(row.cause).meaning : null;
  return { ...withIsoInstants(row), words };
}
