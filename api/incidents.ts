import { createRoute, z } from '@hono/zod-openapi';
import { instant } from '../base/printable.js';
import {
  type IncidentRow,
  type IncidentScope,
  keptDays,
  listIncidents,
} from '../operations/incidents/incident-store.js';
import { severities, subjectKinds } from '../operations/problem-traits.js';
import { problemCodes, traitsOf, type ProblemCode } from '../operations/problems.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { answers, needs, pageOf, pageQuery, pagesBy, positionOf } from './route-parts.js';
import { servesOnly } from './scope.js';

const incidentSchema = z
  .object({
    number: z.int(),
    code: z.string().describe('Code of the problem, as in `GET /api/status`.'),
    severity: z.enum(severities),
    stops: z.boolean().describe('Whether its subject read or received nothing while the problem lasted.'),
    kind: z.enum(subjectKinds),
    name: z.string().describe('Name of the subject as used in actions; empty for the process.'),
    since: instant(),
    endedAt: instant().nullable().describe('Null: it lasts. An end is recorded after a minute without the problem.'),
    returns: z.int().describe('Number of times that the problem returned within 10 minutes after its end.'),
    title: z.string().describe('One sentence without its full stop, as the problem last said it.'),
    says: z.string().nullable().describe('Details and consequences.'),
    advice: z.string().nullable().describe('The action that helps; null: the problem ends without one.'),
    page: z.string().nullable().describe('Address of the page that shows it; null: no page does.'),
    notified: z
      .array(
        z.object({
          receiver: z
            .string()
            .nullable()
            .describe('Type and address of the receiver, without credentials; null: it is no longer configured.'),
          kind: z.enum(['raised', 'recovered']),
          at: instant().describe('When it last accepted an alert of this kind.'),
        }),
      )
      .describe('The receivers that accepted an alert about it. Empty for a token of one workspace.'),
  })
  .openapi('Incident');
export type IncidentView = z.infer<typeof incidentSchema>;

export const incidentsRoute = createRoute({
  method: 'get',
  path: '/api/incidents',
  operationId: 'listIncidents',
  tags: ['Status'],
  summary: `List the problems of the last ${keptDays} days with their start and end, newest first`,
  ...needs({ right: 'read' }),
  request: {
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(['open', 'ended']).optional().describe('Only those that last, or that have ended.'),
      since: z.iso
        .datetime()
        .regex(/^[1-9]/)
        .optional()
        .describe('Only those that had not ended at this instant.'),
    }),
  },
  responses: answers('One page of the incidents.', pageOf(incidentSchema)),
});

const pages = pagesBy(z.tuple([positionOf.int8]), ({ number }: IncidentRow) => [number]);

export function serveIncidents(app: ApiApp, sources: ApiSources): void {
  app.openapi(incidentsRoute, async (c) => {
    const { limit, after, state, since } = c.req.valid('query');
    const scope = incidentScopeOf(c, sources);
    const [rows, names] = await Promise.all([
      listIncidents(
        sources.ledger,
        {
          isOpen: state === undefined ? null : state === 'open',
          since: since === undefined ? null : new Date(since),
          scope,
        },
        { before: pages.endOf(after)?.[0] ?? null, limit: limit + 1 },
      ),
      sources.alerts.receiverNames(),
    ]);
    return c.json(
      pages.page(rows, limit, (row) => viewOf(row, scope === null ? names : null)),
      200,
    );
  });
}

/** Returns the incidents that the caller may see; null: all. */
export function incidentScopeOf(c: ApiContext, sources: Pick<ApiSources, 'config'>): IncidentScope | null {
  const { workspace } = c.get('caller');
  if (workspace === null) return null;
  // The sentences about a sink count the changes of every workspace that it serves.
  return { workspace, sinks: Object.keys(sources.config.sinks).filter((sink) => servesOnly(sources, sink, workspace)) };
}

/** @param names of the receivers; null: the caller may not see them */
function viewOf(row: IncidentRow, names: ReadonlyMap<string, string> | null): IncidentView {
  const { number, code, kind, subject: name, since, endedAt, returns, title, says, advice, page, notified } = row;
  const isKnown = (problemCodes as readonly string[]).includes(code); // another version may have stored it
  const { severity, stops } = isKnown
    ? traitsOf(code as ProblemCode)
    : ({ severity: 'warning', stops: false } as const);
  return {
    number,
    code,
    severity,
    stops,
    kind,
    name,
    since: since.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    returns,
    title,
    says,
    advice,
    page,
    notified:
      names === null
        ? []
        : notified.map((each) => ({
            receiver: names.get(each.receiver) ?? null,
            kind: each.kind,
            at: each.at.toISOString(),
          })),
  };
}
