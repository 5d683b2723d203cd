import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { decideHold, heldItems, type Hold, openHolds } from '../reading/holds.js';
import { audited } from './audit-log.js';
import { idText, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { answers, jsonBody, needs, personalSchema, withIsoInstants } from './route-parts.js';
import { requireWorkspace, wantsPersonal, workspaceOf } from './scope.js';
import type { Ledger } from '../ledger/ledger.js';
import { eventTitles, nameItems } from '../operations/name-items.js';
import { itemNameSchema } from './item-names.js';

/** Maximum number of items that a response names. */
const maxNamed = 500;

/** Held deletions, as the API shows them. */
const heldDeletionsSchema = z
  .object({
    id: z.int(),
    workspace: z.string(),
    pigeonholeId: z.int(),
    event: z.string().nullable().describe('Title of the event.'),
    list: z.string(),
    foundAt: instant(),
    items: z.int().describe('Number of items that are still missing.'),
    ofItems: z.int().describe('Number of items that the list had.'),
    sessions: z
      .array(
        z.object({
          sessionId: z.int().nullable(),
          title: z.string().nullable().describe('Title of the session.'),
          items: z.int(),
        }),
      )
      .readonly()
      .describe('Counts by session, for lists that are read by session; others under null.'),
    keys: z
      .array(z.string())
      .readonly()
      .optional()
      .describe('Keys of the items; only in the response for a single hold.'),
    names: z
      .array(itemNameSchema)
      .readonly()
      .optional()
      .describe(
        `Names of the first ${maxNamed} items, in the order of the keys; only in the response for a single hold.`,
      ),
  })
  .openapi('HeldDeletions');
export type HeldDeletions = z.infer<typeof heldDeletionsSchema>;

const decisionSchema = z
  .strictObject({
    decision: z.enum(['confirmed', 'rejected']),
    items: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .describe('Number of items that the operator saw. If the number has changed since, nothing is done.'),
  })
  .openapi('Decision');
export type Decision = z.infer<typeof decisionSchema>;

/** A decision about several held deletions. Without a scope, it concerns all that the caller may see. */
const wideDecisionSchema = decisionSchema
  .extend({
    workspace: z.string().min(1).max(200).optional().describe('Only deletions of this workspace.'),
    pigeonholeId: z.int().min(0).optional().describe('Only deletions of this pigeonhole; needs `workspace`.'),
    list: z.string().min(1).max(100).optional().describe('Only deletions of this list.'),
    items: decisionSchema.shape.items.describe(
      'Number of items in all held deletions of the scope, as the operator saw it. If the number has changed since, nothing is done.',
    ),
  })
  .refine(({ workspace, pigeonholeId }) => pigeonholeId === undefined || workspace !== undefined, {
    path: ['pigeonholeId'],
    message: 'needs "workspace", because two workspaces may have the same id',
  })
  .openapi('WideDecision', {
    not: { required: ['pigeonholeId'], properties: { workspace: { not: {} } } },
  });

const oneOfThem = z.object({ id: idText() });

export const listRoute = createRoute({
  method: 'get',
  path: '/api/deletions',
  operationId: 'listDeletions',
  tags: ['Deletions'],
  summary: 'List deletions that wait for an operator because unusually many items disappeared',
  ...needs({ right: 'read' }),
  responses: answers(
    'The deletions that wait for an operator, oldest first.',
    z.object({ held: z.array(heldDeletionsSchema) }),
  ),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/deletions/{id}',
  operationId: 'showDeletions',
  tags: ['Deletions'],
  summary: 'List the items of a held deletion',
  ...needs({ right: 'read' }),
  request: { params: oneOfThem, query: z.strictObject({ personal: personalSchema }) },
  responses: answers('The held deletions with their items.', heldDeletionsSchema, 404),
});

export const decideRoute = createRoute({
  method: 'post',
  path: '/api/deletions/{id}',
  operationId: 'decideDeletions',
  tags: ['Deletions'],
  summary: 'Confirm a held deletion, or keep its items',
  ...needs({ right: 'operate', looksLike: 'a decision has "decision" (confirmed, rejected) and "items"' }),
  request: { params: oneOfThem, body: jsonBody(decisionSchema) },
  responses: answers(
    'The decision is stored.',
    z.object({ done: z.literal(true), items: z.int() }),
    404,
    409,
    413,
    415,
  ),
});

export const decideAllRoute = createRoute({
  method: 'post',
  path: '/api/deletions',
  operationId: 'decideAllDeletions',
  tags: ['Deletions'],
  summary: 'Confirm or reject all held deletions, or those of a workspace, a pigeonhole or a list',
  ...needs({
    right: 'operate',
    looksLike:
      'a decision has "decision" (confirmed, rejected), "items", and perhaps "workspace", "pigeonholeId" and "list"',
  }),
  request: { body: jsonBody(wideDecisionSchema) },
  responses: answers(
    'The decisions are stored. If the request fails in between, repeat it with the number of items that are still held.',
    z.object({
      done: z.literal(true),
      deletions: z.int().describe('Number of held deletions that were decided.'),
      items: z.int().describe('Number of their items.'),
    }),
    404,
    409,
    413,
    415,
  ),
});

export function serveDeletions(app: ApiApp, { ledger, starter }: Pick<ApiSources, 'ledger' | 'starter'>): void {
  const own = async (c: ApiContext): Promise<Hold[]> => {
    const workspace = workspaceOf(c);
    return (await openHolds(ledger)).filter((hold) => workspace === null || hold.workspace === workspace);
  };
  const find = async (c: ApiContext, id: string): Promise<Hold> => {
    const hold = (await own(c)).find((each) => String(each.id) === id);
    if (hold !== undefined) return hold;
    throw new Refused(404, `no held deletion has the number ${id}: run "pigeonpost deletions list" to see the numbers`);
  };
  app.openapi(listRoute, async (c) => c.json({ held: await viewHolds(ledger, await own(c)) }, 200));
  app.openapi(showRoute, async (c) => {
    const shows = wantsPersonal(c, c.req.valid('query').personal);
    const hold = await find(c, c.req.valid('param').id);
    const { id, workspace, pigeonholeId, list } = hold;
    const read = async () => {
      const [[view], keys] = await Promise.all([viewHolds(ledger, [hold]), heldItems(ledger, id)]);
      const items = keys.slice(0, maxNamed).map((key) => ({ workspace, pigeonholeId, list, key }));
      return { ...view!, keys, names: await nameItems(ledger, items, { personal: shows }) };
    };
    const target = `pigeonhole:${workspace}/${pigeonholeId}`;
    const entry = { action: 'list-personal', target, detail: { list, limit: maxNamed } };
    return c.json(shows ? await audited(c, ledger, entry, read) : await read(), 200);
  });
  const decide = async (hold: Hold, decision: Decision['decision']): Promise<number | undefined> => {
    const decided = await decideHold(ledger, hold.id, decision);
    if (decided !== undefined) await starter.wakeSinks(decided.woken);
    return decided?.items;
  };
  app.openapi(decideAllRoute, async (c) => {
    const { decision, items, workspace, pigeonholeId, list } = c.req.valid('json');
    if (workspace !== undefined) requireWorkspace(c, workspace);
    const place = pigeonholeId === undefined ? workspace : `${workspace}/${pigeonholeId}`;
    const target =
      place === undefined ? 'deletions' : `${pigeonholeId === undefined ? 'workspace' : 'pigeonhole'}:${place}`;
    const detail = { list: list ?? null, items, decision };
    const done = await audited(c, ledger, { action: 'decide-deletions', target, detail }, async () => {
      const holds = (await own(c)).filter(
        (hold) =>
          (workspace === undefined || hold.workspace === workspace) &&
          (pigeonholeId === undefined || hold.pigeonholeId === pigeonholeId) &&
          (list === undefined || hold.list === list),
      );
      if (holds.length === 0) throw new Refused(404, 'no deletions are held there: run "pigeonpost deletions list"');
      requireSeen(
        holds.reduce((sum, hold) => sum + hold.items, 0),
        items,
      );
      const decided = { deletions: 0, items: 0 };
      for (const hold of holds) {
        const count = await decide(hold, decision);
        if (count === undefined) continue; // another operator was faster
        decided.deletions += 1;
        decided.items += count;
      }
      return decided;
    });
    return c.json({ done: true, ...done } as const, 200);
  });
  app.openapi(decideRoute, async (c) => {
    const { decision, items } = c.req.valid('json');
    const hold = await find(c, c.req.valid('param').id);
    const target = `pigeonhole:${hold.workspace}/${hold.pigeonholeId}`;
    const detail = { deletions: hold.id, list: hold.list, items, decision };
    const done = await audited(c, ledger, { action: 'decide-deletions', target, detail }, async () => {
      requireSeen(hold.items, items);
      const decided = await decide(hold, decision);
      if (decided === undefined)
        throw new Refused(404, `an operator has already decided about held deletions ${hold.id}`);
      return decided;
    });
    return c.json({ done: true, items: done } as const, 200);
  });
}

/** Returns held deletions with the titles of their events and sessions. */
async function viewHolds(ledger: Ledger, holds: readonly Hold[]): Promise<HeldDeletions[]> {
  const events = await eventTitles(ledger, holds);
  const sessions = holds.flatMap(({ workspace, pigeonholeId, sessions: own }) =>
    own.map(({ sessionId }) => ({ workspace, pigeonholeId, list: 'sessions', key: String(sessionId) })),
  );
  const titles = (await nameItems(ledger, sessions, { personal: false })).map(({ title }) => title);
  let at = 0;
  return holds.map((hold, n) => ({
    ...withIsoInstants(hold),
    event: events[n]!,
    sessions: hold.sessions.map((each) => ({ ...each, title: titles[at++]! })),
  }));
}

/** @throws {Refused} 409 if the number of items is no longer the one that the operator saw */
function requireSeen(items: number, seen: number): void {
  if (items === seen) return;
  const missing = items === 1 ? '1 item is' : `${items} items are`;
  throw new Refused(409, `${missing} missing now, not ${seen}: look again before you decide`);
}
