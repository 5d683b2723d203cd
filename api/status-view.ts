import { z } from '@hono/zod-openapi';
import { freshnessSchema } from './freshness-view.js';
import { instant } from './route-parts.js';
import { operatedSinkSchema, pauseViewSchema } from './sink-view.js';
import { troubleSchema } from './what-is-wrong.js';

export const workStateSchema = z
  .enum(['working', 'backfilling', 'waiting', 'paused', 'failing'])
  .describe('`backfilling`: read for the first time; `waiting`: for the service, it goes on by itself.');
export type WorkState = z.infer<typeof workStateSchema>;

/** How the request quota of a workspace's key stands. Other workspaces with the same key use the same quota. */
export const quotaViewSchema = z
  .object({
    limit: z
      .int()
      .nullable()
      .describe('Requests of a window; null: not known, the service does not say and has not refused one yet.'),
    learnt: z.boolean().describe("The limit was learnt from a refusal; else it is the service's word."),
    used: z.int(),
    left: z.int().nullable().describe('At most; null: not known.'),
    reserved: z.int().describe('Of what is left, kept for imports.'),
    resetAt: instant().nullable().describe('The end of the window; null: the service does not say.'),
    nextHour: z
      .object({ live: z.int(), idle: z.int(), sweep: z.int(), all: z.int() })
      .describe('Requests that reading needs within the next hour, at the configured intervals.'),
    lastsUntil: instant()
      .nullable()
      .describe('When what reading may use is used up at that rate; null: not before the reset, or not known.'),
  })
  .openapi('Quota');
export type QuotaView = z.infer<typeof quotaViewSchema>;

export const pigeonholeViewSchema = z
  .object({
    id: z.int().describe("0: the workspace's own lists."),
    name: z.string().nullable().describe("The event's; null: not known yet."),
    status: z.string().nullable().describe("The service's word; null: not known yet."),
    state: workStateSchema,
    reason: z.string().nullable(),
    pause: pauseViewSchema.nullable(),
    changes: z.int().describe('Found so far.'),
    streams: z.int(),
    failing: z.int().describe('Streams whose last read failed.'),
    freshAsOf: instant().nullable().describe('As `freshness.readAt`.'),
    freshness: freshnessSchema.describe('How fresh its lists are, each against the polling interval in force for it.'),
    rehearsal: z
      .object({
        since: instant(),
        until: instant(),
        by: z.string().nullable().describe('Who started it, where known.'),
      })
      .nullable()
      .describe('The rehearsal that is on: all lists are read at the live interval until it ends; null: none.'),
    setAside: z.int().describe('Rows without any identity, as the last sweeps showed them.'),
    foreignRows: z
      .int()
      .describe(
        'Rows of other sessions than the one asked for, as the last sweeps showed them: the service ignores a filter.',
      ),
    heldDeletions: z.int().describe('Deletions that wait for a person.'),
    goneAt: instant().nullable().describe('Since when the service no longer knows it; null: it does.'),
  })
  .openapi('PigeonholeStatus');
export type PigeonholeView = z.infer<typeof pigeonholeViewSchema>;

export const workspaceViewSchema = z
  .object({
    name: z.string(),
    state: workStateSchema,
    reason: z.string().nullable(),
    until: instant().nullable(),
    pause: pauseViewSchema.nullable().describe('Who stopped it; null when nobody and nothing has.'),
    unanswered: z
      .object({ since: instant(), reason: z.string() })
      .nullable()
      .describe('When the first request was sent that the service has not answered; null while it answers.'),
    waitingLists: z.int().describe('Streams that are due or fail.'),
    quota: quotaViewSchema.nullable().describe('Null: no request was made with its key yet.'),
    pigeonholes: z.array(pigeonholeViewSchema).readonly(),
  })
  .openapi('WorkspaceStatus');
export type WorkspaceView = z.infer<typeof workspaceViewSchema>;

const countsSchema = z.record(z.string(), z.int()).readonly();

export const sinkViewSchema = operatedSinkSchema
  .extend({
    name: z.string(),
    type: z.string(),
    state: workStateSchema,
    reason: z.string().nullable(),
    pause: pauseViewSchema.nullable(),
    delivered: z.int().describe('Deliveries that the destination accepted, those of replays included.'),
    backlog: z.int().describe('Changes found and not yet settled; of a sink that observes, not yet looked at.'),
    withheld: countsSchema.describe('Changes not sent on purpose, and not delivered since, by reason.'),
    dead: countsSchema.describe('Dead letters, by cause.'),
    withholding: z
      .array(
        z.object({
          list: z.string().describe('`changes` with `would`: observing counts all lists together.'),
          kind: z
            .enum(['all', 'more', 'would'])
            .describe(
              '`all`: nothing of the list was ever sent; `more`: far more than before; `would`: the sink observes and would send nothing.',
            ),
          text: z.string().describe('A sentence: it names fields and counts, never a value.'),
        }),
      )
      .readonly()
      .describe(
        'Lists that it withholds for want of a value, or by a condition that reads a misspelled field, and should probably send.',
      ),
    deliveredAt: instant().nullable(),
  })
  .openapi('SinkStatus');
export type SinkView = z.infer<typeof sinkViewSchema>;

const listCount = { workspace: z.string(), pigeonholeId: z.int(), list: z.string(), items: z.int() };

/** What `pigeonpost status` shows: each workspace, pigeonhole and sink, with why it stands where it does. */
export const statusSchema = z
  .object({
    configuration: z.int(),
    trouble: z.string().nullable().describe('Why nothing at all gets on: the store, the process; null when it does.'),
    settled: z
      .boolean()
      .describe(
        'Everything was read at least once, every change is delivered, withheld, superseded or a dead letter, and nothing that is used is paused, waits or fails: what stands still cannot know what it misses.',
      ),
    workspaces: z.array(workspaceViewSchema).readonly(),
    sinks: z.array(sinkViewSchema).readonly(),
    problems: z.array(troubleSchema).readonly().describe('What an operator should know, errors first.'),
    counts: z
      .object({
        items: z.array(z.object(listCount)).readonly(),
        deliveries: z.array(z.object({ ...listCount, sink: z.string(), state: z.string() })).readonly(),
      })
      .optional()
      .describe('Only when asked for: they take reading the whole ledger.'),
  })
  .openapi('Status');
export type Status = z.infer<typeof statusSchema>;
