import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import type { Ledger } from '../ledger/ledger.js';
import { countPerson } from '../people/export-person.js';
import { countSharing, type PersonPlace } from '../people/find-person.js';
import { type Erasure, latestErasureFor, listErasures, readErasure, receiptsOf } from '../people/erasures.js';
import { liftErasure, requestErasure } from '../people/erasure-states.js';
import { forgetting } from '../operations/orchestration.js';
import { audited } from './audit-log.js';
import { answers, jsonBody, needs, withIsoInstants, pageOf, pageQuery, positionOf, pagesBy } from './route-parts.js';
import { namedPerson, personText, personWorkspace } from './persons.js';
import { printable, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { actorOf, requireEveryWorkspace, workspaceOf } from './scope.js';
import { readErasureList } from '../people/erasure-list.js';
import { erasureListSchema } from '../operations/backup/restore-store.js';

const receiptSchema = z
  .object({
    place: z
      .string()
      .describe(
        '`ledger`, `imports`, `others`, `import:7`, `service:acme`, `sink:hooks acme/101` or, for an earlier open erasure of the same person, `erasure:` and its id.',
      ),
    count: z.int(),
    outcome: z.enum(['erased', 'told', 'nothing', 'waiting', 'by-hand']),
    detail: z.string().nullable(),
    todo: z.string().nullable().describe('The action that a person has to take.'),
    at: instant(),
  })
  .openapi('ErasureReceipt');

const erasureSchema = z
  .object({
    id: z.uuid(),
    state: z.enum(['running', 'done']),
    requestedBy: z.string().nullable(),
    reason: z.string().nullable(),
    requestedAt: instant(),
    clearedAt: instant().nullable().describe('When the last data of the person left the ledger.'),
    endedAt: instant().nullable().describe('When the last place confirmed.'),
  })
  .openapi('Erasure');
type ErasureView = z.infer<typeof erasureSchema>;

const wholeErasureSchema = erasureSchema
  .extend({ receipts: z.array(receiptSchema).readonly() })
  .openapi('ErasureWithReceipts');
export type WholeErasureView = z.infer<typeof wholeErasureSchema>;

const planSchema = z
  .object({
    people: z.array(z.object({ workspace: z.string(), pigeonholeId: z.int(), attendees: z.int(), codes: z.int() })),
    items: z.record(z.string(), z.int()).readonly().describe('Counts by list, without anonymous items.'),
    importRows: z.int(),
    sinks: z.array(z.string()).readonly().describe('Sinks that received at least one of the items.'),
    sharing: z.int().describe('Number of other people with the same e-mail address. Their data is kept.'),
  })
  .openapi('ErasurePlan');
export type ErasurePlanView = z.infer<typeof planSchema>;

const erasureRequestSchema = z
  .strictObject({
    id: z.uuid().describe('Chosen by the client, so that a repeated request is the same erasure.'),
    attendee: personText,
    workspace: personWorkspace,
    by: printable(200).optional(),
    reason: printable(500).optional().describe('Free text, which is removed with the last data of the person.'),
  })
  .openapi('ErasureRequest');

const looksLike = 'an erasure has "id" (a UUID) and "attendee" (an id, a code or an e-mail address)';
const idParam = z.object({
  id: z.uuid({ error: 'the id of an erasure is a UUID, as "pigeonpost erasures list" prints it' }),
});

export const planRoute = createRoute({
  method: 'post',
  path: '/api/erasures/plan',
  operationId: 'planErasure',
  tags: ['Privacy'],
  summary: 'Count what would be removed if a person were forgotten; changes nothing',
  ...needs({ right: 'erase', looksLike: 'this takes "attendee": an id, a code or an e-mail address' }),
  request: { body: jsonBody(z.strictObject({ attendee: personText, workspace: personWorkspace })) },
  responses: answers('The numbers of records that the erasure would affect.', planSchema, 404, 409, 413, 415),
});

export const requestRoute = createRoute({
  method: 'post',
  path: '/api/erasures',
  operationId: 'requestErasure',
  tags: ['Privacy'],
  summary: 'Forget a person in the ledger and in every sink',
  ...needs({ right: 'erase', looksLike }),
  request: { body: jsonBody(erasureRequestSchema) },
  responses: answers('The erasure, started by this request or an earlier one.', wholeErasureSchema, 404, 409, 413, 415),
});

export const listRoute = createRoute({
  method: 'get',
  path: '/api/erasures',
  operationId: 'listErasures',
  tags: ['Privacy'],
  summary: 'List erasures, without the names of the people',
  ...needs({ right: 'erase' }),
  request: { query: z.strictObject(pageQuery) },
  responses: answers('One page of erasures, newest first.', pageOf(erasureSchema)),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/erasures/{id}',
  operationId: 'showErasure',
  tags: ['Privacy'],
  summary: 'Show the progress of an erasure, with a receipt for each place',
  ...needs({ right: 'erase' }),
  request: { params: idParam },
  responses: answers('The erasure, with its result at each destination.', wholeErasureSchema, 404),
});

export const liftRoute = createRoute({
  method: 'post',
  path: '/api/erasures/{id}/lift',
  operationId: 'liftErasure',
  tags: ['Privacy'],
  summary: "Allow data of a forgotten person to be read again, at the person's request",
  ...needs({ right: 'erase' }),
  request: { params: idParam, body: jsonBody(z.strictObject({})) },
  responses: answers('The action is done.', z.object({ done: z.literal(true) }), 404, 409, 413, 415),
});

/** `/api/erasures`. */
export function serveErasures(app: ApiApp, sources: ApiSources): void {
  const { ledger, starter } = sources;
  app.openapi(planRoute, async (c) => {
    const { attendee, workspace: named } = c.req.valid('json');
    const workspace = workspaceOf(c, named);
    const plan = await audited(c, ledger, { action: 'plan-erasure', target: null }, async () => {
      const places = await namedPerson(ledger, attendee, workspace);
      if (places.length === 0 && (await latestErasureFor(ledger, attendee, workspace)) === undefined) throw nobody();
      const sharing = await countSharing(ledger, places, workspace);
      return { people: places.map(viewPlace), ...(await countPerson(ledger, places, attendee)), sharing };
    });
    return c.json(plan, 200);
  });
  app.openapi(requestRoute, async (c) => {
    const { id, attendee, workspace: named, by, reason } = c.req.valid('json');
    const workspace = workspaceOf(c, named);
    const erasure = await audited(c, ledger, { action: 'erase', target: `erasure:${id}` }, async () => {
      const places = await namedPerson(ledger, attendee, workspace);
      if (places.length === 0) {
        const before =
          (await readErasure(ledger, id, workspace)) ?? (await latestErasureFor(ledger, attendee, workspace));
        if (before === undefined) throw nobody();
        return before;
      }
      const names = { asked: attendee, places };
      const sharing = await countSharing(ledger, places, workspace);
      await requestErasure(ledger, { id, names, by: actorOf(c, by) ?? null, reason: reason ?? null, sharing });
      await starter.start(forgetting(id));
      return (await readErasure(ledger, id))!;
    });
    return c.json(await viewWhole(ledger, erasure), 200);
  });
  app.openapi(listRoute, async (c) => {
    requireEveryWorkspace(c);
    const { limit, after } = c.req.valid('query');
    const last = pages.endOf(after);
    const rows = await listErasures(ledger, { before: last?.[0] ?? null, limit: limit + 1 });
    return c.json(pages.page(rows, limit, viewErasure), 200);
  });
  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param');
    return c.json(await viewWhole(ledger, await required(ledger, id, workspaceOf(c))), 200);
  });
  app.openapi(liftRoute, async (c) => {
    requireEveryWorkspace(c);
    const { id } = c.req.valid('param');
    await audited(c, ledger, { action: 'lift-erasure', target: `erasure:${id}` }, async () => {
      const erasure = await required(ledger, id);
      if (erasure.endedAt === null)
        throw new Refused(409, 'the erasure is still in progress: lift it after it has ended');
      if (!(await liftErasure(ledger, erasure.number))) throw new Refused(409, 'the erasure was lifted before');
    });
    return c.json({ done: true as const }, 200);
  });
}

