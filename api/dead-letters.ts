import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import {
  type DeadLetter,
  type DeadLetterGroup,
  deadLetterGroups,
  type DeadLetterPosition,
  deadLetters,
  redriveDeadLetters,
} from '../delivering/dead-letters.js';
import { audited } from './audit-log.js';
import { fromCursor, pageOf, pageQuery, partOf, positionOf } from './keyset.js';
import { jsonAnswer, jsonBody, needs, problems, withIsoInstants } from './route-parts.js';
import { configuredName, itemKey, listName, pigeonholeName, printable, instant } from '../base/printable.js';
import { requireWorkspace, sinkTarget, workspaceOf } from './scope.js';
import { causeText } from '../base/delivery-words.js';

/** Changes that a sink refused for one cause. */
const deadLetterGroupSchema = z
  .object({
    sink: z.string(),
    cause: z.string(),
    list: z.string(),
    changes: z.int(),
    oldest: instant(),
    newest: instant(),
    detail: z.string().nullable().describe('The response of the destination to the newest one, without data.'),
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

/** Maximum number of dead letters in one response. */
const maxShown = 1000;

const positionSchema: z.ZodType<readonly [string, number, number, number, number]> = z.tuple([
  positionOf.instant,
  positionOf.int4,
  positionOf.int4,
  positionOf.int8,
  positionOf.int4,
]);

const looksLike = 'dead letters are chosen by "sink", "cause", "list", "key", "workspace" and "pigeonhole"';

export const groupsRoute = createRoute({
  method: 'get',
  path: '/api/dead-letters',
  operationId: 'listDeadLetters',
  tags: ['Dead letters'],
  summary: 'Count dead letters by cause',
  ...needs({ right: 'read', looksLike }),
  request: { query: deadLetterChoiceSchema },
  responses: {
    200: jsonAnswer('The groups, largest first.', z.object({ groups: z.array(deadLetterGroupSchema) })),
    ...problems(),
  },
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
    }),
  },
  responses: {
    200: jsonAnswer(
      'One page of dead letters.',
      pageOf(deadLetterSchema).extend({ more: z.boolean().describe('Whether more follow.') }),
    ),
    ...problems(),
  },
});

export const redriveRoute = createRoute({
  method: 'post',
  path: '/api/dead-letters/redrive',
  operationId: 'redriveDeadLetters',
  tags: ['Dead letters'],
  summary: 'Send dead letters again',
  ...needs({ right: 'operate', looksLike }),
  request: { body: jsonBody(deadLetterChoiceSchema) },
  responses: {
    200: jsonAnswer('The changes are due for delivery again.', z.object({ done: z.literal(true), changes: z.int() })),
    ...problems(413, 415),
  },
});

export function serveDeadLetters(app: ApiApp, sources: ApiSources): void {
  const { ledger, starter } = sources;
  app.openapi(groupsRoute, async (c) => {
    const choice = c.req.valid('query');
    const workspace = workspaceOf(c, choice.workspace) ?? undefined;
    return c.json({ groups: (await deadLetterGroups(ledger, { ...choice, workspace })).map(viewGroup) }, 200);
  });
  app.openapi(itemsRoute, async (c) => {
    const { limit, after, ...choice } = c.req.valid('query');
    const workspace = workspaceOf(c, choice.workspace) ?? undefined;
    const last = fromCursor(positionSchema, after);
    const rows = await deadLetters(
      ledger,
      { ...choice, workspace },
      {
        after:
          last === null ? null : { since: last[0], sinkId: last[1], ref: last[2], sequence: last[3], replay: last[4] },
        limit: limit + 1,
      },
    );
    const part = partOf(rows, limit, { view: viewOne, orderedBy: ({ position }) => valuesOf(position) });
    return c.json({ ...part, more: part.next !== null }, 200);
  });
  app.openapi(redriveRoute, async (c) => {
    const choice = c.req.valid('json');
    const { sink, cause, list, pigeonhole } = choice;
    if (pigeonhole !== undefined) requireWorkspace(c, pigeonhole.split('/')[0]!);
    const workspace = workspaceOf(c, choice.workspace) ?? undefined;
    const detail = {
      cause: cause !== undefined && isCode.test(cause) ? cause : null,
      list: list ?? null,
      pigeonhole: pigeonhole ?? null,
      oneItem: choice.key !== undefined,
    };
    const target = sink === undefined ? null : sinkTarget(sources, sink);
    const changes = await audited(c, ledger, { action: 'redrive-dead-letters', target, detail }, async () => {
      const done = await redriveDeadLetters(ledger, { ...choice, workspace });
      await starter.wakeSinks(done.woken);
      return done.changes;
    });
    return c.json({ done: true, changes } as const, 200);
  });
}

function valuesOf({ since, sinkId, ref, sequence, replay }: DeadLetterPosition): readonly (string | number)[] {
  return [since, sinkId, ref, sequence, replay];
}

function viewGroup(group: DeadLetterGroup): DeadLetterGroupView {
  return { ...withIsoInstants(group), ...causeText(group.cause) };
}

function viewOne({ position: _, ...one }: DeadLetter & { readonly position: DeadLetterPosition }): DeadLetterView {
  return withIsoInstants(one);
}
