import { createRoute, z } from '@hono/zod-openapi';
import type { Ledger } from '../ledger/ledger.js';
import { auditEntries } from '../ledger/audit.js';
import type { ApiApp } from './api-app.js';
import { fromCursor, pageOf, pageQuery, partOf, positionOf } from './keyset.js';
import { printable, instant } from '../base/printable.js';
import { jsonAnswer, needs, problems, withIsoInstants } from './route-parts.js';
import { requireEveryWorkspace } from './scope.js';

const auditEntrySchema = z
  .object({
    number: z.int(),
    at: instant(),
    who: z.string().describe('Name of the token; `server.token`; `local` if no token was needed.'),
    token: z.string().nullable().describe('ID of a named token.'),
    action: z.string(),
    target: z.string().nullable(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    requestId: z.string().describe('`X-Request-Id` of the response.'),
    outcome: z
      .enum(['done', 'refused', 'failed'])
      .nullable()
      .describe('Null: the request is in progress, or its process ended before the response.'),
    status: z.int().nullable(),
    endedAt: instant().nullable(),
  })
  .openapi('AuditEntry');
export type AuditEntryView = z.infer<typeof auditEntrySchema>;

const word = printable(200).optional();

export const auditRoute = createRoute({
  method: 'get',
  path: '/api/audit',
  operationId: 'listAudit',
  tags: ['Audit log'],
  summary: 'List audited requests and their results, newest first',
  ...needs({ right: 'administer' }),
  request: { query: z.strictObject({ ...pageQuery, who: word, action: word, target: word }) },
  responses: { 200: jsonAnswer('One page of the log.', pageOf(auditEntrySchema)), ...problems() },
});

const numberPosition: z.ZodType<readonly [number]> = z.tuple([positionOf.int8]);

/** `GET /api/audit`. */
export function serveAuditLog(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(auditRoute, async (c) => {
    const { limit, after, who, action, target } = c.req.valid('query');
    requireEveryWorkspace(c);
    const last = fromCursor(numberPosition, after);
    const rows = await auditEntries(
      ledger,
      { who: who ?? null, action: action ?? null, target: target ?? null },
      { before: last?.[0] ?? null, limit: limit + 1 },
    );
    return c.json(partOf(rows, limit, { view: withIsoInstants, orderedBy: ({ number }) => [number] }), 200);
  });
}