const pages = pagesBy(z.tuple([positionOf.int4]), ({ number }: Erasure) => [number]);

const nobody = (): Refused =>
  new Refused(
    404,
    'no person has this id, code or e-mail address. If "retention" removed the texts of a person, only the id or code finds them. "pigeonpost status" shows what has been read',
  );

async function required(ledger: Ledger, id: string, workspace: string | null = null): Promise<Erasure> {
  const erasure = await readErasure(ledger, id, workspace);
  if (erasure === undefined)
    throw new Refused(404, 'no erasure has this id: run "pigeonpost erasures list" to see the ids');
  return erasure;
}

function viewPlace({ workspace, pigeonholeId, attendeeIds, codes }: PersonPlace) {
  return { workspace, pigeonholeId, attendees: attendeeIds.length, codes: codes.length };
}

function viewErasure({ id, requestedBy, reason, requestedAt, clearedAt, endedAt }: Erasure): ErasureView {
  const state = endedAt === null ? 'running' : 'done';
  return withIsoInstants({ id, state, requestedBy, reason, requestedAt, clearedAt, endedAt });
}

async function viewWhole(ledger: Ledger, erasure: Erasure): Promise<WholeErasureView> {
  return { ...viewErasure(erasure), receipts: (await receiptsOf(ledger, erasure.number)).map(withIsoInstants) };
}

export const forgottenRoute = createRoute({
  method: 'get',
  path: '/api/forgotten',
  operationId: 'listForgotten',
  tags: ['Privacy'],
  summary: 'Export all forgotten people as keyed hashes, for a ledger that is restored from a backup',
  ...needs({ right: 'erase' }),
  responses: answers('The list, by erasure, oldest first.', erasureListSchema),
});

export function serveForgotten(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(forgottenRoute, async (c) => {
    requireEveryWorkspace(c);
    const list = await audited(c, ledger, { action: 'list-forgotten', target: null }, () => readErasureList(ledger.db));
    return c.json(list, 200);
  });
}
