import { performance } from 'node:perf_hooks';
import { continueReview } from '../ledger/review-visibility.js';
import { pausesOf, placeName, resume } from '../ledger/pauses.js';
import { ensureLanes } from '../ledger/lanes.js';
import { refOf, selectedPigeonholes } from '../ledger/pigeonholes.js';
import { type DueStream, dueStreams, ensureStreams } from '../ledger/streams.js';
import type { ReaderFence, StreamProgress } from '../ledger/streams-progress.js';
import { requestPermission, workspaceAnswers } from '../ledger/workspaces.js';
import type { Collaborators } from '../work/collaborators.js';
import { type ReadingPlan, planReading, streamsOf, syncsOf } from '../work/reading-plan.js';
import type { DerivedListName } from '../base/list-names.js';
import { type DecidingList, DecidingLists } from './deciding-lists.js';
import { readStream } from './read-stream.js';
import { type CycleLimits, decidesAnonymity, type StreamPlace } from './stream-reading.js';
import { requireCurrentConfiguration } from '../ledger/configurations.js';
import { readSchedules } from './stream-facts.js';
import type { CycleResult, PigeonholeName, ReadingResult } from '../work/cycle-results.js';
import { ReadsBeside } from './reads-beside.js';
import { engagementList } from '../ledger/engagement.js';
import { type Recount, recountEngagement } from './recount-engagement.js';
import { recountRegistrants } from './recount-registrants.js';
import { registrantsList } from '../ledger/registrant-item.js';

/** Streams read concurrently in one cycle. More would not help: their pages queue at the pigeonhole's row lock. */
const streamsAtOnce = 4;
/**
 * When a cycle has run for this long, a walk that has read at least `minPages` pages stops and continues in the next
 * cycle, so that the pigeonhole's other streams are read too.
 */
const walkSliceMs = 2000;
const minPages = 10;
/**
 * Replaces `minPages` in the first walk over attendees, because the consent for an attendee's items is not known until
 * the attendee's record is stored.
 */
const minPagesOfNewAttendees = 100;
/**
 * Maximum time of a stage. Without it, reading 100 pages from a slow service would delay the other streams for minutes.
 */
const longestStageMs = 30_000;
/**
 * Maximum time for a derived list (computed from other lists) in one cycle. If it is not enough, the next cycle is due
 * immediately and continues.
 */
const deriveMs = 1000;
/**
 * While slow lists are being read, the others are read in further rounds of the same cycle. After this time, it starts
 * no read of a list that is known to be slow, so that it ends once those in progress have ended.
 */
const startsSlowForMs = 20_000;
/** Maximum time between two rounds of a cycle, so that a pause or a request of an operator has an effect meanwhile. */
const longestRoundWaitMs = 1000;
/** Maximum time between two cycles, whatever the intervals are. */
const longestSleepMs = 10 * 60_000;

const idle = { pages: 0, created: 0, updated: 0, deleted: 0 };

/**
 * Reads one pigeonhole, cycle by cycle, for as long as an activity stays with it (decision 0088). Another reader of the
 * same pigeonhole may be open, also in another process: the ledger refuses what the older one wants to store.
 */
export class PigeonholeReader {
  /**
   * @param fence the stay whose epoch has to be the newest one of its number; null: a single cycle, which needs none
   */
  constructor(
    private readonly deps: Collaborators,
    private readonly name: PigeonholeName,
    _fence: ReaderFence | null,
  ) {}

  /**
   * Runs one cycle: reads every due stream, but only a part of a stream whose walk is long. If the service answers some
   * lists slowly, reads the others again as often as they are due until the slow reads have ended. The result holds the
   * time until the next cycle. Do not call it again before it has ended.
   */
  async round(signal: AbortSignal): Promise<ReadingResult> {
    return await runCycle(this.deps, this.name, signal);
  }

  /** Returns the progress of the streams that were read since the last call and have not changed, for `writeProgress`. */
  takeProgress(): readonly StreamProgress[] {
    return [];
  }

  /** Hears that the progress of these streams was refused, because something else has changed them. */
  progressRefused(_streamIds: readonly number[]): void {}

