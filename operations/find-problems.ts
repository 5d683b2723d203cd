import { isObserving } from '../base/delivery-words.js';
import type { LaneState } from '../delivering/read-lanes.js';
import { sumOf } from '../base/words.js';
import { type FoundProblem, type Problem, type ProblemCode, problemCodes, problemLine, severities } from './problem.js';
import { describeProblem } from './problems.js';
import { failureCode } from '../sinks/network/failure-sentence.js';
import { z } from '@hono/zod-openapi';
import { actionSchema } from './action.js';
import type { FreshnessView } from './freshness.js';
import type { PauseView, PigeonholeView, QuotaView, SinkView, WorkspaceView } from './status-view.js';

/** The parts of the status in which problems are found. */
export interface WorkspaceFacts extends Pick<
  WorkspaceView,
  'name' | 'reason' | 'until' | 'pause' | 'unanswered' | 'waitingLists'
> {
  readonly state: string;
  readonly quota:
    | (Pick<QuotaView, 'limit' | 'left' | 'reserved' | 'lastsUntil' | 'resetAt'> & {
        readonly nextHour: Pick<QuotaView['nextHour'], 'all'>;
      })
    | null;
  readonly pigeonholes: readonly PigeonholeFacts[];
}

export interface PigeonholeFacts extends Pick<
  PigeonholeView,
  'id' | 'pause' | 'failing' | 'reason' | 'goneAt' | 'heldDeletions' | 'foreignRows'
> {
  readonly freshness: Pick<FreshnessView, 'lateLists' | 'lateSeconds' | 'late'>;
}

export interface SinkFacts extends Pick<SinkView, 'name' | 'reason' | 'pause' | 'backlog' | 'dead'> {
  readonly state: string;
  readonly withholding: readonly Pick<SinkView['withholding'][number], 'list' | 'text'>[];
  readonly observation: object | null;
  readonly approval: object | null;
}

export interface WorkSnapshot {
  /** The reason why the process makes no progress; null if it does make progress. */
  readonly trouble: string | null;
  readonly workspaces: readonly WorkspaceFacts[];
  readonly sinks: readonly SinkFacts[];
  /** Lanes of the pigeonholes that a sync still sends to the sink. */
  readonly lanes: readonly Pick<LaneState, 'sink' | 'waitsSince' | 'waitsFor' | 'failingSince' | 'retryAt'>[];
  readonly now: Date;
}

/** A sink counts as behind after this time, so that a retry or a batch in progress is no problem yet. */
export const behindAfterMs = 120_000;

/** Returns all problems, errors first, including those that another problem explains. Pure. */
export function findProblems(snapshot: WorkSnapshot, thresholds = { behindMs: behindAfterMs }): Problem[] {
  const { trouble, workspaces, sinks } = snapshot;
  const found = [
    ...(trouble === null ? [] : [problem('process-failing', 'process', '', { detail: trouble })]),
    ...workspaces.flatMap((workspace) => ofWorkspace(workspace, snapshot)),
    ...sinks.flatMap((sink) => ofSink(sink, snapshot, thresholds.behindMs)),
  ].map(describeProblem);
  return severities.flatMap((severity) => found.filter((each) => each.severity === severity));
}

/** Returns the problems to show: all except those that another problem explains. Pure. */
export function shownProblems(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ coveredBy }) => coveredBy === null);
}

function problem(
  code: ProblemCode,
  kind: FoundProblem['kind'],
  name: string,
  given: Partial<Pick<FoundProblem, 'facts' | 'detail' | 'coveredBy'>> & { readonly since?: string | Date | null },
): FoundProblem {
  const { since = null, facts = {}, detail = null, coveredBy = null } = given;
  return { code, kind, name, facts, detail, coveredBy, since: since === null ? null : new Date(since) };
}

function ofWorkspace(workspace: WorkspaceFacts, snapshot: WorkSnapshot): FoundProblem[] {
  const { name, pause, unanswered, waitingLists, state, reason, until } = workspace;
  const found: FoundProblem[] = [];
  const hindrance: ProblemCode | null =
    pause !== null
      ? 'workspace-paused'
      : unanswered !== null
        ? 'service-down'
        : state !== 'waiting'
          ? null
          : reason === 'quota'
            ? 'quota-used-up'
            : 'workspace-waiting';
  if (pause !== null) {
    const facts = { ...pauseFacts(pause), lists: waitingLists };
    found.push(
      problem('workspace-paused', 'workspace', name, { facts, detail: pauseDetail(pause), since: pause.since }),
    );
  }
  if (unanswered !== null) {
    const facts = { unansweredAt: unanswered.since, lists: waitingLists };
    const coveredBy = pause === null ? null : 'workspace-paused';
    found.push(
      problem('service-down', 'workspace', name, {
        facts,
        detail: unanswered.reason,
        since: unanswered.since,
        coveredBy,
      }),
    );
  }
  if (hindrance === 'workspace-waiting') {
    found.push(problem('workspace-waiting', 'workspace', name, { facts: { waitUntil: until } }));
  }
  return [
    ...found,
    ...ofQuota(workspace, snapshot.now),
    ...workspace.pigeonholes.flatMap((each) => ofPigeonhole(name, each, hindrance, snapshot.now)),
  ];
}

