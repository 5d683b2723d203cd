import { createRoute, z } from '@hono/zod-openapi';
import type { Ledger } from '../ledger/ledger.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { largestFileBytes, usable } from './configuration.js';
import { printable } from '../base/printable.js';
import { jsonAnswer, jsonBody, needs, problems } from './route-parts.js';
import { actorOf, requireEveryWorkspace } from './scope.js';

const key = printable(63);

/** An event file that is to be looked at or created, and what a person has said of its objects. */
export const eventRequestSchema = z.strictObject({
  /** By which messages name it; nothing is read from there. */
  file: printable(4096),
  /** What stands in it. */
  text: z.string().max(1_000_000),
  /** Objects of the file, by their ids in it, that are existing ones, by these ids at the service. */
  use: z.record(key, z.int().min(1)),
  /** Objects of the file that are to be made although some like them exist, or existed. */
  create: z.array(key).max(10_000),
  /** Objects that are not sent: the service has refused them to this command before. */
  skip: z.array(key).max(10_000),
  by: printable(200).optional(),
});
export type EventRequest = z.infer<typeof eventRequestSchema>;

const eventObjectStateSchema = z
  .enum(['create', 'created', 'exists', 'claim', 'unknown', 'undecided', 'gone', 'held', 'refused', 'impossible'])
  .describe(
    '`create`: it does not exist, and would be or will be created; `created`, `exists`; `claim`: it was found to exist, and is taken for the object of the file; `unknown`: its answer was lost, and it is looked up before anything is sent again; `undecided`: some that exist look like it, see `candidates`; `gone`: it existed, and was deleted at the service; `held`: it waits for its pigeonhole; `refused` by the service; `impossible`: what was said of it by `use` cannot be.',
  );
export type EventObjectState = z.infer<typeof eventObjectStateSchema>;

/** One that exists and looks like an object of the file. */
const candidateViewSchema = z.object({
  id: z.int(),
  name: z.string().nullable(),
  startDate: z.string().nullable(),
  endDate: z.string().nullable(),
  status: z.string().nullable(),
});
export type CandidateView = z.infer<typeof candidateViewSchema>;

const eventObjectViewSchema = z.object({
  key: z.string().describe("`pigeonhole`, or the session's id in the file."),
  kind: z.enum(['pigeonhole', 'session']),
  state: eventObjectStateSchema,
  id: z.int().nullable().describe('At the service; null where it is not known.'),
  fields: z.record(z.string(), z.unknown()).readonly().describe('What is sent, or would be.'),
  passcode: z.string().nullable().describe('Of a pigeonhole that exists: with it the audience comes in.'),
  differences: z
    .array(z.string())
    .readonly()
    .describe(
      'What the file has otherwise than the service: lines with their place. Nothing can be changed there by its API.',
    ),
  candidates: z.array(candidateViewSchema).readonly(),
  problems: z.array(z.string()).readonly().describe("Of `refused`: lines with their place, in the service's words."),
  requestId: z
    .string()
    .nullable()
    .describe("Of `created` and `refused`: what the service's operators ask for; null: it gave none."),
});
export type EventObjectView = z.infer<typeof eventObjectViewSchema>;

export const eventViewSchema = z
  .object({
    workspace: z.string(),
    event: z.string(),
    timezone: z.string().describe('IANA name; times are shown in it.'),
    subscription: z
      .object({ id: z.int(), name: z.string().nullable() })
      .nullable()
      .describe('Under which the pigeonhole is created; null: none is needed.'),
    objects: z
      .array(eventObjectViewSchema)
      .readonly()
      .describe('Empty where `hindrance` kept it from being looked at.'),
    problems: z
      .array(z.string())
      .readonly()
      .describe('What has to be mended in the file before anything is created: lines with their place.'),
    warnings: z
      .array(z.string())
      .readonly()
      .describe('What is allowed but probably not meant: lines with their place.'),
    hindrance: z
      .object({
        kind: z.enum(['wait', 'stop']).describe('`wait`: it passes by itself.'),
        why: z.enum(['quota', 'throttled', 'unreachable', 'stopping', 'credential', 'refused', 'paused']),
        detail: z.string(),
      })
      .nullable()
      .describe('What keeps everything from going on.'),
    nextInMs: z.number().nullable().describe('When asking again gets on; null: not by itself.'),
  })
  .openapi('Event');
export type EventView = z.infer<typeof eventViewSchema>;

export interface ProvisioningSources {
  readonly ledger: Ledger;
  /** What exists of an event and what is to be created; changes nothing. Throws ConfigError for a file that cannot be used. */
  readonly lookAtEvent: (asked: EventRequest) => Promise<EventView>;
  /** One turn of creating it, of some seconds. Throws as `lookAtEvent`. */
  readonly applyEvent: (asked: EventRequest) => Promise<EventView>;
}

const guard = needs({
  right: 'operate',
  largestBytes: 2 * largestFileBytes,
  looksLike:
    'an event has "file" and its "text", "use" (ids by object), "create" and "skip" (lists of objects), and may have "by"',
});

const planRoute = createRoute({
  ...guard,
  method: 'post',
  path: '/api/events/plan',
  operationId: 'planEvent',
  tags: ['Events'],
  summary: 'What exists of an event file and what is to be created; changes nothing',
  request: { body: jsonBody(eventRequestSchema) },
  responses: { 200: jsonAnswer('How it stands.', eventViewSchema), ...problems(409, 413, 415, 422) },
});

const applyRoute = createRoute({
  ...guard,
  method: 'post',
  path: '/api/events/apply',
  operationId: 'applyEvent',
  tags: ['Events'],
  summary: 'One turn of creating it, of some seconds: to be asked again until nothing is left',
  request: { body: jsonBody(eventRequestSchema) },
  responses: { 200: jsonAnswer('How it stands.', eventViewSchema), ...problems(409, 413, 415, 422) },
});

/** `POST /api/events/plan` and `POST /api/events/apply`. Which workspace is meant stands in the file alone. */
export function serveProvisioning(app: ApiApp, sources: ProvisioningSources): void {
  app.openapi(planRoute, async (c) => {
    requireEveryWorkspace(c);
    return c.json(await usable(() => sources.lookAtEvent(c.req.valid('json'))), 200);
  });
  app.openapi(applyRoute, async (c) => {
    requireEveryWorkspace(c);
    const asked = c.req.valid('json');
    const by = actorOf(c, asked.by);
    const view = await audited(c, sources.ledger, { action: 'apply-event', target: null }, () =>
      usable(() => sources.applyEvent(by === undefined ? asked : { ...asked, by })),
    );
    return c.json(view, 200);
  });
}
