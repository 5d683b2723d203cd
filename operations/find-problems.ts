import { isObserving } from '../base/delivery-words.js';
import { isMappingCause } from '../sinks/reason-words.js';
import type { Config } from '../config/config.js';
import type { UnreadableFolder } from '../importing/drop-folders/drop-folders.js';
import type { FailingExports } from '../ledger/nightly-exports.js';
import type { LaneState } from '../delivering/read-lanes.js';
import { counted, sumOf } from '../base/words.js';
import type { UnusableFile } from './configuration-file.js';
import { describeProblem, type FoundProblem, type Problem, problemLine, type Trouble } from './problem.js';
import { severities } from './problem-traits.js';
import { type ProblemCode, traitsOf } from './problems.js';
import { failureCode } from '../sinks/network/failure-sentence.js';
import type { PauseView, PigeonholeView, SinkView, Status, WorkspaceView } from './status-view.js';

/** The parts of the status in which problems are found. */
export interface WorkSnapshot extends Pick<Status, 'trouble' | 'workspaces' | 'sinks'> {
  /** Lanes of the pigeonholes that a sync still sends to the sink. */
  readonly lanes: readonly LaneState[];
  readonly folders: readonly UnreadableFolder[];
  /** Nightly exports that fail. */
  readonly exports: readonly FailingExports[];
  /** The mistake in the file of this process; null: none. */
  readonly file: UnusableFile | null;
  readonly now: Date;
}

/** A sink counts as behind after this time, so that a retry or a batch in progress is no problem yet. */
export const behindAfterMs = 120_000;

/** Returns the limit of `alerts.when.behind`, so that the status and the alert agree. */
export function behindMsOf({
  alerts,
}: {
  readonly alerts?: Pick<NonNullable<Config['alerts']>, 'when'> | undefined;
}): number {
  return alerts?.when.behind ?? behindAfterMs;
}

/** Returns all problems, errors first, including those that another problem explains. Pure. */
export function findProblems(snapshot: WorkSnapshot, thresholds = { behindMs: behindAfterMs }): Problem[] {
  const { trouble, workspaces, sinks, file } = snapshot;
  const found = [
    ...(trouble === null ? [] : [problem('process-failing', '', { detail: trouble })]),
    ...(file === null ? [] : [ofFile(file)]),
    ...workspaces.flatMap((workspace) => ofWorkspace(workspace, snapshot)),
    ...sinks.flatMap((sink) => ofSink(sink, snapshot, thresholds.behindMs)),
  ]
    .map((each) =>
      trouble !== null && isConsequence(each) ? { ...each, coveredBy: 'process-failing' as const } : each,
    )
    .map(describeProblem);
  return severities.flatMap((severity) => found.filter((each) => each.severity === severity));
}

/** Whether lists are late and sinks behind because no process makes progress. */
function isConsequence({ code, coveredBy }: FoundProblem): boolean {
  return coveredBy === null && (code === 'reading-late' || code === 'sink-behind');
}

/** Returns the problems to show, as the API describes them: all except those that another problem explains. Pure. */
export function viewProblems(snapshot: WorkSnapshot, thresholds?: { readonly behindMs: number }): Trouble[] {
  return shownProblems(findProblems(snapshot, thresholds));
}

/** Returns those of the found problems that no other one explains, as the API describes them. Pure. */
export function shownProblems(problems: readonly Problem[]): Trouble[] {
  return problems
    .filter(({ coveredBy }) => coveredBy === null)
    .map((problem) => {
      const { todo, since, facts, coveredBy: _coveredBy, ...same } = problem;
      const lists = facts['streams'] ?? facts['failing'];
      return {
        ...same,
        lists: typeof lists === 'number' ? lists : null,
        advice: todo,
        text: problemLine(problem),
        since: since?.toISOString() ?? null,
      };
    });
}

