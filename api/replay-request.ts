import { createRoute, z } from '@hono/zod-openapi';
import { listNames } from '../config/schema/list-names.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { configuredName, pigeonholeName, printable } from '../base/printable.js';
import { Refused } from './problem.js';
import { jsonAnswer, jsonBody, needs, problems } from './route-parts.js';
import { actorOf, requireEveryWorkspace, requireWorkspace, type ScopeSources, sinkTarget } from './scope.js';

/** Stored items that a person wants to have sent again. */
export const replayRequestSchema = z
  .strictObject({
    id: z
      .uuid()
      .describe('Made by whoever asks, so that asking twice is one replay; stands in the envelope of what is emitted.'),
    sink: configuredName().nullable().describe("A sink's name; null: every sink."),
    lists: z.array(z.enum(listNames)).min(1).nullable().describe('Null: all.'),
    pigeonhole: pigeonholeName()
      .nullable()
      .describe("`<workspace>/<id>`; null: every pigeonhole, and the workspaces' own lists."),
    from: z.iso
      .datetime({ offset: true })
      .nullable()
      .describe('ISO 8601: only what has changed since; null: everything.'),
    dryRun: z.boolean().describe('Only count.'),
    by: printable(200).optional(),
    reason: printable(500).optional(),
  })
  .openapi('ReplayRequest');
export type ReplayRequest = z.infer<typeof replayRequestSchema>;

/** How many items of a list a sink would be sent again, or was asked to, and how many are withheld from it, by reason. */
const replayCountSchema = z.object({
  sink: z.string(),
  list: z.string(),
  items: z.int(),
  withheld: z.record(z.string(), z.int()).readonly(),
});
export type ReplayCount = z.infer<typeof replayCountSchema>;

export const replayAnswerSchema = z
  .object({ id: z.string(), dryRun: z.boolean(), counts: z.array(replayCountSchema).readonly() })
  .openapi('Replay');

/** What is not known: a sentence. */
export type ReplayResult = { readonly unknown: string } | z.infer<typeof replayAnswerSchema>;

export interface ReplaySources extends ScopeSources {
  readonly ledger: Ledger;
  readonly replay: (wanted: ReplayRequest) => Promise<ReplayResult>;
}

const replayRoute = createRoute({
  method: 'post',
  path: '/api/replays',
  operationId: 'replay',
  tags: ['Actions'],
  summary: 'Send stored items again, or count what that would be',
  ...needs({
    right: 'operate',
    looksLike:
      'a replay has "id" (a UUID), "sink", "lists", "pigeonhole" and "from" (an instant), each null for all, and "dryRun"',
  }),
  request: { body: jsonBody(replayRequestSchema) },
  responses: { 200: jsonAnswer('What is sent again.', replayAnswerSchema), ...problems(404, 413, 415) },
});

/** `POST /api/replays`. */
export function serveReplays(app: ApiApp, sources: ReplaySources): void {
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
        if ('unknown' in answer) throw new Refused(404, `${answer.unknown}; "pigeonpost status" shows what is`);
        return answer;
      },
    );
    return c.json(result, 200);
  });
}
