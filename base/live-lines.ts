import { questionLists } from './lists.js';

/*
 * The lines of a live view: one for each change, and one for the two changes of a question that is in both lists of questions.
 * Beside a line stands what each sink has of it. The page and the command line share it.
 */

export interface LiveChangeId {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sequence: number;
  readonly list: string;
  readonly key: string;
  readonly kind: string;
  readonly foundAt: string;
}

/** A change at a sink. */
export interface SinkNews {
  readonly sink: string;
  /** `has`: it accepted the change; `waits`: it will be sent; `not`: withheld or superseded; `refused`: a dead letter. */
  readonly state: 'has' | 'waits' | 'not' | 'refused';
  /** Why it waits, was withheld or was refused, in words; null: no reason is known, or it was accepted. */
  readonly words: string | null;
}

export interface DeliveryNews {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sequence: number;
  readonly sinks: readonly SinkNews[];
}

export interface LiveLine<Change extends LiveChangeId> {
  /** The change with the anonymity flag, if the line has two changes of a question. */
  readonly change: Change;
  /** Names of all changes of the line: one or two. */
  readonly names: readonly string[];
  /** By the name of the change. */
  readonly news: ReadonlyMap<string, readonly SinkNews[]>;
}

/** Maximum time between an edit in one list of questions and the same edit in the other. */
const twinWithinMs = 2 * 60_000;

/** Name of a change among those of all pigeonholes. */
export function nameOfChange({
  workspace,
  pigeonholeId,
  sequence,
}: Pick<LiveChangeId, 'workspace' | 'pigeonholeId' | 'sequence'>): string {
  return `${workspace}/${pigeonholeId} ${sequence}`;
}

/**
 * Adds changes to the lines, newest first. The second change of a question that appears in both lists joins the line of the
 * first. Pure.
 * @param found oldest first
 * @param limit maximum number of lines
 */
export function withChanges<Change extends LiveChangeId>(
  lines: readonly LiveLine<Change>[],
  found: readonly Change[],
  limit: number,
): readonly LiveLine<Change>[] {
  const next = [...lines];
  for (const change of found) {
    const at = questionLists.has(change.list) ? next.findIndex((line) => isTwin(line, change)) : -1;
    if (at === -1) {
      next.unshift({ change, names: [nameOfChange(change)], news: new Map() });
      continue;
    }
    const line = next[at]!;
    const shown = change.list === 'qna-questions' ? change : line.change;
    next[at] = { ...line, change: shown, names: [...line.names, nameOfChange(change)] };
  }
  return next.slice(0, limit);
}

function isTwin<Change extends LiveChangeId>({ change, names }: LiveLine<Change>, other: Change): boolean {
  return (
    names.length === 1 &&
    change.key === other.key &&
    change.kind === other.kind &&
    change.list !== other.list &&
    questionLists.has(change.list) &&
    change.workspace === other.workspace &&
    change.pigeonholeId === other.pigeonholeId &&
    (change.kind === 'created' || Math.abs(Date.parse(change.foundAt) - Date.parse(other.foundAt)) <= twinWithinMs)
  );
}

/** Adds what sinks have of changes to their lines; changes without a line are left out. Pure. */
export function withDeliveries<Change extends LiveChangeId>(
  lines: readonly LiveLine<Change>[],
  found: readonly DeliveryNews[],
): readonly LiveLine<Change>[] {
  const byName = new Map(found.map((each) => [nameOfChange(each), each.sinks]));
  return lines.map((line) => {
    const own = line.names.filter((name) => byName.has(name));
    if (own.length === 0) return line;
    return { ...line, news: new Map([...line.news, ...own.map((name) => [name, byName.get(name)!] as const)]) };
  });
}

const ranks: readonly SinkNews['state'][] = ['refused', 'waits', 'has', 'not'];

/**
 * Returns what each sink has of a line, by name. A sink that receives both changes of a question counts once, with the state
 * that matters most. Pure.
 */
export function sinksOf<Change extends LiveChangeId>({ news }: Pick<LiveLine<Change>, 'news'>): SinkNews[] {
  const bySink = new Map<string, SinkNews>();
  for (const each of [...news.values()].flat()) {
    const known = bySink.get(each.sink);
    if (known === undefined || ranks.indexOf(each.state) < ranks.indexOf(known.state)) bySink.set(each.sink, each);
  }
  return [...bySink.values()].toSorted((a, b) => (a.sink < b.sink ? -1 : 1));
}

/** Returns the sinks in words: `hooks has it; crm waits: the destination is busy; archive: consent refused`. Pure. */
export function sinksInWords(sinks: readonly SinkNews[]): string {
  return sinks
    .map(({ sink, state, words }) => {
      const why = words === null ? '' : `: ${words}`;
      if (state === 'has') return `${sink} has it`;
      if (state === 'waits') return `${sink} waits${why}`;
      if (state === 'refused') return `${sink} refused it${why}`;
      return `${sink} does not receive it${why}`;
    })
    .join('; ');
}
