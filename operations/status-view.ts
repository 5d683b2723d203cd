import { z } from '@hono/zod-openapi';
import { freshnessSchema } from './freshness-view.js';
import { instant } from '../base/printable.js';
import { troubleSchema } from './find-problems.js';
import type { SinkConfig } from '../config/config.js';
import type { Approval } from '../ledger/approvals.js';
import type { ObservedLane } from '../delivering/observations.js';
import type { Pause } from '../ledger/pauses.js';
import type { OpenReplay } from '../delivering/replays.js';

/** A pause with its author, reason and start. */
export const pauseViewSchema = z
  .object({
    pausedBy: z
      .enum(['person', 'cause'])
      .describe('`person`: only a person lifts it; `cause`: it is also lifted when the cause is gone.'),
    cause: z.string().describe('Stable, for programs: `credential`, `destination`, `gone`, `restored`, `asked`, …'),
    actor: z.string().nullable(),
    reason: z.string(),
    since: instant(),
  })
  .openapi('Pause');
export type PauseView = z.infer<typeof pauseViewSchema>;

/** Deliveries that an observing sink would have made. */
const observationViewSchema = z.object({
  wouldSend: z.int(),
  wouldSendAnonymously: z.int().describe('And these without the person who did it.'),
  wouldWithhold: z.record(z.string(), z.int()).readonly().describe('By reason.'),
  behind: z.int().describe('Changes not processed yet.'),
});
export type ObservationView = z.infer<typeof observationViewSchema>;

const approvalViewSchema = z.object({
  approvedBy: z.string().nullable(),
  reason: z.string().nullable(),
  since: instant(),
});

const replayViewSchema = z.object({
  id: z.string(),
  requestedBy: z.string().nullable(),
  reason: z.string().nullable(),
  since: instant(),
  taken: z.int().describe('Items taken by now.'),
  open: z.int().describe('Of these, still on their way.'),
});

/** The part of a sink's view that rests on what people have asked of it. */
export const operatedSinkSchema = z.object({
  mode: z.enum(['send', 'observe']),
  observation: observationViewSchema.nullable().describe('Null for a sink that sends, and always has.'),
  approval: approvalViewSchema.nullable().describe('Of a sink that observes: it may send all the same.'),
  replays: z.array(replayViewSchema).readonly(),
});
export type OperatedSink = z.infer<typeof operatedSinkSchema>;

/** Operators' decisions about running sinks. */
export interface SinkOperations {
  readonly observed: readonly ObservedLane[];
  readonly approvals: readonly Approval[];
  readonly replays: readonly OpenReplay[];
}

export const noOperations: SinkOperations = { observed: [], approvals: [], replays: [] };

/** Pure. */
export function operatedSink(name: string, mode: SinkConfig['mode'], operations: SinkOperations): OperatedSink {
  const lanes = operations.observed.filter(({ sink }) => sink === name);
  const approval = operations.approvals.find(({ sink }) => sink === name);
  return {
    mode,
    observation: mode === 'observe' ? addUp(lanes) : null,
    approval:
      mode === 'observe' && approval !== undefined
        ? { approvedBy: approval.approvedBy, reason: approval.reason, since: approval.since.toISOString() }
        : null,
    replays: operations.replays
      .filter(({ sink }) => sink === name)
      .map(({ id, requestedBy, reason, requestedAt, taken, open }) => ({
        id,
        requestedBy,
        reason,
        since: requestedAt.toISOString(),
        taken,
        open,
      })),
  };
}

export function viewPause({ pausedBy, cause, actor, detail, since }: Pause): PauseView {
  return { pausedBy, cause, actor, reason: detail, since: since.toISOString() };
}

function addUp(lanes: readonly ObservedLane[]): ObservationView {
  const withheld: Record<string, number> = {};
  for (const [reason, n] of lanes.flatMap(({ wouldWithhold }) => Object.entries(wouldWithhold))) {
    withheld[reason] = (withheld[reason] ?? 0) + n;
  }
  const sum = (pick: (lane: ObservedLane) => number): number => lanes.reduce((total, lane) => total + pick(lane), 0);
  return {
    wouldSend: sum(({ wouldSend }) => wouldSend),
    wouldSendAnonymously: sum(({ wouldSendAnonymously }) => wouldSendAnonymously),
    wouldWithhold: withheld,
    behind: sum(({ behind }) => behind),
  };
}

export const workStateSchema = z
  .enum(['working', 'backfilling', 'waiting', 'paused', 'failing'])
  .describe('`backfilling`: read for the first time; `waiting`: for the service, it continues automatically.');
export type WorkState = z.infer<typeof workStateSchema>;

/** Request quota of a workspace's key. Workspaces with the same key share it. */
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
    backlog: z.int().describe('Changes found and not yet settled; of a sink that observes, not yet processed.'),
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

/** Everything `pigeonpost status` shows: each workspace, pigeonhole and sink with its state and the reason. */
export const statusSchema = z
  .object({
    configuration: z.int(),
    trouble: z.string().nullable().describe('Why nothing at all gets on: the store, the process; null when it does.'),
    settled: z
      .boolean()
      .describe(
        'Everything was read at least once, every change is delivered, withheld, superseded or a dead letter, and nothing that is used is paused, waits or fails.',
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
