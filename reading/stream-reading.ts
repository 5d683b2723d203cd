import type { StreamDeletionLimits } from '../ledger/missing-evidence.js';
import type { StreamLease } from '../ledger/streams.js';
import type { WaitReason } from '../ledger/workspaces.js';
import type { ServiceListName } from '../base/list-names.js';
import type { Collaborators } from '../work/collaborators.js';
import type { Stretch } from '../work/requests/quota-rules.js';
import type { ReadingPlan } from '../work/reading-plan.js';
import type { Schedule } from './stream-facts.js';

/** The pigeonhole that a stream belongs to, with its reading plan and schedule. */
export interface StreamPlace {
  readonly ref: number;
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

export interface CycleLimits {
  /** Instant by `performance.now()`. After it, a stream that has read `minPages` requests no more pages in this cycle. */
  readonly until: number;
  readonly minPages: number;
  /** Instant by the same clock. After it, a stream reads at most one page in this cycle, whatever `minPages` is. */
  readonly latest: number;
  readonly signal: AbortSignal;
  /** Whether another stream's request showed that the workspace has to wait. */
  readonly halted: () => boolean;
}

/** One cycle of one stream: its lease, its limits and its counts so far. */
export interface StreamReading {
  readonly deps: Collaborators;
  readonly place: StreamPlace;
  readonly readLimits: CycleLimits;
  readonly cycle: StreamCycle;
  /** Number of outages of the service that had ended when the cycle started. */
  readonly outagesBefore: number;
  /** Replaced when this cycle changes a value that the lease holds, for example when the order is distrusted. */
  lease: StreamLease;
  /** The factors by which intervals are lengthened, so that the quota lasts until its reset. */
  stretch: Stretch;
  /** True if people expect the stream's items within seconds (`isLive` in cadence.ts). */
  isLive: boolean;
  /**
   * Cursor of the current request; null for the first page. If the service refuses a cursor, the walk starts again at
   * the first page.
   */
  cursor: string | null;
  /** Time until the next poll if this cycle's poll succeeded and its sweep failed; null otherwise. */
  nextPollInMs: number | null;
  /** The highest id among the stream's stored items; null if there is none. */
  highestId: number | null;
}

/** Returns the sinks for which a page of this list can have changes. */
export function sinkIdsFor({ deps, place }: Pick<StreamReading, 'deps' | 'place'>, list: string): number[] {
  // Sessions and Q&A questions decide who is anonymous in all lists.
  const decidesAnonymity = list === 'sessions' || list === 'qna-questions';
  const lists = decidesAnonymity ? [...place.plan.sinks.keys()] : [list as ServiceListName];
  const names = new Set(lists.flatMap((each) => place.plan.sinks.get(each) ?? []));
  // When consent changes, the items an attendee created change their visibility in sinks that keep current records.
  const allNames = list === 'attendees' ? [...place.plan.sinks.values()].flat() : [];
  for (const name of allNames) if (deps.sinks.get(name)?.sink.traits.revisions === 'latest') names.add(name);
  return [...names].flatMap((name) => deps.sinks.get(name)?.id ?? []);
}

/** Whether pages of a stream contained changes. */
export function foundNews({
  created,
  updated,
  deleted,
}: Pick<StreamCycle, 'created' | 'updated' | 'deleted'>): boolean {
  return created + updated + deleted > 0;
}

/** Lists of questions. While their session is live, a question that a moderator removes must disappear within seconds. */
const questionLists: ReadonlySet<string> = new Set(['questions', 'qna-questions']);

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