  /** Discards what the reader remembers, because something outside has changed the pigeonhole. */
  forget(): void {}

  /** Stores what is not stored yet. Call it after the last cycle. */
  async close(): Promise<void> {}
}

async function runCycle(deps: Collaborators, name: PigeonholeName, signal: AbortSignal): Promise<ReadingResult> {
  const stop = new AbortController(); // ends slow reads when a round fails
  const beside = new ReadsBeside(name.workspace, deps.gate.slowLists);
  const deciding = new DecidingLists(deps.ledger);
  const cycle = { ...idle };
  const until = performance.now() + startsSlowForMs;
  const stopSignal = AbortSignal.any([signal, stop.signal]);
  try {
    for (;;) {
      const round = { cycle, beside, deciding, startsSlow: performance.now() < until, signal: stopSignal };
      const result = await runRound(deps, name, round);
      const isLast = result.state !== 'working' || deps.stopping.aborted || signal.aborted;
      if (isLast) await beside.all();
      beside.throwFailure();
      if (isLast || beside.isEmpty) return { ...result, ...cycle };
      await beside.next(Math.min(result.nextDueInMs, longestRoundWaitMs));
    }
  } catch (error) {
    stop.abort();
    await beside.all();
    throw error;
  }
}

/** One round of a cycle: reads each due stream once, apart from those whose slow reads continue. */
interface Round {
  /** Counts of the whole cycle. */
  readonly cycle: CycleCounts;
  readonly beside: ReadsBeside;
  readonly deciding: DecidingLists;
  /** Whether lists that are known to be slow may be read. */
  readonly startsSlow: boolean;
  readonly signal: AbortSignal;
}

async function runRound(deps: Collaborators, name: PigeonholeName, round: Round): Promise<CycleResult> {
  const { cycle, signal } = round;
  await requireCurrentConfiguration(deps);
  const ref = await refOf(deps.ledger, name.workspace, name.pigeonholeId);
  const plan = await planOf(deps, name, ref);
  if (plan === undefined) return { nextDueInMs: 0, state: 'finished' };
  const blocked = await whyBlocked(deps, name);
  if (blocked !== undefined) return blocked;

  const permission = await requestPermission(deps.ledger, name.workspace);
  if (permission.kind === 'wait') {
    return { nextDueInMs: permission.remainingMs, state: 'waiting', reason: permission.reason };
  }
  await ensureLanes(deps.ledger, ref, sinkIdsOf(deps, plan));
  const waits = await readDue(deps, { ...name, ref, plan, workspaceWait: permission.workspaceWait }, round);
  if (!waits && permission.workspaceWait !== null && cycle.pages > 0) await endWait(deps, name.workspace);
  const derivesMore = await deriveLists(deps, { ref, plan }, signal);
  const { due, nextDueInMs } = await dueStreams(deps.ledger, ref);
  const isMoreDue = due.some((stream) => isReadable(stream, round));
  const waitMs = due.length > 0 ? 1000 : longestSleepMs; // a stream that this round had to skip is due
  const dueInMs = waits ? 1000 : isMoreDue || derivesMore ? 0 : Math.min(nextDueInMs ?? longestSleepMs, waitMs);
  return { nextDueInMs: Math.min(dueInMs, longestSleepMs), state: 'working' };
}

/** Returns the reading plan; undefined if no configured sync selects the pigeonhole. */
async function planOf(deps: Collaborators, name: PigeonholeName, ref: number): Promise<ReadingPlan | undefined> {
  const syncs = syncsOf(deps.config, name.workspace);
  if (name.pigeonholeId === 0) {
    return syncs.length === 0 ? undefined : planReading(deps.config, syncs, 'workspace');
  }
  const selected = (await selectedPigeonholes(deps.ledger, syncs)).find((row) => row.ref === ref);
  return selected === undefined ? undefined : planReading(deps.config, selected.syncs, 'pigeonhole');
}

