import type { StreamDeletionLimits } from '../ledger/missing-evidence.js';
import type { StreamLease } from '../ledger/streams.js';
import type { WaitReason } from '../ledger/workspaces.js';
import type { ListName } from '../pigeonhole/lists.js';
import type { Collaborators } from '../work/collaborators.js';
import type { Stretch } from '../work/asking/quota-rules.js';
import type { ReadingPlan } from '../work/reading-plan.js';
import type { Schedule } from './stream-facts.js';

/** The pigeonhole that a stream belongs to, and what of it matters to reading. */
export interface StreamPlace {
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly plan: ReadingPlan;
  readonly schedule: Schedule;
  /** The wait of the workspace that ended just before; null: there was none. */
  readonly after: { readonly reason: WaitReason; readonly count: number } | null;
}

export interface StreamTurn {
  pages: number;
  created: number;
  updated: number;
  deleted: number;
  reviewsLeft: boolean;
  /** The workspace has to wait: no stream of it is to be asked. */
  workspaceWaits: boolean;
}

export interface TurnLimits {
  /** By `performance.now()`, which no set clock moves: after it no further page is asked for, once `leastPages` were read. */
  readonly until: number;
  readonly leastPages: number;
  /** As `performance.now`: after it a stream gets one page in this turn, whatever `leastPages` says. */
  readonly latest: number;
  readonly signal: AbortSignal;
  /** Another stream was told that the workspace has to wait: this one asks for nothing more either. */
  readonly halted: () => boolean;
}

/** One turn over one stream: who reads it, under which lease, and what has come of it so far. */
export interface StreamReading {
  readonly to: Collaborators;
  readonly place: StreamPlace;
  readonly limits: TurnLimits;
  readonly turn: StreamTurn;
  /** Replaced when the stream is trusted less than it was. */
  lease: StreamLease;
  /** How much longer than configured is waited, so that the quota lasts. */
  readonly stretch: Stretch;
  /** Its session runs, or something was just found in it. */
  isLive: boolean;
  /** Cursor of the request under way, and so what a refusal is about. */
  cursor: string | null;
  /** The poll of this turn has ended, so that whatever becomes of the sweep beside it, the next is due then. */
  nextPollInMs: number | null;
  /** The highest id that the stream has stored. */
  highestId: number | null;
}

/** The sinks that a page of this list has something for. */
export function sinkIdsFor({ to, place }: Pick<StreamReading, 'to' | 'place'>, list: string): number[] {
  // What says who is anonymous may change items of any list.
  const speaksForOthers = list === 'sessions' || list === 'qna-questions';
  const lists = speaksForOthers ? [...place.plan.sinks.keys()] : [list as ListName];
  const names = new Set(lists.flatMap((each) => place.plan.sinks.get(each) ?? []));
  // Who consents, or no more, may be shown with what they did, or no more: at a sink of records that stands wrongly now.
  const speaksForDeeds = list === 'attendees' ? [...place.plan.sinks.values()].flat() : [];
  for (const name of speaksForDeeds) if (to.sinks.get(name)?.sink.traits.revisions === 'latest') names.add(name);
  return [...names].flatMap((name) => to.sinks.get(name)?.id ?? []);
}

export function foundNews({ created, updated, deleted }: StreamTurn): boolean {
  return created + updated + deleted > 0;
}

/** Lists of questions: what a moderator takes from the stage stands in both. */
const questionLists: ReadonlySet<string> = new Set(['questions', 'qna-questions']);

export function limitsOf({
  place,
  lease,
  isLive,
}: Pick<StreamReading, 'place' | 'lease' | 'isLive'>): StreamDeletionLimits {
  return { ...place.plan.deletions, isLiveQuestions: isLive && questionLists.has(lease.list) };
}

/** For a line of the log: which stream. */
export function facts({ place, lease }: Pick<StreamReading, 'place' | 'lease'>): Record<string, unknown> {
  return {
    workspace: place.workspace,
    pigeonhole: place.pigeonholeId,
    list: lease.list,
    ...(lease.sessionId === 0 ? {} : { session: lease.sessionId }),
  };
}
