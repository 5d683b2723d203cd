import { listNames, type ListName, pigeonholeLists } from '../../base/lists.js';
import { causeText, reasonText } from '../../sinks/reason-words.js';
import type { OutcomeCount } from './count-destinations.js';
import type { SourceClass, StreamRead } from './count-source.js';
import { parityDifferences } from './statement-sentences.js';
import type {
  Destination,
  DestinationList,
  Difference,
  InterruptionCause,
  OpenPoint,
  Statement,
  StatementInterruption,
  StatementList,
  Parity,
  StatementReason,
} from './statement.js';
import {
  type DifferenceReason,
  differenceWords,
  interruptionWords,
  listLabels,
  unsentWords,
  upToDateReasons,
  withheldWords,
} from './statement-words.js';

/** The counts of one list, as the ledger returns them. */
export interface CountedList {
  readonly list: ListName;
  readonly reads: readonly StreamRead[];
  readonly counts: readonly {
    readonly sessionId: number | null;
    readonly class: SourceClass;
    readonly items: number;
  }[];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Classes of items that the event service showed. */
const shownClasses: ReadonlySet<SourceClass> = new Set(['both', 'erased', 'unknown', 'removed-since']);

/**
 * Compares a list in the event service with the ledger. `shown` is `held` plus the differences. Pure.
 * @param hasErasures whether people were erased in the workspace
 */
export function judgeList(
  { list, reads, counts }: CountedList,
  { hasErasures }: { readonly hasErasures: boolean },
): StatementList {
  const differences = new Map<DifferenceReason, number>();
  const add = (reason: DifferenceReason, items: number): void => {
    if (items !== 0) differences.set(reason, (differences.get(reason) ?? 0) + items);
  };
  const sessions = new Map<number | null, { shown: number; held: number }>();
  for (const { sessionId, class: found, items } of counts) {
    const session = sessions.get(sessionId) ?? { shown: 0, held: 0 };
    const isShown = shownClasses.has(found);
    if (isShown) session.shown += items;
    if (found === 'both' || !isShown) session.held += items;
    sessions.set(sessionId, session);
    if (found === 'both') continue;
    // The ledger does not store what erased people do afterwards, so such items have no row.
    if (found === 'unknown') add(hasErasures ? 'erased' : 'unexplained', items);
    else add(found, isShown ? items : -items);
  }
  const open = reads.filter(({ isGone }) => !isGone);
  const unusable = sum(open.map(({ isRead, setAside }) => (isRead ? setAside : 0)));
  add('unusable', unusable);
  const rows = [...sessions].toSorted(([a], [b]) => (a ?? -1) - (b ?? -1));
  const isRead = open.every((read) => read.isRead);
  const instants = (pick: (read: StreamRead) => Date | null): number[] =>
    open.flatMap((read) => pick(read)?.getTime() ?? []);
  return {
    list,
    label: listLabels[list],
    shown: sum(rows.map(([, { shown }]) => shown)) + unusable,
    held: sum(rows.map(([, { held }]) => held)),
    differences: [...differences].map(([reason, items]): Difference => {
      const { text, todo } = differenceWords[reason];
      return { reason, text, items, open: todo !== null };
    }),
    readFrom: isRead && open.length > 0 ? isoOf(Math.min(...instants(({ from }) => from))) : null,
    readUntil: isRead && open.length > 0 ? isoOf(Math.max(...instants(({ until }) => until))) : null,
    sessions:
      // A session is no item of a session.
      list !== 'sessions' && rows.some(([session]) => session !== null)
        ? [
            ...rows.map(([session, row]) => ({ session, ...row })),
            ...(unusable === 0 ? [] : [{ session: null, shown: unusable, held: 0 }]),
          ]
        : [],
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns the order in which statements show lists. */
export function byList({ list: a }: { readonly list: string }, { list: b }: { readonly list: string }): number {
  return listNames.indexOf(a as ListName) - listNames.indexOf(b as ListName);
}

/** A sink as far as a statement needs it. */
export interface CountedSink {
  readonly sinkId: number;
  readonly name: string;
  readonly type: string;
  readonly state: Destination['state'];
  readonly lists: readonly ListName[];
  readonly parity: Parity | null;
}

/** Adds up what became of the items of each list at a sink. Pure. @param counts by list */
export function judgeDestination(
  { sinkId, name, type, state, lists, parity }: CountedSink,
  counts: ReadonlyMap<string, readonly OutcomeCount[]>,
): Destination {
  return {
    name,
    type,
    state,
    lists: lists
      .map((list): DestinationList => {
        const own = (counts.get(list) ?? []).filter((row) => row.sinkId === sinkId).map(upToDate);
        const present = own.filter(({ isPresent }) => isPresent).map((row) => observed(row, state));
        const removed = own.filter(({ isPresent }) => !isPresent);
        return {
          list,
          label: listLabels[list],
          items: sum(present.map(({ items }) => items)),
          ...outcomesOf(present),
          reasons: present.flatMap((row) => reasonOf(row) ?? []).toSorted((a, b) => b.items - a.items),
          removed: { items: sum(removed.map(({ items }) => items)), ...outcomesOf(removed) },
        };
      })
      .toSorted(byList),
    parity,
  };
}

/** An item that the destination has already counts as delivered, although its latest version was not sent. */
function upToDate(row: OutcomeCount): OutcomeCount {
  return row.isPresent && row.outcome === 'withheld' && upToDateReasons.has(row.reason ?? '')
    ? { ...row, outcome: 'delivered', reason: null }
    : row;
}

/** A sink that only observes sends nothing, so what it has not sent does not wait. */
function observed(row: OutcomeCount, state: Destination['state']): OutcomeCount {
  return row.outcome === 'waiting' && state === 'observing' ? { ...row, outcome: 'unsent', reason: 'observe' } : row;
}

function outcomesOf(
  rows: readonly OutcomeCount[],
): Pick<DestinationList, 'delivered' | 'withheld' | 'refused' | 'waiting' | 'unsent'> {
  const of = (outcome: OutcomeCount['outcome']): number =>
    sum(rows.filter((row) => row.outcome === outcome).map(({ items }) => items));
  return {
    delivered: of('delivered'),
    withheld: of('withheld'),
    refused: of('refused'),
    waiting: of('waiting'),
    unsent: of('unsent'),
  };
}

function reasonOf({ outcome, reason: code, items }: OutcomeCount): StatementReason | null {
  const reason = code ?? '';
  switch (outcome) {
    case 'delivered':
      return null;
    case 'withheld':
      return {
        outcome,
        reason,
        text: withheldWords[reason] ?? reasonText(reason),
        items,
        open: false,
      };
    case 'refused':
      return { outcome, reason, text: causeText(reason).meaning, items, open: true };
    case 'waiting':
      return { outcome, reason: 'waiting', text: 'not sent yet', items, open: true };
    case 'unsent':
      return { outcome, reason, text: unsentWords[reason as keyof typeof unsentWords], items, open: false };
  }
}

/** An interruption of the reading, as the ledger stores it. */
export interface Interruption {
  readonly cause: InterruptionCause;
  readonly since: Date;
  readonly until: Date | null;
}

/** Returns the interruptions between two instants, cut to them, in the order of their start. Pure. */
export function judgeInterruptions(
  interruptions: readonly Interruption[],
  { from, until }: { readonly from: Date; readonly until: Date },
): StatementInterruption[] {
  return interruptions
    .filter((each) => (each.until ?? until) > from && each.since < until)
    .toSorted((a, b) => a.since.getTime() - b.since.getTime())
    .map(({ cause, ...each }) => {
      const since = new Date(Math.max(each.since.getTime(), from.getTime()));
      const end = new Date(Math.min((each.until ?? until).getTime(), until.getTime()));
      return {
        cause,
        text: interruptionWords[cause],
        since: since.toISOString(),
        until: each.until === null ? null : end.toISOString(),
        seconds: Math.round((end.getTime() - since.getTime()) / 1000),
      };
    });
}

/** Returns the seconds in which at least one of the interruptions lasted. Pure. @param until end of those that last */
export function interruptedSeconds(
  interruptions: readonly Pick<StatementInterruption, 'since' | 'until'>[],
  until: Date,
): number {
  let ms = 0;
  let reached = 0;
  for (const each of interruptions.toSorted((a, b) => (a.since < b.since ? -1 : 1))) {
    const since = Math.max(Date.parse(each.since), reached);
    const end = each.until === null ? until.getTime() : Date.parse(each.until);
    ms += Math.max(0, end - since);
    reached = Math.max(reached, end);
  }
  return Math.round(ms / 1000);
}

/** Whether every list was read completely after the last interruption. Pure. */
export function isReadAfter(
  lists: readonly Pick<StatementList, 'readFrom' | 'differences'>[],
  interruptions: readonly Pick<StatementInterruption, 'until'>[],
): boolean {
  const read = lists.filter((list) => !isNotNeeded(list));
  if (read.some(({ readFrom }) => readFrom === null) || interruptions.some(({ until }) => until === null)) return false;
  const last = interruptions
    .map(({ until }) => until!)
    .toSorted()
    .at(-1);
  return last === undefined || read.every(({ readFrom }) => readFrom! >= last);
}

function isNotNeeded({ readFrom, differences }: Pick<StatementList, 'readFrom' | 'differences'>): boolean {
  return readFrom === null && !differences.some(({ reason }) => reason === 'not-read');
}

/** Returns everything that a person has to act on or wait for. Pure. */
export function openPoints({
  source,
  destinations,
  notRead,
}: Pick<Statement, 'destinations'> & {
  readonly source: Pick<Statement['source'], 'lists'>;
  /** Lists that could not be read again, with the reason in words. */
  readonly notRead: readonly { readonly list: ListName; readonly why: string }[];
}): OpenPoint[] {
  return [
    ...notRead.map(({ list, why }) => ({
      where: `${listLabels[list]}, in the event service`,
      text: `not read again: ${why}`,
      items: null,
      todo: differenceWords['not-read'].todo,
    })),
    ...source.lists.flatMap(({ label, differences }) =>
      differences
        .filter(({ open, reason }) => open && reason !== 'not-read')
        .map(({ reason, text, items }) => ({
          where: `${label}, in the event service`,
          text,
          items: Math.abs(items),
          todo: differenceWords[reason as DifferenceReason].todo!,
        })),
    ),
    ...destinations.flatMap(({ name, state, lists, parity }) => [
      ...parityDifferences(parity).map(({ words, items }) => ({
        where: name,
        text: words,
        items,
        todo: `Run "pigeonpost audit ${name} --repair", which shows its plan first.`,
      })),
      ...lists.flatMap(({ label, reasons, removed }) => [
        ...reasons
          .filter(({ open }) => open)
          .map(({ outcome, reason, text, items }) => ({
            where: `${label}, at ${name}`,
            text,
            items,
            todo: outcome === 'refused' ? refusedTodo(name, reason) : waitingTodo(name, state),
          })),
        ...(removed.refused === 0
          ? []
          : [
              {
                where: `${label}, at ${name}`,
                text: 'deleted in the event service, but the destination refused to remove them',
                items: removed.refused,
                todo: `Run "pigeonpost dead-letters list --sink ${name}".`,
              },
            ]),
        ...(removed.waiting === 0 || state === 'observing'
          ? []
          : [
              {
                where: `${label}, at ${name}`,
                text: 'deleted in the event service, but not removed from the destination yet',
                items: removed.waiting,
                todo: waitingTodo(name, state),
              },
            ]),
      ]),
    ]),
  ];
}

function refusedTodo(name: string, cause: string): string {
  const { help } = causeText(cause);
  return `${help[0]!.toUpperCase()}${help.slice(1)}. "pigeonpost dead-letters list --sink ${name}" lists them.`;
}

function waitingTodo(name: string, state: Destination['state']): string {
  if (state === 'paused') return `Run "pigeonpost resume sink:${name}".`;
  if (state === 'failing') return `Run "pigeonpost status" to see why ${name} accepts nothing.`;
  return 'Make another statement in a few minutes.';
}

/** The lists of the event service that belong to one event. */
export const sourceLists: readonly ListName[] = pigeonholeLists;
