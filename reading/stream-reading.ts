import type { StreamDeletionLimits } from './missing-evidence.js';
import { discardCursor, distrustStream, type StreamLease } from '../ledger/streams.js';
import type { PageSummary, WalkKind } from '../ledger/walk.js';
import type { WaitReason } from '../ledger/workspaces.js';
import { judgedLists } from '../ledger/visibility.js';
import { decidingLists, isOfWorkspace, isPerSession, questionLists, type ServiceListName } from '../base/lists.js';
import type { Collaborators } from '../cycles/collaborators.js';
import type { Priority } from '../requests/quota.js';
import type { Permits } from '../requests/key-permits.js';
import type { Stretch } from '../requests/quota-rules.js';
import type { ReadingPlan } from './reading-plan.js';
import { ApiError } from '../pigeonhole/api-error.js';
import { type ListRef, listPath } from '../pigeonhole/lists.js';
import type { Page } from '../pigeonhole/page.js';
import type { PageResult } from './record-page.js';
import type { RememberedStream } from './remembered-stream.js';
import type { Schedule } from './stream-facts.js';
import type { PageItems } from './to-items.js';
import type { KnownOrder } from './walk-progress.js';

/** The pigeonhole that a stream belongs to, with its reading plan and schedule. */
export interface StreamPlace {
  readonly pigeonholeNumber: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly plan: ReadingPlan;
  readonly schedule: Schedule;
  /** The workspace's wait that has just ended; null if there was none. */
  readonly workspaceWait: { readonly reason: WaitReason; readonly count: number } | null;
}

/** Counts of one cycle of one stream, increased as its pages are stored. */
export interface StreamCycle {
  pages: number;
  created: number;
  updated: number;
  deleted: number;
  /** True if items wait for a new decision about their visibility. */
  reviewsLeft: boolean;
  /** True if the workspace has to wait: none of its streams may send requests. */
  workspaceWaits: boolean;
}

export type PermitsByPriority = ReadonlyMap<Priority, Permits>;

export interface CycleLimits {
  /** Instant by `performance.now()`. After it, a stream that has read `minPages` requests no more pages in this cycle. */
  readonly until: number;
  readonly minPages: number;
  /** Instant by the same clock. After it, a stream reads at most one page in this cycle, whatever `minPages` is. */
  readonly latest: number;
  readonly signal: AbortSignal;
  /**
   * Reads the lists that decide who may be named in this list (`DecidingLists.readFor`). Absent while such a list is read.
   */
  readonly readSettings?: ((list: string, pages: number) => Promise<void>) | undefined;
  /** True: reads the whole list, whatever is due. */
  readonly whole?: boolean | undefined;
  /** Permits of the cycle's polls (`ServiceGate.permits`). */
  readonly permits?: PermitsByPriority | undefined;
  /** Whether another stream's request showed that the workspace has to wait. */
  readonly halted: () => boolean;
  /** Stores the progress of the pigeonhole's streams that is only in memory. */
  readonly saveProgress: () => Promise<void>;
}

