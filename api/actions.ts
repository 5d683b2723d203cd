import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { type Action, actionSchema } from '../operations/action.js';
import { audited } from './audit-log.js';
import { Refused } from './problem.js';
import { answers, jsonBody, needs } from './route-parts.js';
import { actorOf, notKnown, requireSink, requireWorkspace, sinkTarget, requireEveryWorkspace } from './scope.js';
import { replayAnswerSchema, replayRequestSchema } from '../operations/start-replay.js';

const doneSchema = z
  .object({
    done: z.literal(true),
    note: z.string().optional().describe('A sentence if there was nothing to do.'),
  })
  .openapi('Done');
export type Done = z.infer<typeof doneSchema>;

const nothingToReadAtSink = 'a sink is not read: give workspace:NAME or pigeonhole:WORKSPACE/ID';

export const actionRoute = createRoute({
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
  responses: answers('The action is done.', doneSchema, 404, 409, 413, 415),
});

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
          throw notKnown(c, sources, action);
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

export const replayRoute = createRoute({
  method: 'post',
  path: '/api/replays',
  operationId: 'replay',
  tags: ['Actions'],
  summary: 'Send stored items again, or count them',
  ...needs({
    right: 'operate',
    looksLike:
      'a replay has "id" (a UUID), "sink", "lists", "pigeonhole" and "from" (an instant), each null for all, and "dryRun"',
  }),
  request: { body: jsonBody(replayRequestSchema) },
  responses: answers('The number of items that are sent again.', replayAnswerSchema, 404, 413, 415),
});

export function serveReplays(app: ApiApp, sources: ApiSources): void {
  const { ledger, replay } = sources;
  app.openapi(replayRoute, async (c) => {
    const wanted = c.req.valid('json');
    const { sink, lists, pigeonhole, from, dryRun } = wanted;
    if (pigeonhole === null) requireEveryWorkspace(c);
    else requireWorkspace(c, pigeonhole.split('/')[0]!);
    const by = actorOf(c, wanted.by);
    const result = await audited(
      c,
      ledger,
      {
        action: 'replay',
        target: sink === null ? null : sinkTarget(sources, sink),
        detail: { id: wanted.id, lists: lists?.join(' ') ?? null, pigeonhole, from, dryRun },
      },
      async () => {
        if (sink !== null && !Object.hasOwn(sources.config.sinks, sink))
          throw notKnown(c, sources, { kind: 'sink', name: sink });
        const answer = await replay(by === undefined ? wanted : { ...wanted, by });
        if ('unknown' in answer)
          throw new Refused(404, `${answer.unknown}: run "pigeonpost status" to see what exists`);
        return answer;
      },
    );
    return c.json(result, 200);
  });
}