function ofQuota({ name, quota, state, reason, until }: WorkspaceFacts, now: Date): FoundProblem[] {
  const waits = state === 'waiting' && reason === 'quota';
  const waitUntil = until === null || Date.parse(until) <= now.getTime() ? null : until;
  // `lastsUntil` is null if the quota suffices, but also if it is used up.
  const isUsedUp = quota !== null && quota.left !== null && quota.left <= quota.reserved && quota.nextHour.all > 0;
  if (!waits && !isUsedUp && (quota === null || quota.lastsUntil === null)) return [];
  const { left = null, limit = null, lastsUntil = null, resetAt = null } = quota ?? {};
  const short = { facts: { left, limit, lastsUntil, resetAt }, coveredBy: waits ? ('quota-used-up' as const) : null };
  return [
    ...(waits ? [problem('quota-used-up', 'workspace', name, { facts: { waitUntil } })] : []),
    problem('quota-short', 'workspace', name, short),
  ];
}

function ofPigeonhole(
  workspace: string,
  pigeonhole: PigeonholeFacts,
  hindrance: ProblemCode | null,
  now: Date,
): FoundProblem[] {
  const { id, pause, failing, reason, goneAt, freshness, heldDeletions, foreignRows } = pigeonhole;
  const name = `${workspace}/${id}`;
  const coveredBy = hindrance ?? (pause === null ? null : 'pigeonhole-paused');
  const found: FoundProblem[] = [];
  const add = (code: ProblemCode, given: Parameters<typeof problem>[3]): void => {
    found.push(problem(code, 'pigeonhole', name, given));
  };
  if (pause !== null)
    add('pigeonhole-paused', { facts: pauseFacts(pause), detail: pauseDetail(pause), since: pause.since });
  if (goneAt !== null) add('pigeonhole-gone', { since: goneAt });
  else if (failing > 0) add('pigeonhole-failing', { facts: { failing }, detail: reason, coveredBy });
  const { lateLists, lateSeconds, late } = freshness;
  if (late !== null && goneAt === null) {
    const since = new Date(now.getTime() - lateSeconds * 1000);
    add('reading-late', {
      facts: { streams: lateLists, dueAt: since.toISOString() },
      detail: late,
      since,
      coveredBy: coveredBy ?? (failing > 0 ? 'pigeonhole-failing' : null),
    });
  }
  if (heldDeletions > 0) add('deletions-held', { facts: { items: heldDeletions } });
  if (foreignRows > 0) add('filters-ignored', { facts: { rows: foreignRows } });
  return found;
}

function ofSink(sink: SinkFacts, { lanes, now }: WorkSnapshot, behindMs: number): FoundProblem[] {
  const { name, pause, state, reason, backlog, dead } = sink;
  const own = lanes.filter((lane) => lane.sink === name);
  const observes = isObserving(sink);
  const waitsSince = oldest(own.map((lane) => lane.waitsSince));
  const found: FoundProblem[] = [];
  const add = (code: ProblemCode, given: Parameters<typeof problem>[3]): void => {
    found.push(problem(code, 'sink', name, given));
  };
  if (pause !== null) add('sink-paused', { facts: pauseFacts(pause), detail: pauseDetail(pause), since: pause.since });
  const isFailing = pause === null && state === 'failing';
  const retryAt = oldest(own.filter(({ failingSince }) => failingSince !== null).map((lane) => lane.retryAt));
  const attempt = { retryAt: retryAt === null || retryAt < now ? null : retryAt.toISOString() };
  if (isFailing) {
    const since = oldest(own.map(({ failingSince }) => failingSince));
    add('sink-failing', { facts: { backlog, ...attempt }, detail: reason, since });
  }
  if (!observes && waitsSince !== null && now.getTime() - waitsSince.getTime() > behindMs) {
    const held = own.find((lane) => lane.waitsFor !== null && lane.waitsSince !== null);
    const cause = (isFailing ? reason : held?.waitsFor) ?? null;
    const facts = {
      oldestAt: waitsSince.toISOString(),
      backlog,
      cause: cause === null ? null : failureCode(cause),
      // The alert about `sink-behind` then uses the words of `sink-failing`, which the status shows instead.
      ...(isFailing ? { problem: 'sink-failing', ...attempt } : {}),
    };
    const coveredBy = pause !== null ? 'sink-paused' : isFailing ? 'sink-failing' : null;
    add('sink-behind', { facts, detail: held?.waitsFor ?? null, since: waitsSince, coveredBy });
  }
  for (const { list, text } of sink.withholding) {
    add('sink-withholding', { facts: { list, text, ...(observes ? { observes: 1 } : {}) } });
  }
  if (observes) add('sink-observing', {});
  const letters = sumOf(dead);
  const mapping = Object.entries(dead).reduce((sum, [cause, n]) => (isMappingCause(cause) ? sum + n : sum), 0);
  if (letters > 0) add('dead-letters', { facts: mapping === 0 ? { letters } : { letters, mapping } });
  return found;
}

