import type { Config, Intervals } from '../config/config.js';
import type { DeletionLimits } from '../ledger/missing-evidence.js';
import type { StreamName } from '../ledger/streams.js';
import { judgedLists } from '../ledger/visibility.js';
import { type ListName, pigeonholeLists, workspaceLists } from '../pigeonhole/lists.js';
import { perSessionLists, shortest } from '../reading/cadence.js';
import { derivedLists, madeFrom, type SentListName } from './derived-lists.js';
import { joinsOf, usesList } from './sink-lists.js';

/** Lists to read from a pigeonhole, combined over all syncs that select it. */
export interface ReadingPlan {
  /** In reading order. */
  readonly lists: readonly ListName[];
  readonly everyMs: Intervals;
  readonly drop: Readonly<Partial<Record<SentListName, readonly string[]>>>;
  /** The strictest limits of all syncs. */
  readonly deletions: DeletionLimits;
  /** Names of the sinks that want changes of each list, derived lists included. */
  readonly sinks: ReadonlyMap<SentListName, readonly string[]>;
}

/** Lists whose items belong to an attendee, so that the attendee's record decides about consent. */
const byAttendees: ReadonlySet<ListName> = new Set(
  pigeonholeLists.filter((list) => list !== 'sessions' && list !== 'attendees'),
);

/**
 * Returns the plan for a pigeonhole, or (`workspace`) for a workspace's own lists. It includes every list that a sink
 * wants and every list that those depend on: sessions and Q&A questions for anonymity, attendees for consent, and the
 * lists that the sink's mapping joins. Lists that decide whose identity is visible are read first.
 */
export function planReading(config: Config, syncs: readonly string[], scope: 'workspace' | 'pigeonhole'): ReadingPlan {
  const all: readonly ListName[] = scope === 'workspace' ? workspaceLists : pigeonholeLists;
  const sinks = new Map<SentListName, string[]>();
  const derived = scope === 'workspace' ? [] : derivedLists;
  for (const list of [...all, ...derived]) {
    const wanting = syncs.flatMap((name) => sinksWanting(config, name, list));
    if (wanting.length > 0) sinks.set(list, [...new Set(wanting)]);
  }
  const wanted = new Set<ListName>(all.filter((list) => sinks.has(list)));
  if (scope === 'workspace') wanted.add('pigeonholes');
  else {
    for (const list of derived) if (sinks.has(list)) for (const each of madeFrom[list]) wanted.add(each);
    if (wanted.has('questions')) wanted.add('qna-questions');
    if ([...wanted].some((list) => judgedLists.has(list) || perSessionLists.has(list))) wanted.add('sessions');
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

const readingOrder: readonly ListName[] = [
  ...workspaceLists,
  'sessions',
  'attendees',
  'qna-questions',
  ...pigeonholeLists.filter((list) => !['sessions', 'attendees', 'qna-questions'].includes(list)),
];

/** Returns the names of the sync's sinks that want a list. */
export function sinksWanting(config: Config, syncName: string, list: SentListName): string[] {
  const sync = config.syncs[syncName]!;
  if (sync.lists !== 'auto' && !sync.lists.includes(list)) return [];
  return sync.sinks.filter((name) => usesList(config.sinks[name]!, list));
}

/**
 * Fields that never enter the ledger, whatever the configuration says. An event's passcode is a credential: anyone who
 * has it can join the event, and no sink needs it.
 */
const credentials = { pigeonholes: ['passcode'] } as const satisfies Partial<Record<SentListName, readonly string[]>>;

function unitedDrop(config: Config, syncs: readonly string[]): Partial<Record<SentListName, readonly string[]>> {
  const drop: Partial<Record<SentListName, readonly string[]>> = { ...credentials };
  for (const name of syncs) {
    for (const [list, fields] of Object.entries(config.syncs[name]!.drop) as [SentListName, readonly string[]][]) {
      drop[list] = [...new Set([...(drop[list] ?? []), ...fields])];
    }
  }
  return drop;
}

/** Returns the strictest combination of several syncs' limits. */
export function strictest(all: readonly DeletionLimits[]): DeletionLimits {
  return {
    settleMs: Math.max(...all.map(({ settleMs }) => settleMs)),
    confirmMs: Math.max(...all.map(({ confirmMs }) => confirmMs)),
    holdAbove: {
      share: Math.min(...all.map(({ holdAbove }) => holdAbove.share)),
      items: Math.min(...all.map(({ holdAbove }) => holdAbove.items)),
    },
  };
}

/** Returns the streams of a plan: one per list, or one per session for lists that the service offers only per session. */
export function streamsOf(plan: ReadingPlan, sessionIds: readonly number[]): StreamName[] {
  return plan.lists.flatMap((list) =>
    perSessionLists.has(list) ? sessionIds.map((sessionId) => ({ list, sessionId })) : [{ list, sessionId: 0 }],
  );
}

export function syncsOf(config: Config, workspace: string): string[] {
  return Object.keys(config.syncs).filter((sync) => config.syncs[sync]!.workspace === workspace);
}