function problem(
  code: ProblemCode,
  name: string,
  given: Partial<Pick<FoundProblem, 'facts' | 'detail' | 'coveredBy'>> & { readonly since?: string | Date | null },
): FoundProblem {
  const { since = null, facts = {}, detail = null, coveredBy = null } = given;
  const { kind } = traitsOf(code);
  return { code, kind, name, facts, detail, coveredBy, since: since === null ? null : new Date(since) };
}

function ofFile({ line, problems, text, since }: UnusableFile): FoundProblem {
  const others = problems === 1 ? '' : `, and ${counted(problems - 1, 'other problem')}`;
  return problem('file-unusable', '', { facts: { line, problems }, detail: `${text}${others}`, since });
}

function ofPause(kind: 'workspace' | 'pigeonhole' | 'sink', name: string, pause: PauseView | null): FoundProblem[] {
  if (pause === null) return [];
  const { pausedBy, cause, since, actor, reason } = pause;
  const detail = pausedBy === 'person' && actor !== null ? `${reason} (${actor})` : reason;
  return [problem(`${kind}-paused`, name, { facts: { pausedBy, cause, pausedAt: since }, detail, since })];
}

function ofWorkspace(workspace: WorkspaceView, { folders, now }: WorkSnapshot): FoundProblem[] {
  const { name, pause, unanswered, waitingLists: lists, state, reason, until } = workspace;
  const found = ofPause('workspace', name, pause).map((each): FoundProblem => ({
    ...each,
    facts: { ...each.facts, lists },
  }));
  if (unanswered !== null) {
    const { since, reason: detail } = unanswered;
    const coveredBy = pause === null ? null : 'workspace-paused';
    found.push(problem('service-down', name, { facts: { unansweredAt: since, lists }, detail, since, coveredBy }));
  }
  const waits = found.length === 0 && state === 'waiting';
  if (waits && reason !== 'quota') {
    found.push(problem('workspace-waiting', name, { facts: { waitUntil: until } }));
  }
  const hindrance = found[0]?.code ?? (waits ? 'quota-used-up' : null);
  return [
    ...found,
    ...ofQuota(workspace, now),
    ...ofFolders(name, folders),
    ...workspace.pigeonholes.flatMap((each) => ofPigeonhole(name, each, hindrance, now)),
  ];
}

function ofQuota({ name, quota, state, reason, until }: WorkspaceView, now: Date): FoundProblem[] {
  const waits = state === 'waiting' && reason === 'quota';
  const waitUntil = until === null || Date.parse(until) <= now.getTime() ? null : until;
  const lengthens = quota?.lengthens ?? { live: 1, idle: 1, sweep: 1 };
  const isLengthened = Object.values(lengthens).some((factor) => factor > 1);
  // `lastsUntil` is null if the quota suffices, but also if it is used up.
  const isUsedUp = quota !== null && quota.left !== null && quota.left <= quota.reserved && quota.nextHour.all > 0;
  if (!waits && !isUsedUp && !isLengthened && (quota === null || quota.lastsUntil === null)) return [];
  const { left = null, limit = null, lastsUntil = null, resetAt = null } = quota ?? {};
  const facts = { left, limit, lastsUntil, resetAt, ...lengthens };
  const short = { facts, coveredBy: waits ? ('quota-used-up' as const) : null };
  return [
    ...(waits ? [problem('quota-used-up', name, { facts: { waitUntil } })] : []),
    problem('quota-short', name, short),
  ];
}

function ofFolders(workspace: string, folders: WorkSnapshot['folders']): FoundProblem[] {
  const own = folders.filter((each) => each.workspace === workspace);
  if (own.length === 0) return [];
  const says = own.map(({ folder, code }) =>
    code === 'ENOENT' ? `${folder} does not exist` : `${folder} cannot be read (${code})`,
  );
  const given = { facts: { folders: own.length }, detail: says.join(', ') };
  return [problem('drop-folder-unreadable', workspace, given)];
}

