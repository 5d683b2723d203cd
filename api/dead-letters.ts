import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import {
  type DeadLetter,
  type DeadLetterGroup,
  deadLetterGroups,
  type DeadLetterPosition,
  deadLetters,
  planRedrive,
  redriveDeadLetters,
} from '../delivering/dead-letters.js';
import { pausesOf } from '../ledger/pauses.js';
import { audited } from './audit-log.js';
import {
  answers,
  jsonBody,
  needs,
  personalSchema,
  withIsoInstants,
  pageOf,
  pageQuery,
  positionOf,
  pagesBy,
} from './route-parts.js';
import { itemNameSchema, withNames } from './item-names.js';
import { configuredName, itemKey, listName, pigeonholeName, printable, instant } from '../base/printable.js';
import { requireWorkspace, sinkTarget, wantsPersonal, workspaceOf } from './scope.js';
import { causeText } from '../sinks/reason-words.js';

/** Changes that a sink refused for one cause. */
const deadLetterGroupSchema = z
  .object({
    sink: z.string(),
    cause: z.string(),
    list: z.string(),
    changes: z.int(),
    oldest: instant(),
    newest: instant(),
    detail: z
      .string()
      .nullable()
      .describe(
        'Our sentence about the response to the newest one, and an excerpt of the response without what was sent.',
      ),
    meaning: z.string().describe('The meaning of the cause as a sentence.'),
    help: z.string().describe('What to do.'),
  })
  .openapi('DeadLetters');
export type DeadLetterGroupView = z.infer<typeof deadLetterGroupSchema>;

const deadLetterSchema = z
  .object({
    sink: z.string(),
    cause: z.string(),
    workspace: z.string(),
    pigeonholeId: z.int(),
    list: z.string(),
    key: z.string(),
    revision: z.int(),
    attempts: z.int(),
    since: instant(),
    detail: z.string().nullable(),
    name: itemNameSchema,
  })
  .openapi('DeadLetter');
export type DeadLetterView = z.infer<typeof deadLetterSchema>;

const word = printable(500).optional();

/** Selects dead letters; an absent key selects all. */
export const deadLetterChoiceSchema = z.strictObject({
  sink: configuredName().optional(),
  cause: word,
  list: listName().optional(),
  key: itemKey().optional(),
  workspace: configuredName().optional(),
  pigeonhole: pigeonholeName().optional(),
});
export type DeadLetterChoice = z.infer<typeof deadLetterChoiceSchema>;

/** The characters that a cause can contain. */
const isCode = /^[A-Za-z0-9_:.+[\] -]{1,200}$/;

/** Returns a cause for the audit log; null for a text that can be no cause, because it is arbitrary input. */
export function auditedCause(cause: string | undefined): string | null {
  return cause !== undefined && isCode.test(cause) ? cause : null;
}

/** Maximum number of dead letters in one response. */
const maxShown = 1000;

type Positioned = DeadLetter & { readonly position: DeadLetterPosition };

const pages = pagesBy(
  z.tuple([positionOf.instant, positionOf.int4, positionOf.int4, positionOf.int8, positionOf.int4]),
  ({ position: at }: Positioned) => [at.since, at.sinkId, at.pigeonholeNumber, at.sequence, at.replay],
);

const looksLike = 'dead letters are chosen by "sink", "cause", "list", "key", "workspace" and "pigeonhole"';

export const groupsRoute = createRoute({
  method: 'get',
  path: '/api/dead-letters',
  operationId: 'listDeadLetters',
  tags: ['Dead letters'],
  summary: 'Count dead letters by cause',
  ...needs({ right: 'read', looksLike }),
  request: { query: deadLetterChoiceSchema },
  responses: answers('The groups, largest first.', z.object({ groups: z.array(deadLetterGroupSchema) })),
});

export const itemsRoute = createRoute({
  method: 'get',
  path: '/api/dead-letters/items',
  operationId: 'showDeadLetters',
  tags: ['Dead letters'],
  summary: 'List dead letters, oldest first',
  ...needs({ right: 'read', looksLike }),
  request: {
    query: deadLetterChoiceSchema.extend({
      ...pageQuery,
      limit: z.coerce.number().int().min(1).max(maxShown).default(maxShown),
      personal: personalSchema,
    }),
  },
  responses: answers(
    'One page of dead letters.',
    pageOf(deadLetterSchema).extend({ more: z.boolean().describe('Whether more follow.') }),
  ),
});

const redrivePlanSchema = z
  .object({
    changes: z.int(),
    pigeonholes: z
      .array(
        z.object({
          workspace: z.string(),
          pigeonholeId: z.int(),
          changes: z.int(),
          changedSince: z
            .int()
            .describe(
              'Those whose item has changed since. A sink that keeps records receives its present state instead of the old change.',
            ),
          mayRepeat: z.int().describe('Those that the sink may already have received.'),
          confirmed: z.int().describe('Held removals of people who withdrew consent, which the redrive confirms.'),
        }),
      )
      .readonly(),
    paused: z.boolean().describe('Whether the sink is paused, so that nothing is sent before it is resumed.'),
  })
  .openapi('RedrivePlan');
