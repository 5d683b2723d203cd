import type { ApiSources } from './api-sources.js';
import { createRoute } from '@hono/zod-openapi';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { Refused } from './problem.js';
import { jsonAnswer, jsonBody, needs, problems } from './route-parts.js';
import { actorOf, requireEveryWorkspace, requireWorkspace, sinkTarget } from './scope.js';
import { replayAnswerSchema, replayRequestSchema } from '../operations/start-replay.js';

const replayRoute = createRoute({
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
  responses: {
    200: jsonAnswer('The number of items that are sent again.', replayAnswerSchema),
    ...problems(404, 413, 415),
  },
});

/** `POST /api/replays`. */
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
        const answer = await replay(by === undefined ? wanted : { ...wanted, by });
        if ('unknown' in answer)
          throw new Refused(404, `${answer.unknown}: run "pigeonpost status" to see what exists`);
        return answer;
      },
    );
    return c.json(result, 200);
  });
}