function ofPigeonhole(
  workspace: string,
  pigeonhole: PigeonholeView,
  hindrance: ProblemCode | null,
  now: Date,
): FoundProblem[] {
  const { id, pause, failing, reason, goneAt, freshness, heldDeletions, foreignRows, setAside, strangerRows } =
    pigeonhole;
  const name = `${workspace}/${id}`;
  const coveredBy = hindrance ?? (pause === null ? null : 'pigeonhole-paused');
  const found = ofPause('pigeonhole', name, pause);
  const add = (code: ProblemCode, given: Parameters<typeof problem>[2]): void => {
    found.push(problem(code, name, given));
  };
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
  if (strangerRows > 0) add('unknown-sessions', { facts: { rows: strangerRows } });
  if (setAside > 0) add('rows-set-aside', { facts: { rows: setAside } });
  return found;
}

function ofExports(name: string, exports: WorkSnapshot['exports']): FoundProblem[] {
  const own = exports.filter(({ sink }) => sink === name);
  const pigeonholes = own.reduce((sum, each) => sum + each.pigeonholes, 0);
  if (pigeonholes === 0) return [];
  return [
    problem('export-failing', name, {
      facts: { pigeonholes },
      detail: own[0]!.failure,
      since: oldest(own.map(({ since }) => since)),
    }),
  ];
}

function ofSink(sink: SinkView, { lanes, exports, now }: WorkSnapshot, behindMs: number): FoundProblem[] {
  const { name, pause, state, reason, backlog, dead } = sink;
  const own = lanes.filter((lane) => lane.sink === name);
  const observes = isObserving(sink);
  const waitsSince = oldest(own.map((lane) => lane.waitsSince));
  const found = ofPause('sink', name, pause);
  const add = (code: ProblemCode, given: Parameters<typeof problem>[2]): void => {
    found.push(problem(code, name, given));
  };
  const isFailing = pause === null && state === 'failing';
  const retryAt = oldest(own.filter(({ failingSince }) => failingSince !== null).map((lane) => lane.retryAt));
  const attempt = { retryAt: retryAt === null || retryAt < now ? null : retryAt.toISOString() };
  if (isFailing) {
    const since = oldest(own.map(({ failingSince }) => failingSince));
    add('sink-failing', { facts: { backlog, ...attempt }, detail: reason, since });
  }
  if (!observes && waitsSince !== null && now.getTime() - waitsSince.getTime() > behindMs) {
    const held = own.filter((lane) => lane.waitsSince?.getTime() === waitsSince.getTime());
    const waitsFor = held.find((lane) => lane.waitsFor !== null)?.waitsFor ?? null;
    const cause = isFailing ? reason : waitsFor;
    const facts = {
      oldestAt: waitsSince.toISOString(),
      backlog,
      cause: cause === null ? null : failureCode(cause),
      // The alert about `sink-behind` then uses the words of `sink-failing`, which the status shows instead.
      ...(isFailing ? { problem: 'sink-failing', ...attempt } : {}),
    };
    const coveredBy = pause !== null ? 'sink-paused' : isFailing ? 'sink-failing' : null;
    add('sink-behind', { facts, detail: waitsFor, since: waitsSince, coveredBy });
  }
  for (const { list, kind, text } of sink.withholding) {
    if (kind === 'event') add('event-withheld', { facts: { list, text } });
    else add('sink-withholding', { facts: { list, text, ...(observes ? { observes: 1 } : {}) } });
  }
  if (observes) add('sink-observing', {});
  const { stale = 0, changed = 0, missing = 0, extra = 0, auditedAt = null } = sink.parity ?? {};
  if (stale + changed + missing + extra > 0)
    add('parity-differs', { facts: { stale, changed, missing, extra, auditedAt } });
  const letters = sumOf(dead);
  const mapping = Object.entries(dead).reduce((sum, [cause, n]) => (isMappingCause(cause) ? sum + n : sum), 0);
  if (letters > 0) add('dead-letters', { facts: mapping === 0 ? { letters } : { letters, mapping } });
  found.push(...ofExports(name, exports));
  return found;
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