export type RedrivePlan = z.infer<typeof redrivePlanSchema>;

export const redrivePlanRoute = createRoute({
  method: 'get',
  path: '/api/dead-letters/plan',
  operationId: 'planRedrive',
  tags: ['Dead letters'],
  summary: 'Count what a redrive of these dead letters would send, without sending it',
  ...needs({ right: 'read', looksLike }),
  request: { query: deadLetterChoiceSchema },
  responses: answers('The plan.', redrivePlanSchema),
});

/** Dead letters of at most this number of items can be chosen one by one. */
const maxChosen = 200;

const redriveSchema = deadLetterChoiceSchema.extend({
  items: z
    .array(z.strictObject({ pigeonhole: pigeonholeName(), list: listName(), key: itemKey() }))
    .min(1)
    .max(maxChosen)
    .optional()
    .describe('Only dead letters of these items.'),
});

export const redriveRoute = createRoute({
  method: 'post',
  path: '/api/dead-letters/redrive',
  operationId: 'redriveDeadLetters',
  tags: ['Dead letters'],
  summary: 'Send dead letters again',
  ...needs({ right: 'operate', looksLike }),
  request: { body: jsonBody(redriveSchema) },
  responses: answers(
    'The changes are due for delivery again.',
    z.object({ done: z.literal(true), changes: z.int() }),
    413,
    415,
  ),
});

export function serveDeadLetters(app: ApiApp, sources: ApiSources): void {
  const { ledger, starter } = sources;
  // Changes that nobody delivers any longer are neither listed nor sent again.
  const sent = <Choice extends DeadLetterChoice>(choice: Choice) => ({ ...choice, sentBy: sources.config });
  app.openapi(groupsRoute, async (c) => {
    const choice = c.req.valid('query');
    const workspace = workspaceOf(c, choice.workspace) ?? undefined;
    return c.json({ groups: (await deadLetterGroups(ledger, { ...sent(choice), workspace })).map(viewGroup) }, 200);
  });
  app.openapi(itemsRoute, async (c) => {
    const { limit, after, personal, ...choice } = c.req.valid('query');
    const shows = wantsPersonal(c, personal);
    const workspace = workspaceOf(c, choice.workspace) ?? undefined;
    const last = pages.endOf(after);
    const rows = await deadLetters(
      ledger,
      { ...sent(choice), workspace },
      {
        after:
          last === null
            ? null
            : { since: last[0], sinkId: last[1], pigeonholeNumber: last[2], sequence: last[3], replay: last[4] },
        limit: limit + 1,
      },
    );
    const part = pages.page(rows, limit, viewOne);
    const name = async () => await withNames(ledger, part.items, { personal: shows });
    const target = choice.sink === undefined ? null : sinkTarget(sources, choice.sink);
    const entry = { action: 'dead-letters-personal', target, detail: { limit } };
    const items = shows ? await audited(c, ledger, entry, name) : await name();
    return c.json({ items, next: part.next, more: part.next !== null }, 200);
  });
  app.openapi(redrivePlanRoute, async (c) => {
    const choice = c.req.valid('query');
    const workspace = workspaceOf(c, choice.workspace) ?? undefined;
    const pigeonholes = await planRedrive(ledger, { ...sent(choice), workspace });
    const changes = pigeonholes.reduce((sum, part) => sum + part.changes, 0);
    const names = choice.sink === undefined ? [] : [{ scope: 'sink', name: choice.sink } as const];
    const paused = (await pausesOf(ledger, names)).length > 0;
    return c.json({ changes, pigeonholes, paused }, 200);
  });
  app.openapi(redriveRoute, async (c) => {
    const { items, ...choice } = c.req.valid('json');
    const { sink, cause, list, pigeonhole } = choice;
    for (const place of [pigeonhole, ...(items ?? []).map((item) => item.pigeonhole)]) {
      if (place !== undefined) requireWorkspace(c, place.split('/')[0]!);
    }
    const workspace = workspaceOf(c, choice.workspace) ?? undefined;
    const detail = {
      cause: auditedCause(cause),
      list: list ?? null,
      pigeonhole: pigeonhole ?? null,
      oneItem: choice.key !== undefined,
      items: items?.length ?? null,
    };
    const target = sink === undefined ? null : sinkTarget(sources, sink);
    const changes = await audited(c, ledger, { action: 'redrive-dead-letters', target, detail }, async () => {
      const done = await redriveDeadLetters(ledger, { ...sent(choice), workspace }, items ?? null);
      await starter.wakeSinks(done.woken);
      return done.changes;
    });
    return c.json({ done: true, changes } as const, 200);
  });
}

function viewGroup(group: DeadLetterGroup): DeadLetterGroupView {
  return { ...withIsoInstants(group), ...causeText(group.cause) };
}

function viewOne({ position: _, ...one }: Positioned): Omit<DeadLetterView, 'name'> {
  return withIsoInstants(one);
}
