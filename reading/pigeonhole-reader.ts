import { performance } from 'node:perf_hooks';
import { continueReview } from './review-visibility.js';
import { pausesOf, placeName, resume } from '../ledger/pauses.js';
import { ensureLanes } from '../ledger/lanes.js';
import { pigeonholeNumberOf, selectedPigeonhole } from '../ledger/pigeonholes.js';
import type { DueStream } from '../ledger/streams.js';
import type { ReaderFence, StreamProgress } from '../ledger/streams-progress.js';
import { type Permission, requestPermission, workspaceAnswers } from '../ledger/workspaces.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { type ReadingPlan, planReading } from './reading-plan.js';
import { syncsOf } from '../config/syncs.js';
import {
  type DecidingList,
  decidingLists,
  type DerivedListName,
  type ServiceListName,
  serviceTraits,
} from '../base/lists.js';
import { DecidingLists } from './deciding-lists.js';
import { readStream } from './read-stream.js';
import { type CycleLimits, foundNews, type PermitsByPriority, type StreamPlace } from './stream-reading.js';
import { requireCurrentConfiguration } from '../ledger/configurations.js';
import { PigeonholeMemory } from './pigeonhole-memory.js';
import type { RememberedStream } from './remembered-stream.js';
import type { Priority } from '../requests/quota.js';
import type { RoundKind } from '../cycles/round-queue.js';
import type { CycleResult, PigeonholeName, ReadingResult } from '../cycles/cycle-results.js';
import { ReadsBeside } from './reads-beside.js';
import { engagementList } from '../base/lists.js';
import { type Recount, recountEngagement } from './recount-engagement.js';
import { recountRegistrants } from './recount-registrants.js';
import { registrantsList } from '../base/lists.js';

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

/** Interval of updating the derived lists if nothing has changed in the pigeonhole: imports change them, too. */
const deriveEveryMs = 15_000;

/** The work on a pigeonhole that the configuration and the operators allow. */
interface Planned {
  readonly pigeonholeNumber: number;
  readonly plan: ReadingPlan;
}

/**
 * Reads one pigeonhole, cycle by cycle, for as long as an activity stays with it (decision 0088). Remembers what the
 * ledger holds, so that a cycle that finds nothing sends no statement but that for its permits. Another reader of the
 * same pigeonhole may be open, also in another process: the ledger refuses what the older one wants to store.
 */
export class PigeonholeReader {
  readonly #memory: PigeonholeMemory;
  /** Undefined: not known. A result: why there is nothing to read. */
  #planned: Planned | CycleResult | undefined;
  #beside: ReadsBeside;
  /** Instant by `performance.now()` of the last update of derived lists; null: an update is due. */
  #derivedAt: number | null = null;
  /** Number of calls of `forget`: what was loaded before one of them may be out of date. */
  #forgotten = 0;

  /**
   * @param fence the stay whose epoch has to be the newest one of its number; null: a single cycle, which needs none
   * @param permission whether the workspace may send requests now; by default from the ledger
   */
  constructor(
    private readonly deps: Collaborators,
    private readonly name: PigeonholeName,
    private readonly fence: ReaderFence | null,
    private readonly permission = async (): Promise<Permission> => await requestPermission(deps.ledger, name.workspace),
  ) {
    this.#memory = new PigeonholeMemory(deps.ledger, fence);
    this.#beside = new ReadsBeside(name.workspace, deps.gate.slowLists);
  }

