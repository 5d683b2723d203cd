import type { Config, Intervals } from '../config/config.js';
import type { DeletionLimits } from './missing-evidence.js';
import type { StreamName } from '../ledger/streams.js';
import {
  type DerivedListName,
  interactionLists,
  derivedLists,
  type ListName,
  type ServiceListName,
  type ServiceTraits,
  pigeonholeLists,
  serviceTraits,
  workspaceLists,
} from '../base/lists.js';
import { countedLists } from './engagement.js';
import { sinksWanting, joinsOf } from '../sinks/wanted-lists.js';
import { strictest } from '../config/syncs.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The service's lists from which each derived list is computed. They are read wherever a sink wants the derived list. */
const sourceLists: Readonly<Record<DerivedListName, readonly ServiceListName[]>> = {
  registrants: ['attendees'],
  engagement: ['sessions', 'attendees', ...countedLists],
};

/** Lists to read from a pigeonhole, combined over all syncs that select it. */
export interface ReadingPlan {
  /** In reading order. */
  readonly lists: readonly ServiceListName[];
  readonly everyMs: Intervals;
  readonly drop: Readonly<Partial<Record<ListName, readonly string[]>>>;
  /** The strictest limits of all syncs. */
  readonly deletions: DeletionLimits;
  /** Names of the sinks that want changes of each list, derived lists included. */
  readonly sinks: ReadonlyMap<ListName, readonly string[]>;
}

/** Lists whose items belong to an attendee. The attendee's record decides about consent. */
const byAttendees: ReadonlySet<ServiceListName> = new Set(interactionLists);

/**
 * Returns the plan for a pigeonhole, or (`workspace`) for a workspace's own lists. It includes every list that a sink
 * wants and every list that those depend on: sessions and Q&A questions for anonymity, attendees for consent, and the
 * lists that the sink's mapping joins. Lists that decide whose identity is visible are read first.
 */
export function planReading(config: Config, syncs: readonly string[], scope: 'workspace' | 'pigeonhole'): ReadingPlan {
  const all: readonly ServiceListName[] = scope === 'workspace' ? workspaceLists : pigeonholeLists;
  const sinks = new Map<ListName, string[]>();
  const derived = scope === 'workspace' ? [] : derivedLists;
  for (const list of [...all, ...derived]) {
    const wanting = syncs.flatMap((name) => sinksWanting(config, name, list));
    if (wanting.length > 0) sinks.set(list, [...new Set(wanting)]);
  }
  const wanted = new Set<ServiceListName>(all.filter((list) => sinks.has(list)));
  if (scope === 'workspace') wanted.add('pigeonholes');
  else {
    for (const list of derived) if (sinks.has(list)) for (const each of sourceLists[list]) wanted.add(each);
    for (const { judgedBy, perSession } of [...wanted].map((list) => serviceTraits[list])) {
      for (const list of judgedBy) wanted.add(list);
      if (perSession !== null) wanted.add('sessions');
    }
    if ([...wanted].some((list) => byAttendees.has(list))) wanted.add('attendees');
    const sinkNames = new Set(syncs.flatMap((name) => config.syncs[name]!.sinks));
    for (const name of sinkNames) {
      for (const join of joinsOf(config.sinks[name]!)) if (join !== 'pigeonholes') wanted.add(join);
    }
  }
  return {
    lists: readingOrder.filter((list) => wanted.has(list)),
    everyMs: shortest(syncs.map((name) => config.syncs[name]!.everyMs)),
    drop: unitedDrop(config, syncs),
    deletions: strictest(syncs.map((name) => config.syncs[name]!.deletions)),
    sinks,
  };
}

const stages: readonly ServiceTraits['stage'][] = ['sessions', 'attendees', 'flags', 'rest'];

const readingOrder: readonly ServiceListName[] = [
  ...workspaceLists,
  ...stages.flatMap((each) => pigeonholeLists.filter((list) => serviceTraits[list].stage === each)),
];

/**
 * Fields that never enter the ledger, whatever the configuration says. An event's passcode is a credential: anyone who
 * has it can join the event, and no sink needs it.
 */
const credentials = { pigeonholes: ['passcode'] } as const satisfies Partial<Record<ListName, readonly string[]>>;

function unitedDrop(config: Config, syncs: readonly string[]): Partial<Record<ListName, readonly string[]>> {
  const drop: Partial<Record<ListName, readonly string[]>> = { ...credentials };
  for (const name of syncs) {
    for (const [list, fields] of Object.entries(config.syncs[name]!.drop) as [ListName, readonly string[]][]) {
      drop[list] = [...new Set([...(drop[list] ?? []), ...fields])];
    }
  }
  return drop;
}

/** Returns the streams of a plan: one per list, or one per session for lists that the service offers only per session. */
export function streamsOf(plan: ReadingPlan, sessionIds: readonly number[]): StreamName[] {
  return plan.lists.flatMap((list) =>
    serviceTraits[list].perSession !== null
      ? sessionIds.map((sessionId) => ({ list, sessionId }))
      : [{ list, sessionId: 0 }],
  );
}

/**
 * Default maximum interval of a quiet stream in a live pigeonhole, outside the times of its session or the days of the
 * event.
 */
export const longestQuietMs = 5 * minuteMs;

/** Maximum interval after a pigeonhole's end, unless the configuration states `every.ended`. */
export const longestEndedMs = dayMs;

/** Returns the interval that the configuration states for a list, or else the list's default. */
export function liveInterval(list: ServiceListName, every: Intervals): number {
  const defaults = { live: every.live, minute: minuteMs, sweep: every.sweep } as const;
  return every.lists[list] ?? defaults[serviceTraits[list].interval];
}

/** Returns the shortest of each interval over several syncs, because a pigeonhole is read once for all its syncs. */
export function shortest(all: readonly Intervals[]): Intervals {
  const min = (pick: (every: Intervals) => number): number => Math.min(...all.map(pick));
  const lists: Partial<Record<ServiceListName, number>> = {};
  for (const list of all.flatMap((every) => Object.keys(every.lists) as ServiceListName[])) {
    // For a sync that states no interval for this list, the list's default is used.
    lists[list] = min((every) => liveInterval(list, every));
  }
  // For a sync that states no `quiet`, the default is used, so that another sync's longer `quiet` does not apply to it.
  const quiet = all.some((every) => every.quiet !== undefined)
    ? { quiet: min((every) => every.quiet ?? longestQuietMs) }
    : {};
  const longestEnded = all.some((every) => every.longestEnded !== undefined)
    ? { longestEnded: min((every) => every.longestEnded ?? Math.max(longestEndedMs, every.ended)) }
    : {};
  return {
    ...quiet,
    ...longestEnded,
    live: min((every) => every.live),
    new: min((every) => every.new),
    upcoming: min((every) => every.upcoming),
    ended: min((every) => every.ended),
    sweep: min((every) => every.sweep),
    lists,
  };
}
