import type { ApiSources } from './api-sources.js';
import { createRoute, z } from '@hono/zod-openapi';
import { type Action, actionSchema } from '../operations/action.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { Refused } from './problem.js';
import { jsonAnswer, jsonBody, needs, problems } from './route-parts.js';
import { actorOf, requireSink, requireWorkspace, sinkTarget } from './scope.js';

export const doneSchema = z
  .object({
    done: z.literal(true),
    note: z.string().optional().describe('A sentence if there was nothing to do.'),
  })
  .openapi('Done');
export type Done = z.infer<typeof doneSchema>;

const nothingToReadAtSink = 'a sink is not read: give workspace:NAME or pigeonhole:WORKSPACE/ID';

const actionRoute = createRoute({
  method: 'post',
  path: '/api/actions',
  operationId: 'act',
  tags: ['Actions'],
  summary: 'Pause, resume, retry or read something now, or start sending from an observing sink',
  ...needs({
    right: 'operate',
    looksLike:
      'an action has "do" (pause, resume, try-now, poll-now, sweep; approve for a sink), "kind" (workspace, pigeonhole, sink), "name", and may have "list", "forSeconds", "by" and "reason"',
  }),
  request: { body: jsonBody(actionSchema) },
  responses: { 200: jsonAnswer('The action is done.', doneSchema), ...problems(404, 409, 413, 415) },
});

/** `POST /api/actions`. */
export function serveActions(app: ApiApp, sources: ApiSources): void {
  app.openapi(actionRoute, async (c) => {
    const action = c.req.valid('json');
    const { kind, name } = action;
    if ((action.do === 'poll-now' || action.do === 'sweep') && kind === 'sink') {
      throw new Refused(400, nothingToReadAtSink);
    }
    if (kind === 'sink') requireSink(c, sources, name);
    else requireWorkspace(c, name.split('/')[0]!);
    const note = await audited(
      c,
      sources.ledger,
      {
        action: action.do,
        target: kind === 'sink' ? sinkTarget(sources, name) : auditedPlace(kind, name),
        detail: {
          list: action.list ?? null,
          ...(action.forSeconds === undefined ? {} : { forSeconds: action.forSeconds }),
        },
      },
      async () => {
        const by = actorOf(c, action.by);
        const result = await sources.act(by === undefined ? action : { ...action, by });
        if (result === 'unknown') {
          throw new Refused(404, `no ${kind} ${name} is known: run "pigeonpost status" to see what exists`);
        }
        if (result === 'done') return undefined;
        if ('note' in result) return result.note;
        throw new Refused(409, result.refused);
      },
    );
    return c.json({ done: true as const, ...(note === undefined ? {} : { note }) }, 200);
  });
}

/** Returns the subject's name for the audit log. A name that nothing can have is arbitrary input and is left out. */
function auditedPlace(kind: Action['kind'], name: string): string {
  return /^[a-z0-9-]{1,63}(?:\/[0-9]{1,15})?$/.test(name) ? `${kind}:${name}` : `${kind}, not known`;
}
