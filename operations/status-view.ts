import { z } from '@hono/zod-openapi';
import { freshnessSchema } from './freshness.js';
import { groupBy } from '../base/grouping.js';
import { instant } from '../base/printable.js';
import { addCounts, largestFirst } from './ledger-status.js';
import { troubleSchema } from './problem.js';
import type { SinkConfig, Config } from '../config/config.js';
import type { Approval } from '../ledger/approvals.js';
import type { ObservedLane } from '../ledger/observations.js';
import type { Pause } from '../ledger/pauses.js';
import type { OpenReplay } from '../delivering/replays.js';
import { allNeeds, forecastNeeds } from '../reading/demand.js';
import {
  askedWith,
  type Forecast,
  lastsMs,
  leftForReading,
  type Needs,
  stretchFor,
  unstretched,
} from '../requests/quota-rules.js';
import type { Ledger } from '../ledger/ledger.js';
import { type QuotaState, readQuotas } from '../requests/quota.js';

/** A pause with its author, reason and start. */
const pauseViewSchema = z
  .object({
    pausedBy: z
      .enum(['person', 'cause'])
      .describe(
        '`person`: an operator paused it, and only an operator can resume it; `cause`: pigeonpost paused it, and the pause also ends when the cause is gone.',
      ),
    cause: z.string().describe('Stable code for programs: `credential`, `destination`, `gone`, `restored`, `asked`, …'),
    actor: z.string().nullable(),
    reason: z.string(),
    since: instant(),
  })
  .openapi('Pause');
export type PauseView = z.infer<typeof pauseViewSchema>;

/** Deliveries that an observing sink would have made. */
const observationViewSchema = z.object({
  wouldSend: z.int(),
  wouldSendAnonymously: z.int().describe('Number of changes that would be sent without the person.'),
  wouldWithhold: z.record(z.string(), z.int()).readonly().describe('Counts by reason.'),
  behind: z.int().describe('Changes not processed yet.'),
});

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
  total: z
    .int()
    .describe(
      'Number of items to send, counted at the request; items that change or are deleted in the meantime are not sent again.',
    ),
  sent: z.int().describe('Number of items that the destination accepted.'),
  taken: z.int().describe('Number of items passed to the sink so far.'),
  open: z.int().describe('Number of these that are still in flight.'),
});

/** Part of a sink's view: what operators have requested for it. */
const operatedSinkSchema = z.object({
  mode: z.enum(['send', 'observe']),
  observation: observationViewSchema.nullable().describe('Null for a sink that has never observed.'),
  approval: approvalViewSchema.nullable().describe('For a sink that observes: the approval to send.'),
  replays: z.array(replayViewSchema).readonly(),
});
export type OperatedSink = z.infer<typeof operatedSinkSchema>;

/** Operators' decisions about running sinks. */
export interface SinkOperations {
  readonly observed: readonly ObservedLane[];
  readonly approvals: readonly Approval[];
  readonly replays: readonly OpenReplay[];
}

/** Pure. */
export function operatedSink(
  name: string,
  mode: SinkConfig['mode'],
  { observed, approvals, replays }: SinkOperations,
): OperatedSink {
  const approval = mode === 'observe' ? approvals.find(({ sink }) => sink === name) : undefined;
  return {
    mode,
    observation: mode === 'observe' ? addUp(observed.filter(({ sink }) => sink === name)) : null,
    approval:
      approval === undefined
        ? null
        : { approvedBy: approval.approvedBy, reason: approval.reason, since: approval.since.toISOString() },
    replays: replays
      .filter(({ sink }) => sink === name)
      .map(({ sink: _, requestedAt, ...replay }) => ({ ...replay, since: requestedAt.toISOString() })),
  };
}

export function viewPause({ pausedBy, cause, actor, detail, since }: Pause): PauseView {
  return { pausedBy, cause, actor, reason: detail, since: since.toISOString() };
}

function addUp(lanes: readonly ObservedLane[]): NonNullable<OperatedSink['observation']> {
  const withheld = lanes.reduce((sum, { wouldWithhold }) => addCounts(sum, wouldWithhold), {});
  const sum = (pick: (lane: ObservedLane) => number): number => lanes.reduce((total, lane) => total + pick(lane), 0);
  return {
    wouldSend: sum(({ wouldSend }) => wouldSend),
    wouldSendAnonymously: sum(({ wouldSendAnonymously }) => wouldSendAnonymously),
    wouldWithhold: largestFirst(withheld),
    behind: sum(({ behind }) => behind),
  };
}

export const workStateSchema = z
  .enum(['working', 'backfilling', 'waiting', 'paused', 'failing'])
  .describe(
    '`backfilling`: it is being read for the first time; `waiting`: it waits for the service and continues automatically.',
  );
