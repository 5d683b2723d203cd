import type { Config, Intervals } from '../config/config.js';
import type { DeletionLimits } from '../ledger/missing-evidence.js';
import type { StreamName } from '../ledger/streams.js';
import { judgedLists } from '../ledger/visibility.js';
import { type ListName, pigeonholeLists, workspaceLists } from '../pigeonhole/lists.js';
import { perSessionLists, shortest } from '../reading/cadence.js';
import { derivedLists, madeFrom, type SentListName } from './derived-lists.js';
import { joinsOf, usesList } from './sink-lists.js';

/** What is read of a pigeonhole, united over all syncs that name it. */
export interface ReadingPlan {
  /** In the order in which they are read. */
  readonly lists: readonly ListName[];
  readonly everyMs: Intervals;
  readonly drop: Readonly<Partial<Record<SentListName, readonly string[]>>>;
  /** The strictest of all syncs. */
  readonly deletions: DeletionLimits;
  /** Sinks by list, derived ones included: those that want its changes. */
  readonly sinks: ReadonlyMap<SentListName, readonly string[]>;
}

/** Lists whose items belong to a person, so that consent is a matter of the attendee's record. */
const byAttendees: ReadonlySet<ListName> = new Set(
  pigeonholeLists.filter((list) => list !== 'sessions' && list !== 'attendees'),
);

/**
 * The plan for a pigeonhole, or (`workspace`) for a workspace's own lists. Reads what some sink wants, and what that
 * needs: sessions and flagged questions for anonymity, attendees for consent, what its mapping looks at. These come first, so that who may be
 * named is known as early as can be.
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

/** The sinks of a sync that want a list. */
export function sinksWanting(config: Config, syncName: string, list: SentListName): string[] {
  const sync = config.syncs[syncName]!;
  if (sync.lists !== 'auto' && !sync.lists.includes(list)) return [];
  return sync.sinks.filter((name) => usesList(config.sinks[name]!, list));
}

/**
 * Fields that never enter the ledger, whatever a configuration says. With the passcode of an event anybody comes in: it is
 * a credential, and no destination, page or backup has a use for it.
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

/** Of the limits of several syncs. */
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

/** The streams of a plan: one a list, or one a session for lists that can only be read so. */
export function streamsOf(plan: ReadingPlan, sessionIds: readonly number[]): StreamName[] {
  return plan.lists.flatMap((list) =>
    perSessionLists.has(list) ? sessionIds.map((sessionId) => ({ list, sessionId })) : [{ list, sessionId: 0 }],
  );
}

export function syncsOf(config: Config, workspace: string): string[] {
  return Object.keys(config.syncs).filter((sync) => config.syncs[sync]!.workspace === workspace);
}