async function whyBlocked(
  deps: Collaborators,
  { workspace, pigeonholeId }: PigeonholeName,
): Promise<CycleResult | undefined> {
  const pauses = await pausesOf(deps.ledger, [
    { scope: 'workspace', name: workspace },
    { scope: 'pigeonhole', name: placeName({ workspace, pigeonholeId }) },
  ]);
  // Only an operator's pause blocks the cycle. If pigeonpost paused the workspace, `requestPermission` decides when a
  // request may test whether the service accepts the key again.
  const byPerson = pauses.find((pause) => pause.pausedBy === 'person');
  return byPerson === undefined ? undefined : { nextDueInMs: longestSleepMs, state: 'paused', reason: byPerson.cause };
}

async function endWait(deps: Collaborators, workspace: string): Promise<void> {
  await workspaceAnswers(deps.ledger, workspace);
  await resume(deps.ledger, 'workspace', workspace, 'cause');
  deps.log.info({ workspace }, 'service answers the workspace again');
}

type CycleCounts = { pages: number; created: number; updated: number; deleted: number };
type PigeonholeScope = Omit<StreamPlace, 'schedule'>;

/** A part of a round: the due streams that it reads. */
interface Stage {
  readonly name: string;
  readonly takes: (stream: DueStream) => boolean;
}

const isDeciding = ({ list }: Pick<DueStream, 'list'>): boolean => decidesAnonymity.has(list);

/**
 * The stages of a round. Attendees decide about consent, so they are read before the lists of their interactions.
 * Sessions and Q&A questions decide who may be named in other lists. They are read last, because a setting counts only
 * if it was read after the item (decision 0006); a page with news reads them before it is stored, and they are then no
 * longer due. They are read first if they were never read, since sessions have streams of their own.
 */
const stages: readonly Stage[] = [
  { name: 'sessions', takes: ({ list, isNew }) => list === 'sessions' && isNew },
  { name: 'attendees', takes: ({ list }) => list === 'attendees' },
  { name: 'qna-questions', takes: ({ list, isNew }) => list === 'qna-questions' && isNew },
  { name: 'rest', takes: (stream) => !isDeciding(stream) },
  { name: 'deciding', takes: isDeciding },
];

/**
 * Reads the due streams in stages.
 * @returns whether the workspace has to wait
 */
async function readDue(deps: Collaborators, place: PigeonholeScope, round: Round): Promise<boolean> {
  const until = performance.now() + walkSliceMs;
  const before = { ...round.cycle };
  for (const { name, takes } of stages) {
    // A session that was just read adds streams.
    if (name === 'sessions' || name === 'rest') await ensureAllStreams(deps, place);
    const { due } = await dueStreams(deps.ledger, place.ref);
    const streams = due.filter(takes).filter((stream) => isReadable(stream, round));
    if (streams.length === 0 && name !== 'deciding') continue;
    const full = { ...place, schedule: await scheduleOf(deps, place.ref) };
    const pages = name === 'attendees' && streams.some(({ isNew }) => isNew) ? minPagesOfNewAttendees : minPages;
    const latest = performance.now() + longestStageMs;
    const slice = { until, minPages: pages, latest, signal: round.signal };
    const result = await readAll(deps, full, streams, { round, slice });
    if (result.workspaceWaits) return true;
    // At the end also if an earlier cycle left reviews, or made some that needed the lists that were just read.
    if (name === 'deciding' || result.reviewsLeft) await finishReviews(deps, place);
  }
  // The sessions that were just read may have added streams, which are due immediately.
  const { created, updated } = round.cycle;
  if (created + updated > before.created + before.updated) await ensureAllStreams(deps, place);
  return false;
}

/** Whether this round may read a due stream. */
function isReadable({ id }: Pick<DueStream, 'id'>, { beside, startsSlow }: Round): boolean {
  return !beside.skips(id) && (startsSlow || !beside.isSlow(id));
}

function sinkIdsOf(deps: Collaborators, plan: ReadingPlan): number[] {
  return [...new Set([...plan.sinks.values()].flat())].flatMap((name) => deps.sinks.get(name)?.id ?? []);
}

async function scheduleOf(deps: Collaborators, ref: number): Promise<StreamPlace['schedule']> {
  return (await readSchedules(deps.ledger, [ref])).get(ref)!;
}

async function ensureAllStreams(deps: Collaborators, { ref, plan }: PigeonholeScope): Promise<void> {
  const { sessions } = await scheduleOf(deps, ref);
  await ensureStreams(deps.ledger, ref, streamsOf(plan, [...sessions.keys()]));
}