export type WorkState = z.infer<typeof workStateSchema>;

/** Request quota of a workspace's key. Workspaces with the same key share it. */
export const quotaViewSchema = z
  .object({
    limit: z
      .int()
      .nullable()
      .describe('Requests in a window, as the service last reported it; null: it does not report it.'),
    used: z
      .int()
      .describe(
        'Requests that pigeonpost made in this window. If pigeonpost noticed the start of the window from a response, earlier requests of other programs are included.',
      ),
    usedByAll: z
      .int()
      .describe('Requests that all programs with this key made; equal to `used` if the service does not report it.'),
    left: z.int().nullable().describe('Requests left, at most; null: not known.'),
    reserved: z.int().describe('Requests left that are reserved for imports.'),
    resetAt: instant().nullable().describe('End of the window; null: the service does not report it.'),
    nextHour: z
      .object({ live: z.int(), idle: z.int(), sweep: z.int(), all: z.int() })
      .describe('Requests that reading needs within the next hour, at the configured intervals.'),
    lengthens: z
      .object({ live: z.number(), idle: z.number(), sweep: z.number() })
      .describe(
        'Factors by which the intervals of live lists, of other lists, and of sweeps are lengthened so that the quota lasts; 1: as configured.',
      ),
    lastsUntil: instant()
      .nullable()
      .describe(
        'When the part for reading is used up at the lengthened intervals; null: not before the reset, or not known.',
      ),
  })
  .openapi('Quota');
export type QuotaView = z.infer<typeof quotaViewSchema>;

export const pigeonholeViewSchema = z
  .object({
    id: z.int().describe("0: the workspace's own lists."),
    name: z.string().nullable().describe('Name of the event; null: not known yet.'),
    status: z.string().nullable().describe('Status as the service reports it; null: not known yet.'),
    state: workStateSchema,
    reason: z.string().nullable(),
    pause: pauseViewSchema.nullable(),
    changes: z.int().describe('Number of changes found so far.'),
    streams: z.int(),
    failing: z.int().describe('Number of streams whose last read failed.'),
    freshAsOf: instant().nullable().describe('The same as `freshness.readAt`.'),
    freshness: freshnessSchema.describe('Freshness of its lists, each compared with its polling interval in force.'),
    rehearsal: z
      .object({
        since: instant(),
        until: instant(),
        by: z.string().nullable().describe('Name of the person who started it, if known.'),
      })
      .nullable()
      .describe('The rehearsal in progress, during which all lists are read at the live interval; null: none.'),
    setAside: z
      .int()
      .describe('Rows in the last sweeps that have no usable ID, share it with another row, or are nested too deeply.'),
    foreignRows: z
      .int()
      .describe('Rows of other sessions in the last sweeps, which show that the service ignores a filter.'),
    strangerRows: z
      .int()
      .describe('Rows in the last sweeps whose session the service does not list for the pigeonhole.'),
    heldDeletions: z.int().describe('Deletions that wait for an operator.'),
    goneAt: instant().nullable().describe('Since when the service no longer knows the pigeonhole; null: it does.'),
  })
  .openapi('PigeonholeStatus');
export type PigeonholeView = z.infer<typeof pigeonholeViewSchema>;

const workspaceViewSchema = z
  .object({
    name: z.string(),
    state: workStateSchema,
    reason: z.string().nullable(),
    until: instant().nullable(),
    pause: pauseViewSchema.nullable().describe('The pause; null if it is not paused.'),
    unanswered: z
      .object({ since: instant(), reason: z.string() })
      .nullable()
      .describe('When the first unanswered request was sent; null while the service answers.'),
    waitingLists: z.int().describe('Number of streams that are due or fail.'),
    quota: quotaViewSchema.nullable().describe('Null: no request has been made with its key yet.'),
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
    delivered: z.int().describe('Deliveries that the destination accepted, including those of replays.'),
    backlog: z
      .int()
      .describe('Changes that are found and not yet settled; for a sink that observes, not yet processed.'),
    withheld: countsSchema.describe('Changes withheld on purpose and not delivered since, by reason.'),
    dead: countsSchema.describe('Dead letters, by cause.'),
    withholding: z
      .array(
        z.object({
          list: z
            .string()
            .describe('Name of the list; `changes` with `would`, because observing counts all lists together.'),
          kind: z
            .enum(['all', 'more', 'would', 'event'])
            .describe(
              '`all`: nothing of the list was ever sent; `more`: far more is withheld than before; `would`: the sink observes and would send nothing; `event`: nothing of one event was sent, whose items never had the value.',
            ),
          text: z.string().describe('A sentence with fields and counts, but never a value.'),
        }),
      )
      .readonly()
      .describe(
        'Lists that should probably be sent and are withheld, because a value is missing or a condition reads a misspelled field.',
      ),
    deliveredAt: instant().nullable(),
    parity: z
      .object({
        auditedAt: instant()
          .nullable()
          .describe('When the last audit ended, in the pigeonhole where that is longest ago; null: none has ended.'),
        compared: z.int().describe('Number of items, or of revisions in a log, that the last audits compared.'),
        stale: z.int().describe('Items of which the destination holds an earlier revision.'),
        explained: z.int().describe('Items that differ because the mapping, a session or a person changed since.'),
        changed: z.int(),
        missing: z.int(),
        extra: z.int(),
        unreadable: z.int(),
      })
      .nullable()
      .describe('Whether the destination holds what was delivered; null: no audit has started.'),
  })
  .openapi('SinkStatus');