/** One cycle of one stream: its lease, its limits and its counts so far. */
export interface StreamReading {
  readonly deps: Collaborators;
  readonly place: StreamPlace;
  readonly readLimits: CycleLimits;
  readonly cycle: StreamCycle;
  /** The reader's memory of the stream. */
  readonly stream: RememberedStream;
  /** True as long as the read has found nothing that has to be stored (`RememberedStream`). */
  isQuiet: boolean;
  /** Number of requests of this read by priority. */
  readonly requests: Map<Priority, number>;
  /** Number of outages of the service that had ended when the cycle started. */
  readonly outagesBefore: number;
  /** Replaced when this cycle changes a value that the lease holds, for example when the order is distrusted. */
  lease: StreamLease;
  /** The factors by which intervals are lengthened, so that the quota lasts until its reset. */
  stretch: Stretch;
  /** True if people expect the stream's items within seconds (`isLive` in cadence.ts). */
  isLive: boolean;
  /** Cursor of the current request; null for the first page. */
  cursor: string | null;
  /** The walk of the current request, and whether this cycle has stored a page of it. */
  walk: { readonly kind: WalkKind; readonly advanced: boolean };
  /**
   * The walk whose cursor is under suspicion, while the list is read again from its first page; null: none. If that
   * page arrives, the cursor is at fault (`discardCursor`).
   */
  suspect: WalkKind | null;
  /** Number of cursors that this cycle has discarded. */
  cursorsDiscarded: number;
  /** Time until the next poll if this cycle's poll succeeded and its sweep failed; null otherwise. */
  nextPollInMs: number | null;
  /** The highest id among the stream's stored items; null if there is none. */
  highestId: number | null;
  /** The known sessions of the pigeonhole; null if they are not read. */
  readonly sessions: Set<number> | null;
  /** True if a page that showed only new items was accepted in this cycle (`doubt.ts`), so that no other is doubted. */
  acceptsNewItems: boolean;
}

/**
 * Ends the quiet part of a read, before anything is stored: stores what is only in memory, also of other streams,
 * because what the ledger decides about this one may depend on when those were read.
 */
export async function leaveQuiet(reading: StreamReading): Promise<void> {
  reading.isQuiet = false;
  await reading.readLimits.saveProgress();
  await reading.stream.savePosition(reading.deps.ledger, reading.lease);
}

/** Returns the function that reads the lists which decide about a page's items; undefined if none does. */
export function settingsReader(
  { readLimits, lease }: Pick<StreamReading, 'readLimits' | 'lease'>,
  pages: number,
): (() => Promise<void>) | undefined {
  const { readSettings } = readLimits;
  if (readSettings === undefined || !judgedLists.has(lease.list)) return undefined;
  return async () => await readSettings(lease.list, pages);
}

/** Returns the names of the sinks for which a page of this list can have changes. */
export function sinksFor({ deps, place }: Pick<StreamReading, 'deps' | 'place'>, list: string): string[] {
  const lists = decidingLists.has(list) ? [...place.plan.sinks.keys()] : [list as ServiceListName];
  const names = new Set(lists.flatMap((each) => place.plan.sinks.get(each) ?? []));
  // When consent changes, the items an attendee created change their visibility in sinks that keep current records.
  const allNames = list === 'attendees' ? [...place.plan.sinks.values()].flat() : [];
  for (const name of allNames) if (deps.sinks.get(name)?.sink.traits.revisions === 'latest') names.add(name);
  return [...names].filter((name) => deps.sinks.has(name));
}

/** Whether pages of a stream contained changes. */
export function foundNews({
  created,
  updated,
  deleted,
}: Pick<StreamCycle, 'created' | 'updated' | 'deleted'>): boolean {
  return created + updated + deleted > 0;
}

/**
 * Returns the limits for deletions. While the session of a list of questions is live, a question that a moderator
 * removes must disappear within seconds.
 */
export function deletionLimitsOf({
  place,
  lease,
  isLive,
}: Pick<StreamReading, 'place' | 'lease' | 'isLive'>): StreamDeletionLimits {
  return { ...place.plan.deletions, isLiveQuestions: isLive && questionLists.has(lease.list) };
}

/** Returns the log fields that identify a stream. */
export function streamLogFields({ place, lease }: Pick<StreamReading, 'place' | 'lease'>): Record<string, unknown> {
  return {
    workspace: place.workspace,
    pigeonhole: place.pigeonholeId,
    list: lease.list,
    ...(lease.sessionId === 0 ? {} : { session: lease.sessionId }),
  };
}

/** Discards the stream's checkpoint and open poll. Polls resume only after a sweep has finished. */
export async function distrust(reading: StreamReading, order: KnownOrder): Promise<'distrusted'> {
  await leaveQuiet(reading);
  await distrustStream(reading.deps.ledger, reading.lease, order);
  reading.lease = { ...reading.lease, ...order, checkpoint: null, checkpointKey: null, headId: null, poll: null };
  return 'distrusted';
}