/** Whether this cause means that the mapping failed, so that the change never reached the destination. */
export function isMappingCause(cause: string): boolean {
  return cause.startsWith('mapping');
}

function pauseFacts({ pausedBy, cause, since }: PauseView): FoundProblem['facts'] {
  return { pausedBy, cause, pausedAt: since };
}

function pauseDetail({ pausedBy, actor, reason }: PauseView): string {
  return pausedBy === 'person' && actor !== null ? `${reason} (${actor})` : reason;
}

function oldest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.flatMap((each) => (each === null ? [] : [each.getTime()]));
  return known.length === 0 ? null : new Date(Math.min(...known));
}

/**
 * Failures are forgotten after this time. A failing cycle is retried within 30 s, so an older failure belongs to work
 * that has ended.
 */
const forgottenAfterMs = 5 * 60_000;

/**
 * Remembers failures of whole cycles. Such failures come from the store or the process. Each kind of cycle is
 * remembered separately: on a full disk, cycles that only read the store succeed, but cycles that write to it fail.
 */
export class CycleFailures {
  readonly #failures = new Map<string, { readonly failure: string; readonly atMs: number }>();

  /** @param nowMs of a clock that only rises */
  constructor(private readonly nowMs: () => number) {}

  /** @param failure null: the cycle succeeded */
  note(cycle: string, failure: string | null): void {
    this.#failures.delete(cycle); // a new entry is then the last one of the map
    if (failure !== null) this.#failures.set(cycle, { failure, atMs: this.nowMs() });
  }

  /** The latest failure; null: no cycle fails. */
  get present(): string | null {
    const from = this.nowMs() - forgottenAfterMs;
    return [...this.#failures.values()].findLast(({ atMs }) => atMs >= from)?.failure ?? null;
  }
}

/** One problem that stops or slows the flow of data, as text, with the action that helps. */
export const troubleSchema = z
  .object({
    code: z.enum(problemCodes).describe('Stable code for programs.'),
    severity: z
      .enum(severities)
      .describe(
        '`error`: data that should flow does not, and an operator should act now; `warning`: data flows, but something needs attention; `notice`: for information.',
      ),
    stops: z
      .boolean()
      .describe(
        'Whether the process, workspace, pigeonhole or sink named here reads or receives nothing while the problem lasts.',
      ),
    kind: z.enum(['process', 'workspace', 'pigeonhole', 'sink']),
    name: z.string().describe('Name as used in actions; empty for the process.'),
    title: z.string().describe('One sentence without its full stop, the same as in alerts.'),
    detail: z
      .string()
      .nullable()
      .describe('Text from the service, a destination or a person. Alerts never contain it.'),
    says: z.string().nullable().describe('Details and consequences.'),
    advice: z.string().nullable().describe('The action that helps; null: the problem ends without one.'),
    text: z.string().describe('`title`, `detail` and `says` as one paragraph.'),
    since: z.iso.datetime().nullable(),
    saysSince: z.boolean().describe('Whether `text` contains the instant `since`.'),
    help: z
      .object({
        label: z.string().describe('Label of a button.'),
        action: actionSchema.nullable().describe('Body for `POST /api/actions`; null: the button leads to `see`.'),
        see: z.string().nullable().describe('Address of the details.'),
      })
      .nullable()
      .describe('Null: the problem ends without an action, or no button helps.'),
  })
  .openapi('Trouble');
export type Trouble = z.infer<typeof troubleSchema>;

/** Returns the problems to show, as the API describes them, errors first. Pure. */
export function viewProblems(snapshot: WorkSnapshot): Trouble[] {
  return shownProblems(findProblems(snapshot)).map(viewProblem);
}

function viewProblem(problem: Problem): Trouble {
  const { todo, since, facts: _facts, coveredBy: _coveredBy, ...same } = problem;
  return { ...same, advice: todo, text: problemLine(problem), since: since?.toISOString() ?? null };
}
