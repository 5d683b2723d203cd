import { createRoute, z } from '@hono/zod-openapi';
import { instant } from '../base/printable.js';
import { importViewSchema, viewImport } from '../importing/desk/import-views.js';
import { importsOf } from '../importing/read-import.js';
import { eventStory, SessionCounts } from '../operations/event/event-story.js';
import { reasonWords } from '../sinks/reason-words.js';
import type { ApiApp, ApiSources } from './api-app.js';
import { placeParams, requirePigeonholeNumber } from './pigeonholes.js';
import { answers, needs } from './route-parts.js';

const countsByList = z.record(z.string(), z.int()).readonly();

const sessionSchema = z.object({
  sessionId: z.int(),
  title: z.string().nullable(),
  type: z.string().nullable(),
  startsAt: instant().nullable(),
  endsAt: instant().nullable(),
  items: countsByList.describe('Number of items by list; lists without items are left out.'),
});
export type SessionView = z.infer<typeof sessionSchema>;

const sinkSchema = z.object({
  sink: z.string(),
  type: z.string().nullable().describe('Null: the sink is no longer configured.'),
  delivered: z.int().describe('Changes of the event that it has received.'),
  deliveredAt: instant().nullable(),
  waiting: z.int(),
  refused: z.int().describe('Dead letters.'),
  withheld: z
    .array(z.object({ reason: z.string(), words: z.string(), changes: z.int() }))
    .readonly()
    .describe('Most frequent first.'),
  observes: z.boolean().describe('The sink only observes, and receives nothing.'),
  failure: z.string().nullable(),
});
export type EventSinkView = z.infer<typeof sinkSchema>;

const eventStorySchema = z
  .object({
    timezone: z.string().nullable().describe('IANA name, as the service reports it.'),
    startsAt: instant().nullable().describe('Start of the first day.'),
    endsAt: instant().nullable().describe('End of the last day.'),
    items: countsByList.describe('Number of items of the event by list.'),
    sessions: z.array(sessionSchema).readonly().describe('Sorted by their start.'),
    countedAt: instant().describe('When the items of the sessions were counted.'),
    sinks: z.array(sinkSchema).readonly(),
    imports: z.array(importViewSchema).readonly().describe('At most 20, newest first.'),
  })
  .openapi('EventStory');
export type EventStoryView = z.infer<typeof eventStorySchema>;

const maxImports = 20;

export const eventRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes/{workspace}/{id}/story',
  operationId: 'showEvent',
  tags: ['Reading'],
  summary: 'Show an event: its sessions in time, how much happened in each, what each sink has of it, and its imports',
  ...needs({ right: 'read' }),
  request: { params: placeParams },
  responses: answers('Counts and titles, without people and their texts.', eventStorySchema, 404),
});

export function serveEventStory(app: ApiApp, sources: Pick<ApiSources, 'ledger' | 'config'>): void {
  const { ledger, config } = sources;
  const counts = new SessionCounts();
  app.openapi(eventRoute, async (c) => {
    const { workspace, id } = c.req.valid('param');
    const pigeonholeNumber = await requirePigeonholeNumber(c, sources, { workspace, id });
    const story = await eventStory(ledger, { workspace, pigeonholeId: Number(id), pigeonholeNumber }, counts);
    const imports = await importsOf(ledger, pigeonholeNumber);
    return c.json(
      {
        ...story,
        sinks: story.sinks.map((each) => ({
          ...each,
          type: config.sinks[each.sink]?.type ?? null,
          withheld: Object.entries(each.withheld)
            .map(([reason, changes]) => ({ reason, words: reasonWords(reason), changes }))
            .toSorted((a, b) => b.changes - a.changes),
        })),
        imports: imports.toReversed().slice(0, maxImports).map(viewImport),
      },
      200,
    );
  });
}