  /**
   * Runs one cycle: reads every due stream, but only a part of a stream whose walk is long. If the service answers some
   * lists slowly, reads the others again as often as they are due until the slow reads have ended. The result holds the
   * time until the next cycle. Do not call it again before it has ended.
   */
  async round(signal: AbortSignal): Promise<ReadingResult> {
    const { deps, name } = this;
    const stop = new AbortController(); // ends slow reads when a round fails
    const onAbort = (): void => stop.abort(signal.reason);
    // Not AbortSignal.any: in Node.js 20, each use leaks memory on a long-lived signal.
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const beside = new ReadsBeside(name.workspace, deps.gate.slowLists);
    this.#beside = beside;
    const deciding = new DecidingLists(deps.ledger);
    const cycle = { ...idle };
    const until = performance.now() + startsSlowForMs;
    try {
      for (;;) {
        const round = { cycle, beside, deciding, startsSlow: performance.now() < until, signal: stop.signal };
        const result = await this.#runRound(round);
        const isLast = result.state !== 'working' || deps.stopping.aborted || signal.aborted;
        if (isLast) await beside.all();
        beside.throwFailure();
        if (isLast || beside.isEmpty) return { ...result, ...cycle };
        await beside.next(Math.min(result.nextDueInMs, longestRoundWaitMs));
        if (this.fence === null) this.forget(); // without a stay, nobody says when something outside has changed
      }
    } catch (error) {
      stop.abort();
      await beside.all();
      this.forget();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Urgency of the next cycle. */
  get nextKind(): RoundKind {
    return this.#memory.nextKind;
  }

  /**
   * Returns the progress of the streams that were read since the last call and showed nothing new, for
   * `writeProgress`. It is not returned again, unless a later read adds to it.
   */
  takeProgress(): readonly StreamProgress[] {
    return this.#memory.takeProgress();
  }

  /**
   * Hears that the progress of these streams was refused, because something else has changed them. They may belong to
   * other pigeonholes.
   */
  progressRefused(streamIds: readonly number[]): void {
    if (streamIds.some((id) => this.#memory.find(id) !== undefined)) this.forget();
  }

  /** Discards what the reader remembers, because others have changed the pigeonhole. The next cycle loads it again. */
  forget(): void {
    this.#forgotten += 1;
    this.#planned = undefined;
    this.#derivedAt = null;
    this.#memory.forget();
  }

  /** Stores what is not stored yet. Call it after the last cycle. */
  async close(): Promise<void> {
    await this.#memory.save(() => false);
  }

  async #runRound(round: Round): Promise<CycleResult> {
    const { deps, name } = this;
    const { cycle } = round;
    const planned = await this.#knownPlan();
    if (!('plan' in planned)) return planned;
    const permission = await this.permission();
    if (permission.kind === 'wait') {
      return { nextDueInMs: permission.remainingMs, state: 'waiting', reason: permission.reason };
    }
    const { workspaceWait } = permission;
    const before = cycle.created + cycle.updated + cycle.deleted;
    const waits = await this.#readDue({ ...name, ...planned, workspaceWait }, round);
    if (!waits && workspaceWait !== null && cycle.pages > 0) await endWait(deps, name.workspace);
    const hasNews = cycle.created + cycle.updated + cycle.deleted > before;
    const derivesMore = await this.#derive(planned, hasNews, round.signal);
    await this.#refresh(planned);
    const { due, nextDueInMs } = this.#memory.due();
    const isMoreDue = due.some((stream) => isReadable(stream, round));
    const waitMs = due.length > 0 ? 1000 : longestSleepMs; // a stream that this round had to skip is due
    const dueInMs = waits ? 1000 : isMoreDue || derivesMore ? 0 : Math.min(nextDueInMs ?? longestSleepMs, waitMs);
    return { nextDueInMs: Math.min(dueInMs, longestSleepMs), state: 'working' };
  }

  async #knownPlan(): Promise<Planned | CycleResult> {
    if (this.#planned !== undefined) return this.#planned;
    const forgotten = this.#forgotten;
    const planned = await this.#findPlan();
    if (forgotten === this.#forgotten) this.#planned = planned;
    return planned;
  }

  /** Finds out what to read. Returns a result if there is nothing to read now. */
  async #findPlan(): Promise<Planned | CycleResult> {
    const { deps, name } = this;
    await requireCurrentConfiguration(deps);
    const pigeonholeNumber = await pigeonholeNumberOf(deps.ledger, name.workspace, name.pigeonholeId);
    const plan = await planOf(deps, name);
    if (plan === undefined) return { nextDueInMs: 0, state: 'finished' };
    const blocked = await whyBlocked(deps, name);
    if (blocked !== undefined) return blocked;
    await ensureLanes(
      deps.ledger,
      pigeonholeNumber,
      sinksOf(deps, plan).map((name) => deps.sinks.get(name)!.id),
    );
    return { pigeonholeNumber, plan };
  }

  async #refresh({ pigeonholeNumber, plan }: Planned): Promise<void> {
    await this.#memory.refresh(pigeonholeNumber, plan, (id) => this.#beside.isReading(id));
  }

  /**
   * Reads the due streams in stages.
   * @returns whether the workspace has to wait
   */
  async #readDue(place: PigeonholeScope, round: Round): Promise<boolean> {
    const { deps } = this;
    const memory = this.#memory;
    const until = performance.now() + walkSliceMs;
    const isFresh = !memory.isCurrent;
    const permits = await this.#permits(place, round);
    try {
      for (const { name, takes } of stages) {
        await this.#refresh(place);
        const now = deps.ledger.clock.nowMs();
        const streams = memory
          .due()
          .due.filter(takes)
          .filter((stream) => isReadable(stream, round));
        if (streams.length === 0 && (name !== 'deciding' || (!isFresh && memory.isCurrent))) continue;
        await memory.hold(streams);
        const full = { ...place, schedule: memory.schedule };
        const pages = name === 'attendees' && streams.some(({ isNew }) => isNew) ? minPagesOfNewAttendees : minPages;
        const latest = performance.now() + longestStageMs;
        const saveProgress = (): Promise<void> => memory.saveProgress();
        const slice = { until, minPages: pages, latest, signal: round.signal, permits, saveProgress };
        // Short reads first: a long walk must not delay live streams.
        const queue = streams.toSorted((a, b) => Number(a.isWalking(now)) - Number(b.isWalking(now)));
        const result = await this.#readAll(full, queue, { round, slice });
        if (result.workspaceWaits) return true;
        // At the end also if an earlier cycle left reviews, or made some that needed the lists that were just read.
        const mayBeDue = name === 'deciding' ? isFresh || !memory.isCurrent : result.reviewsLeft;
        if (mayBeDue) await this.#finishReviews(place);
      }
    } finally {
      for (const each of permits.values()) await each.end();
    }
    return false;
  }

  /** Takes the permits that the due streams need if they show nothing new, with one statement a priority. */
  async #permits({ workspace }: PigeonholeName, round: Round): Promise<PermitsByPriority> {
    const { deps } = this;
    const counts = new Map<Priority, number>();
    for (const stream of this.#memory.due().due.filter((each) => isReadable(each, round))) {
      for (const [priority, count] of stream.requests) counts.set(priority, (counts.get(priority) ?? 0) + count);
    }
    const taken = [...counts].map(
      async ([priority, count]) => [priority, await deps.gate.permits(deps, { workspace, priority }, count)] as const,
    );
    return new Map(await Promise.all(taken));
  }