/**
 * Discards the cursor under suspicion, because the service answered a request without a cursor: the cursor was at
 * fault. Does nothing if no cursor is under suspicion.
 */
export async function discardSuspect(reading: StreamReading): Promise<void> {
  const { lease, suspect } = reading;
  if (suspect === null) return;
  reading.suspect = null;
  reading.cursorsDiscarded += 1;
  await discardCursor(reading.deps.ledger, lease, suspect);
  const discarded = lease.cursorsDiscarded + 1;
  const checkpoint = { checkpoint: null, checkpointKey: null, poll: null };
  reading.lease = { ...lease, cursorsDiscarded: discarded, ...(suspect === 'poll' ? checkpoint : {}) };
}

/** Reports a stored page: adds it to the cycle's counts, wakes the sinks that have changes to deliver, and logs it. */
export async function reportPage(
  reading: StreamReading,
  page: Page,
  seen: Pick<PageItems, 'unidentified' | 'foreign'> | null,
  result: PageResult,
): Promise<void> {
  const { deps, cycle } = reading;
  const { unidentified, foreign } = seen ?? { unidentified: 0, foreign: 0 };
  cycle.created += result.created;
  cycle.updated += result.updated;
  cycle.deleted += result.deleted;
  cycle.reviewsLeft ||= result.reviewsLeft;
  if (result.woken.length > 0) await deps.orchestration.wakeSinks(result.woken);
  if (foundNews(result) || unidentified + foreign + page.irregular.length > 0) {
    deps.log.info(
      {
        ...streamLogFields(reading),
        requestId: page.requestId,
        items: page.items.length,
        created: result.created,
        updated: result.updated,
        deleted: result.deleted,
        unidentified,
        foreign,
        irregular: page.irregular.length,
      },
      'page stored',
    );
  }
}

/**
 * Whether the newest item of a sweep's page was created after the previous sweep. Other items can appear late, for
 * example when a moderator restores a removed one, and their age is not the delay of their detection. In a list with
 * ids, a new item has a higher id than all stored items; this needs no clock. In other lists, its creation instant is
 * after the previous sweep. In the first sweep, no item counts as new. Call this function before the page is stored,
 * because storing raises the stream's highest id. Pure.
 */
export function showsNewItem(
  { lease: { sweptAt }, highestId }: Pick<StreamReading, 'lease' | 'highestId'>,
  { high, newestAt }: PageSummary,
): boolean {
  if (sweptAt === null || newestAt === null) return false;
  return highestId === null ? newestAt > sweptAt.getTime() : high !== null && high > highestId;
}

/** Measures the age of a page's newest item, which is the delay of its detection. */
export function measureAge({ deps, lease }: StreamReading, { newestAt }: PageSummary): void {
  if (newestAt !== null) deps.meters.found(lease.list, deps.ledger.clock.nowMs() - newestAt);
}

/** Returns the reference by which the client requests a stream's list. */
export function listRef(pigeonholeId: number, { list, sessionId }: { list: string; sessionId: number }): ListRef {
  const name = list as ServiceListName;
  if (isOfWorkspace(name)) return { list: name };
  return isPerSession(name) ? { list: name, pigeonholeId, sessionId } : ({ list: name, pigeonholeId } as ListRef);
}

/**
 * Returns the error for a walk whose cursors lead back to pages that it has already read, so that it would never end.
 */
export function circleError({ place, lease }: Pick<StreamReading, 'place' | 'lease'>): ApiError {
  return new ApiError(
    { method: 'GET', path: listPath(listRef(place.pigeonholeId, lease)) },
    {
      kind: 'protocol',
      problem: 'the service returned a cursor that leads back to pages which this walk has already read',
      mayHaveTakenEffect: false,
    },
  );
}
