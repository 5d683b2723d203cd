import { createRoute, z } from '@hono/zod-openapi';
import { listNames } from '../base/lists.js';
import { configuredName, itemKey, pigeonholeName } from '../base/printable.js';
import {
  auditRequestSchema,
  differingClasses,
  findingSchema,
  type FindingView,
  paritySchema,
  readFindings,
  readParity,
  repairRequestSchema,
} from '../operations/audit-sink.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { Refused } from './problem.js';
import { itemNameSchema, withNames } from './item-names.js';
import { answers, jsonBody, needs, pageOf, pageQuery, pagesBy, positionOf } from './route-parts.js';
import { actorOf, notKnown, requireSink, requireWorkspace, seesSink, sinkTarget, workspaceOf } from './scope.js';

const nameParams = z.object({ name: configuredName() });
const placeQuery = { pigeonhole: pigeonholeName().optional() };

export const parityRoute = createRoute({
  method: 'get',
  path: '/api/sinks/{name}/parity',
  operationId: 'showParity',
  tags: ['Sinks'],
  summary: 'Show whether the destination of a sink holds what was delivered',
  description: 'The results of audits, by pigeonhole, and what a repair would do.',
  ...needs({ right: 'read' }),
  request: { params: nameParams, query: z.strictObject(placeQuery) },
  responses: answers('The results, sorted by pigeonhole.', paritySchema, 404),
});

const namedFindingSchema = findingSchema.extend({ name: itemNameSchema }).openapi('NamedParityFinding');
export type NamedFinding = z.infer<typeof namedFindingSchema>;

export const findingsRoute = createRoute({
  method: 'get',
  path: '/api/sinks/{name}/parity/findings',
  operationId: 'listParityFindings',
  tags: ['Sinks'],
  summary: 'List the differences that audits of a sink have found',
  ...needs({ right: 'read' }),
  request: {
    params: nameParams,
    query: z.strictObject({
      ...pageQuery,
      ...placeQuery,
      class: z.enum(differingClasses).optional(),
      list: z.enum(listNames).optional().describe('With `key`: only the findings of this item.'),
      key: itemKey().optional(),
    }),
  },
  responses: answers('One page of findings, oldest first.', pageOf(namedFindingSchema), 404),
});

export const auditRoute = createRoute({
  method: 'post',
  path: '/api/sinks/{name}/audits',
  operationId: 'auditSink',
  tags: ['Sinks'],
  summary: 'Compare the destination of a sink with what was delivered',
  description: 'Starts an audit. It only reads at the destination, at low priority. `showParity` shows its progress.',
  ...needs({ right: 'operate', looksLike: 'an audit has "pigeonhole" (<workspace>/<id>, or null for all)' }),
  request: { params: nameParams, body: jsonBody(auditRequestSchema) },
  responses: answers(
    'The audit was requested.',
    z.object({ lanes: z.int().describe('Number of pigeonholes.') }).openapi('StartedAudit'),
    404,
    409,
    413,
    415,
  ),
});

export const repairRoute = createRoute({
  method: 'post',
  path: '/api/sinks/{name}/repairs',
  operationId: 'repairSink',
  tags: ['Sinks'],
  summary: 'Repair the differences that audits of a sink have found',
  description:
    'Sends exactly the items that differ again, and removes what should not be there. Other items are not touched. Request the plan with `showParity` first.',
  ...needs({
    right: 'operate',
    looksLike: 'a repair has "id" (a UUID), "pigeonhole" (null for all) and "until" (plan.until of the parity)',
  }),
  request: { params: nameParams, body: jsonBody(repairRequestSchema) },
  responses: answers(
    'The repair was requested.',
    z.object({ findings: z.int().describe('Number of findings that it contains.') }).openapi('StartedRepair'),
    404,
    409,
    413,
    415,
  ),
});

const findingPages = pagesBy(z.tuple([positionOf.int8]), ({ number }: FindingView) => [number]);

export function serveParity(app: ApiApp, sources: ApiSources): void {
  const { ledger } = sources;
  const known = (c: ApiContext, name: string): void => {
    if (Object.hasOwn(sources.config.sinks, name) && seesSink(c, sources, name)) return;
    throw notKnown(c, sources, { kind: 'sink', name });
  };
  const scopeOf = (c: ApiContext, sink: string, pigeonhole: string | undefined) => {
    const [workspace, id] = pigeonhole?.split('/') ?? [];
    return { sink, workspace: workspaceOf(c, workspace), pigeonholeId: id === undefined ? null : Number(id) };
  };
  app.openapi(parityRoute, async (c) => {
    const { name } = c.req.valid('param');
    const { pigeonhole } = c.req.valid('query');
    known(c, name);
    return c.json(await readParity(sources, scopeOf(c, name, pigeonhole), sources.canAudit(name)), 200);
  });
  app.openapi(findingsRoute, async (c) => {
    const { name } = c.req.valid('param');
    const { limit, after, pigeonhole, class: only, list, key } = c.req.valid('query');
    known(c, name);
    const rows = await readFindings(ledger, {
      ...scopeOf(c, name, pigeonhole),
      class: only ?? null,
      item: list === undefined || key === undefined ? null : { list, key },
      after: findingPages.endOf(after)?.[0] ?? 0,
      limit: limit + 1,
    });
    const { items, next } = findingPages.page(rows, limit, (row) => row);
    return c.json({ items: await withNames(ledger, items, { personal: false }), next }, 200);
  });
  app.openapi(auditRoute, async (c) => {
    const { name } = c.req.valid('param');
    const { pigeonhole } = c.req.valid('json');
    requireTarget(c, name, pigeonhole);
    const result = await audited(
      c,
      ledger,
      { action: 'audit', target: sinkTarget(sources, name), detail: { pigeonhole } },
      async () => {
        known(c, name);
        return unlessRefused(await sources.audit({ sink: name, pigeonhole }));
      },
    );
    return c.json(result, 200);
  });
  app.openapi(repairRoute, async (c) => {
    const { name } = c.req.valid('param');
    const wanted = c.req.valid('json');
    const { pigeonhole, id, until } = wanted;
    requireTarget(c, name, pigeonhole);
    const by = actorOf(c, wanted.by);
    const result = await audited(
      c,
      ledger,
      { action: 'repair', target: sinkTarget(sources, name), detail: { id, pigeonhole, until } },
      async () => {
        known(c, name);
        return unlessRefused(await sources.repair(name, by === undefined ? wanted : { ...wanted, by }));
      },
    );
    return c.json(result, 200);
  });

  function requireTarget(c: ApiContext, sink: string, pigeonhole: string | null): void {
    if (pigeonhole === null) requireSink(c, sources, sink);
    else requireWorkspace(c, pigeonhole.split('/')[0]!);
  }
}

/** @throws {Refused} 404 or 409 with the sentence of a refusal */
function unlessRefused<Result extends object>(
  result: Result | { readonly unknown: string } | { readonly refused: string },
): Result {
  if ('unknown' in result) throw new Refused(404, `${result.unknown}: run "pigeonpost status" to see what exists`);
  if ('refused' in result) throw new Refused(409, result.refused);
  return result;
}