async function readAll(
  deps: Collaborators,
  place: StreamPlace,
  streams: readonly DueStream[],
  { round, slice }: { readonly round: Round; readonly slice: Omit<CycleLimits, 'halted'> },
): Promise<{ reviewsLeft: boolean; workspaceWaits: boolean }> {
  const { cycle, beside, deciding } = round;
  // Short reads first: a long walk must not delay live streams.
  const queue = streams.toSorted((a, b) => Number(a.walking) - Number(b.walking));
  const result = { reviewsLeft: false, workspaceWaits: false };
  const halted = (): boolean => result.workspaceWaits;
  const readOne = async ({ id, isNew }: Pick<DueStream, 'id' | 'isNew'>, limits: CycleLimits): Promise<void> => {
    const run = async (onProgress: () => void): Promise<void> => {
      const onPage = (): void => {
        onProgress();
        deps.onPage();
      };
      const done = await readStream({ ...deps, onPage }, place, id, limits);
      cycle.pages += done.pages;
      cycle.created += done.created;
      cycle.updated += done.updated;
      cycle.deleted += done.deleted;
      result.reviewsLeft ||= done.reviewsLeft;
      result.workspaceWaits ||= done.workspaceWaits;
    };
    await beside.run({ streamId: id, isNew, run });
  };
  deciding.use(place.ref, async (id, whole) => {
    if (isReadable({ id }, round)) await readOne({ id, isNew: false }, { ...slice, halted, whole });
  });
  const limits = { ...slice, halted, readSettings: deciding.readFor.bind(deciding) };
  // After the workspace had to wait, streams are read one at a time until the end of the first stage in which a page
  // arrives.
  const atOnce = place.workspaceWait === null || cycle.pages > 0 ? streamsAtOnce : 1;
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (result.workspaceWaits || deps.stopping.aborted || limits.signal.aborted) return;
      const stream = next;
      // Only one read of a deciding list at a time: a page of another list may be waiting for one.
      if (isDeciding(stream)) await deciding.alone(stream.list as DecidingList, () => readOne(stream, limits));
      else await readOne(stream, limits);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, queue.length) }, work));
  return result;
}

async function finishReviews(deps: Collaborators, place: PigeonholeScope): Promise<void> {
  const sinkIds = sinkIdsOf(deps, place.plan);
  for (let more = true; more && !deps.stopping.aborted;) {
    const slice = await continueReview(deps.ledger, place.ref, sinkIds);
    if (slice.woken.length > 0) await deps.orchestration.wakeSinks(slice.woken);
    more = slice.more;
  }
}

/**
 * Updates the lists that pigeonpost computes from the service's lists and from imports (engagement and registrants).
 * Works in slices, and only if a sink wants the list.
 * @returns whether there is more to do
 */
async function deriveLists(
  deps: Collaborators,
  { ref, plan }: { readonly ref: number; readonly plan: ReadingPlan },
  signal: AbortSignal,
): Promise<boolean> {
  const derive = async (
    list: DerivedListName,
    recount: (sinkIds: readonly number[]) => Promise<Recount>,
  ): Promise<boolean> => {
    const sinkIds = (plan.sinks.get(list) ?? []).flatMap((name) => deps.sinks.get(name)?.id ?? []);
    const until = performance.now() + deriveMs;
    for (let more = sinkIds.length > 0; more;) {
      if (performance.now() > until || deps.stopping.aborted || signal.aborted) return true;
      const slice = await recount(sinkIds);
      if (slice.woken.length > 0) await deps.orchestration.wakeSinks(slice.woken);
      more = slice.more;
    }
    return false;
  };
  const drop = { attendees: plan.drop.attendees ?? [], registrants: plan.drop.registrants ?? [] };
  const registrantsLeft = await derive(registrantsList, (sinkIds) =>
    recountRegistrants(deps.ledger, ref, { sinkIds, drop }),
  );
  const engagementLeft = await derive(engagementList, (sinkIds) => recountEngagement(deps.ledger, ref, sinkIds));
  return registrantsLeft || engagementLeft;
}