export type SinkView = z.infer<typeof sinkViewSchema>;

const listOf = { workspace: z.string(), pigeonholeId: z.int(), list: z.string() };

/** Everything `pigeonpost status` shows: each workspace, pigeonhole and sink with its state and the reason. */
export const statusSchema = z
  .object({
    configuration: z.int(),
    trouble: z
      .string()
      .nullable()
      .describe('Why nothing continues at all, such as the store or the process; null if nothing is wrong.'),
    settled: z
      .boolean()
      .describe(
        'Whether everything was read at least once, every change is delivered, withheld, superseded or a dead letter, and nothing in use is paused, waiting or failing.',
      ),
    workspaces: z.array(workspaceViewSchema).readonly(),
    sinks: z.array(sinkViewSchema).readonly(),
    problems: z.array(troubleSchema).readonly().describe('Problems for an operator, errors first.'),
    counts: z
      .object({
        items: z.array(z.object({ ...listOf, items: z.int() })).readonly(),
        deliveries: z
          .array(z.object({ ...listOf, sink: z.string(), state: z.string(), changes: z.int() }))
          .readonly()
          .describe(
            'Number of changes by state. A replay of a change counts only while it is in flight, and as a dead letter.',
          ),
      })
      .optional()
      .describe('Only on request.'),
  })
  .openapi('Status');
export type Status = z.infer<typeof statusSchema>;

const hourMs = 3_600_000;

/** Returns the quota of each workspace's key and the requests that reading will need; only for keys in use. */
export async function viewQuotas(
  config: Config,
  ledger: Ledger,
  now: number,
  forecast: Forecast = forecastNeeds,
): Promise<Map<string, QuotaView>> {
  const sharing = groupBy(Object.keys(config.workspaces), (name) =>
    ledger.hash.fingerprint(config.workspaces[name]!.apiKey.reveal()),
  );
  const states = await readQuotas(ledger, [...sharing.keys()]);
  // These statements are sent at the same time: on a busy embedded store, each waits until the ones before it are done.
  const views = [...sharing].map(async ([key, names]) => {
    const state = states.get(key);
    if (state === undefined) return [];
    const [hour, window] = await forecast({ ledger, config }, names, [hourMs, state.resetInMs ?? 0], now);
    const needs = { hour: hour!, window: window! };
    return names.map((name) => [name, viewQuota(state, config.workspaces[name]!.quota.reserve, needs, now)] as const);
  });
  return new Map((await Promise.all(views)).flat());
}

/**
 * Builds the view of a quota. Pure.
 * @param needs requests that reading needs within the next hour and until the reset, at the configured intervals
 */
export function viewQuota(
  state: QuotaState,
  reserve: number,
  needs: { readonly hour: Needs; readonly window: Needs },
  now: number,
): QuotaView {
  const { remaining: left, resetInMs } = state;
  const forReading = leftForReading(state, reserve);
  const stretch = resetInMs === null ? unstretched : stretchFor(needs.window, forReading, resetInMs);
  const asked = allNeeds(askedWith(needs.window, stretch));
  const lasts = resetInMs === null ? null : lastsMs(forReading, asked, resetInMs);
  return {
    limit: state.limit,
    used: state.used,
    usedByAll: state.limit === null || left === null ? state.used : Math.max(state.used, state.limit - left),
    left,
    reserved: left === null || forReading === null ? 0 : left - forReading,
    resetAt: resetInMs === null ? null : new Date(now + resetInMs).toISOString(),
    nextHour: {
      live: Math.ceil(needs.hour.live),
      idle: Math.ceil(needs.hour.idle),
      sweep: Math.ceil(needs.hour.sweep),
      all: Math.ceil(allNeeds(needs.hour)),
    },
    lengthens: { live: rounded(stretch.live), idle: rounded(stretch.idle), sweep: rounded(stretch.sweep) },
    lastsUntil: lasts === null || lasts === 0 ? null : new Date(now + lasts).toISOString(),
  };
}

/** Rounds a factor to one decimal place. */
function rounded(factor: number): number {
  return Math.round(factor * 10) / 10;
}
