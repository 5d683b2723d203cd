import { createRoute, z } from '@hono/zod-openapi';
import { findAnything, type Found } from '../operations/find-anything.js';
import { configuredName } from '../base/printable.js';
import type { ApiApp, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { answers, jsonBody, needs } from './route-parts.js';
import { seesSink, wantsPersonal, workspaceOf } from './scope.js';

/** A text is in the body of the request because proxies log addresses, and it may be the address of a person. */
const findRequest = z.strictObject({
  text: z
    .string()
    .max(400)
    .regex(/\S/, { error: 'must not be empty' })
    .describe(
      'Beginnings of words in titles, names and questions; an e-mail address or an attendee code; an id, or `list:key`.',
    ),
  workspace: configuredName().optional(),
  personal: z
    .literal(true)
    .optional()
    .describe(
      'Also searches people and what they wrote. Requires the role privacy or admin, and is audited. Without it, only titles of events and sessions, names of sinks, workspaces and imported files, and keys are searched.',
    ),
  limit: z.int().min(1).max(100).default(20).describe('Maximum number of hits.'),
});

const hitSchema = z
  .object({
    kind: z.enum(['item', 'sink', 'workspace', 'import']),
    title: z.string().describe('What people call it: a title, a name or a text; without personal data, what it is.'),
    about: z.string().describe('What and where it is, in words.'),
    name: z.string().nullable().describe('Name of a sink or a workspace, number of an import; null for an item.'),
    item: z
      .object({ workspace: z.string(), pigeonholeId: z.int(), list: z.string(), key: z.string() })
      .nullable()
      .describe('Null unless `kind` is `item`.'),
  })
  .openapi('Hit');
export type HitView = z.infer<typeof hitSchema>;

const foundSchema = z.object({
  hits: z.array(hitSchema).readonly().describe('The most certain first.'),
  more: z.boolean().describe('There are more hits: a longer text finds fewer.'),
  unread: z.int().describe('Number of stored changes that the search does not know yet. A later search knows more.'),
});
export type FoundView = z.infer<typeof foundSchema>;

export const findRoute = createRoute({
  method: 'post',
  path: '/api/find',
  operationId: 'find',
  tags: ['Items'],
  summary: 'Find events, sessions, sinks and imports by name, and with personal data also people and questions',
  ...needs({ right: 'read', looksLike: 'this takes "text", and may have "personal" (true), "workspace" and "limit"' }),
  request: { body: jsonBody(findRequest) },
  responses: answers('What the text finds.', foundSchema, 413, 415),
});

export function serveFind(app: ApiApp, sources: Pick<ApiSources, 'ledger' | 'config'>): void {
  const { ledger, config } = sources;
  app.openapi(findRoute, async (c) => {
    const { text, workspace, personal, limit } = c.req.valid('json');
    const shows = wantsPersonal(c, personal === true ? '1' : undefined);
    const own = workspaceOf(c, workspace);
    const sinks = Object.keys(config.sinks).filter((sink) => seesSink(c, sources, sink));
    const find = async (): Promise<Found> =>
      await findAnything({ ledger, config }, { text, workspace: own, sinks, personal: shows, limit });
    // The text is not recorded, because it may be the name or the address of a person.
    const entry = { action: 'find-personal', target: own === null ? null : `workspace:${own}`, detail: { limit } };
    return c.json(shows ? await audited(c, ledger, entry, find) : await find(), 200);
  });
}
