import type { Provisioned } from './provisioned-objects.js';
import { isNamesake, type Looks, looksLike, type Shown } from './matching.js';

/**
 * How an object of the file stands.
 * - `create` nothing shows that it exists: it is sent
 * - `exists` the ledger knows under which id, and the service shows it
 * - `claim` it exists, and the ledger is to note it: the look-up of a lost answer has found it, or a person said so
 * - `unknown` it was sent, the answer was lost, and it is too early to look
 * - `undecided` it may be one of those that exist: a person has to say
 * - `gone` the ledger knows its id, and the service does not
 * - `held` it waits for its pigeonhole
 * - `impossible` what a person said of it cannot be
 */
export type Standing =
  | { readonly state: 'create'; readonly knownBefore: readonly number[] }
  | { readonly state: 'exists'; readonly id: number }
  | { readonly state: 'claim'; readonly id: number; readonly because: 'found' | 'asked' }
  | { readonly state: 'unknown'; readonly lookUpInMs: number }
  | { readonly state: 'undecided'; readonly candidates: readonly number[] }
  | { readonly state: 'gone'; readonly id: number }
  | { readonly state: 'held' }
  | { readonly state: 'impossible'; readonly problem: string };

/** What a person has said of objects, by their names in the file. */
export interface Decisions {
  /** It is the existing one of this id. */
  readonly use: Readonly<Record<string, number>>;
  /** It is none of those that exist, and is to be made anew where it is gone. */
  readonly create: readonly string[];
}

export interface Sibling {
  readonly key: string;
  readonly looks: Looks;
  /** What the ledger knows of it in this pigeonhole. */
  readonly known: Provisioned | undefined;
}

export interface Surroundings {
  /** What the service shows beside it: all of the list, or, of a pigeonhole that is known, that one alone. */
  readonly shown: readonly Shown[];
  /** Objects of event files that exist: `<event>/<object>` by id. */
  readonly claimed: ReadonlyMap<number, string>;
  readonly event: string;
  readonly decisions: Decisions;
  /** No sooner is a lost answer looked up. */
  readonly lookUpAfterMs: number;
}

/**
 * How the objects of one list stand, by key: the pigeonhole alone, or all sessions. Those whose answer was lost are
 * judged first, since what they are found to be is no look-alike of the others any more. Pure.
 */
export function judgeStandings(siblings: readonly Sibling[], around: Surroundings): Map<string, Standing> {
  const standings = new Map<string, Standing>();
  const taken = new Set(around.claimed.keys());
  const due = siblings.filter((sibling) => isLost(sibling) && sibling.known.sentMsAgo >= around.lookUpAfterMs);
  const isWanted = (shown: Shown, but: Sibling): boolean =>
    due.some((other) => other !== but && isTraceOf(other, shown));
  for (const sibling of due) {
    const standing = settle(sibling, around, taken, (shown) => isWanted(shown, sibling));
    if (standing.state === 'claim') taken.add(standing.id);
    standings.set(sibling.key, standing);
  }
  const waiting = siblings.filter((sibling) => isLost(sibling) && !due.includes(sibling));
  for (const sibling of siblings) {
    if (standings.has(sibling.key)) continue;
    // a twin in the file of one that may or may not have been made: whatever is found could be either
    const lost = waiting.find((other) => other === sibling || isTwin(other, sibling));
    const isOpen = sibling.known?.state !== 'made' && around.decisions.use[sibling.key] === undefined;
    standings.set(
      sibling.key,
      lost !== undefined && isOpen
        ? { state: 'unknown', lookUpInMs: Math.ceil(around.lookUpAfterMs - lost.known!.sentMsAgo) }
        : settle(sibling, around, taken, (shown) => isWanted(shown, sibling)),
    );
  }
  return standings;
}

function isLost(sibling: Sibling): sibling is Sibling & { known: Provisioned } {
  return sibling.known?.state === 'sending';
}

/** Two objects of a file that nothing tells apart at the service. Pure. */
export function isTwin(one: Pick<Sibling, 'looks'>, other: Pick<Sibling, 'looks'>): boolean {
  return looksLike(one.looks, { id: 0, ...other.looks });
}

/** Whether this can be what a request made whose answer was lost. */
function isTraceOf({ known }: Sibling, shown: Shown): boolean {
  return looksLike(known!.sent, shown) && !known!.knownBefore.includes(shown.id);
}

function settle(
  sibling: Sibling,
  { shown, claimed, event, decisions }: Surroundings,
  taken: ReadonlySet<number>,
  isWantedElsewhere: (shown: Shown) => boolean,
): Standing {
  const { key, looks, known } = sibling;
  const own = `${event}/${key}`;
  const asked = decisions.use[key];
  if (asked !== undefined && known?.remoteId !== asked) {
    const owner = claimed.get(asked);
    if (owner !== undefined && owner !== own) return { state: 'impossible', problem: `${asked} is ${owner} already` };
    if (shown.every(({ id }) => id !== asked))
      return { state: 'impossible', problem: `the service shows none with id ${asked}` };
    return { state: 'claim', id: asked, because: 'asked' };
  }
  const create = {
    state: 'create',
    knownBefore: shown.filter((each) => isNamesake(looks, each)).map(({ id }) => id),
  } as const;
  const isNew = decisions.create.includes(key);
  if (known?.remoteId != null) {
    if (shown.some(({ id }) => id === known.remoteId)) return { state: 'exists', id: known.remoteId };
    return isNew ? create : { state: 'gone', id: known.remoteId };
  }
  const free = shown.filter((each) => !taken.has(each.id) && !isWantedElsewhere(each));
  const undecided = (candidates: readonly Shown[]): Standing =>
    candidates.length === 0 || isNew ? create : { state: 'undecided', candidates: candidates.map(({ id }) => id) };
  if (!isLost(sibling)) return undecided(free.filter((each) => looksLike(looks, each)));
  const traces = shown.filter((each) => !taken.has(each.id) && isTraceOf(sibling, each));
  const [trace, another] = traces;
  if (trace !== undefined && another === undefined) return { state: 'claim', id: trace.id, because: 'found' };
  if (trace !== undefined) return undecided(traces);
  // Should the service have changed a date or a type, it is at least a namesake that was not there before.
  return undecided(
    free.filter((each) => isNamesake(sibling.known.sent, each) && !sibling.known.knownBefore.includes(each.id)),
  );
}