  async #readAll(
    place: StreamPlace,
    queue: RememberedStream[],
    { round, slice }: { readonly round: Round; readonly slice: Omit<CycleLimits, 'halted'> },
  ): Promise<{ reviewsLeft: boolean; workspaceWaits: boolean }> {
    const { cycle, beside, deciding } = round;
    const deps = this.deps;
    const memory = this.#memory;
    const result = { reviewsLeft: false, workspaceWaits: false };
    const halted = (): boolean => result.workspaceWaits;
    const readOne = async (stream: RememberedStream, limits: CycleLimits): Promise<void> => {
      const run = async (onProgress: () => void): Promise<void> => {
        const onPage = (): void => {
          onProgress();
          deps.onPage();
        };
        let end = { isQuiet: false, hasNews: true }; // if it fails
        try {
          await memory.hold([stream]);
          const done = await readStream({ ...deps, onPage }, place, stream, limits);
          cycle.pages += done.pages;
          cycle.created += done.created;
          cycle.updated += done.updated;
          cycle.deleted += done.deleted;
          result.reviewsLeft ||= done.reviewsLeft;
          result.workspaceWaits ||= done.workspaceWaits;
          end = { isQuiet: done.isQuiet, hasNews: foundNews(done) || done.reviewsLeft };
        } finally {
          memory.ended(stream, end);
        }
      };
      await beside.run({ streamId: stream.id, isNew: stream.isNew, run });
    };
    deciding.use(place.pigeonholeNumber, async (id, whole) => {
      const stream = memory.find(id);
      if (stream !== undefined && isReadable(stream, round)) await readOne(stream, { ...slice, halted, whole });
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

  async #finishReviews({ pigeonholeNumber, plan }: Planned): Promise<void> {
    const { deps } = this;
    const sinks = sinksOf(deps, plan);
    for (let more = true; more && !deps.stopping.aborted;) {
      const slice = await continueReview(deps.ledger, pigeonholeNumber, sinks);
      if (slice.woken.length > 0) await deps.orchestration.wakeSinks(slice.woken);
      more = slice.more;
      if (more) this.#memory.changed({ hasNews: true });
    }
  }

  /**
   * Updates the derived lists if something has changed, and every few seconds.
   * @returns whether there is more to do
   */
  async #derive(planned: Planned, hasNews: boolean, signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    if (!hasNews && this.#derivedAt !== null && now - this.#derivedAt < deriveEveryMs) return false;
    const forgotten = this.#forgotten;
    const more = await deriveLists(this.deps, planned, signal);
    this.#derivedAt = more || forgotten !== this.#forgotten ? null : now;
    return more;
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

/** Returns the reading plan; undefined if no configured sync selects the pigeonhole. */
async function planOf(deps: Collaborators, name: PigeonholeName): Promise<ReadingPlan | undefined> {
  const syncs = syncsOf(deps.config, name.workspace);
  if (name.pigeonholeId === 0) {
    return syncs.length === 0 ? undefined : planReading(deps.config, syncs, 'workspace');
  }
  const selected = await selectedPigeonhole(deps.ledger, syncs, name);
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
  readonly takes: (stream: Pick<DueStream, 'list' | 'isNew'>) => boolean;
}

const stageOf = ({ list }: Pick<DueStream, 'list'>) => serviceTraits[list as ServiceListName].stage;
const isDeciding = ({ list }: Pick<DueStream, 'list'>): boolean => decidingLists.has(list);

/**
 * The stages of a round. Attendees decide about consent, so they are read before the lists of their interactions.
 * Sessions and Q&A questions decide who may be named in other lists. They are read last, because a setting counts only
 * if it was read after the item (decision 0006); a page with news reads them before it is stored, and they are then no
 * longer due. They are read first if they were never read, since sessions have streams of their own.
 */
const stages: readonly Stage[] = [
  { name: 'sessions', takes: (stream) => stageOf(stream) === 'sessions' && stream.isNew },
  { name: 'attendees', takes: (stream) => stageOf(stream) === 'attendees' },
  { name: 'flags', takes: (stream) => stageOf(stream) === 'flags' && stream.isNew },
  { name: 'rest', takes: (stream) => !isDeciding(stream) },
  { name: 'deciding', takes: isDeciding },
];

/** Whether this round may read a due stream. */
function isReadable({ id }: Pick<DueStream, 'id'>, { beside, startsSlow }: Round): boolean {
  return !beside.skips(id) && (startsSlow || !beside.isSlow(id));
}

function sinksOf(deps: Collaborators, plan: ReadingPlan): string[] {
  return [...new Set([...plan.sinks.values()].flat())].filter((name) => deps.sinks.has(name));
}

/**
 * Updates the lists that pigeonpost computes from the service's lists and from imports (engagement and registrants).
 * Works in slices, and only if a sink wants the list.
 * @returns whether there is more to do
 */
async function deriveLists(
  deps: Collaborators,
  { pigeonholeNumber, plan }: { readonly pigeonholeNumber: number; readonly plan: ReadingPlan },
  signal: AbortSignal,
): Promise<boolean> {
  const derive = async (
    list: DerivedListName,
    recount: (sinks: readonly string[]) => Promise<Recount>,
  ): Promise<boolean> => {
    const sinks = (plan.sinks.get(list) ?? []).filter((name) => deps.sinks.has(name));
    const until = performance.now() + deriveMs;
    for (let more = sinks.length > 0; more;) {
      if (performance.now() > until || deps.stopping.aborted || signal.aborted) return true;
      const slice = await recount(sinks);
      if (slice.woken.length > 0) await deps.orchestration.wakeSinks(slice.woken);
      more = slice.more;
    }
    return false;
  };
  const drop = { attendees: plan.drop.attendees ?? [], registrants: plan.drop.registrants ?? [] };
  const registrantsLeft = await derive(registrantsList, (sinks) =>
    recountRegistrants(deps.ledger, pigeonholeNumber, { sinks, drop }),
  );
  const engagementLeft = await derive(engagementList, (sinks) =>
    recountEngagement(deps.ledger, pigeonholeNumber, sinks),
  );
  return registrantsLeft || engagementLeft;
}
