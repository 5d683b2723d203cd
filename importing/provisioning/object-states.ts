import type { Provisioned } from './provisioned-objects.js';
import { isNamesake, type Looks, looksLike, type Shown } from './matching.js';

/**
 * The state of an object of the file.
 * - `create` nothing shows that it exists: send it
 * - `exists` the ledger knows its id, and the service has it
 * - `claim` it exists, and the ledger has to record it: a look-up after a lost answer found it, or the operator named it
 * - `unknown` it was sent, the answer was lost, and it is too early for a look-up
 * - `undecided` it may be one of several existing ones: the operator has to decide
 * - `gone` the ledger knows its id, but the service does not have it
 * - `held` it waits for its pigeonhole
 * - `impossible` the operator's decision about it is invalid
 */
export type ObjectState =
  | { readonly state: 'create'; readonly knownBefore: readonly number[] }
  | { readonly state: 'exists'; readonly id: number }
  | { readonly state: 'claim'; readonly id: number; readonly because: 'found' | 'asked' }
  | { readonly state: 'unknown'; readonly lookUpInMs: number }
  | { readonly state: 'undecided'; readonly candidates: readonly number[] }
  | { readonly state: 'gone'; readonly id: number }
  | { readonly state: 'held' }
  | { readonly state: 'impossible'; readonly problem: string };

/** The operator's decisions about objects, by their names in the file. */
export interface Decisions {
  /** Objects that already exist in the service, with their IDs there. */
  readonly use: Readonly<Record<string, number>>;
  /** Objects to create although similar ones exist, or although they existed and were deleted. */
  readonly create: readonly string[];
}

export interface Sibling {
  readonly key: string;
  readonly looks: Looks;
  /** Its record in the ledger for this pigeonhole. */
  readonly known: Provisioned | undefined;
}

export interface Surroundings {
  /** The service's objects: the whole list, or only the pigeonhole if its id is known. */
  readonly shown: readonly Shown[];
  /** Existing objects that the ledger records for an event file, as `<event>/<object>` by ID. */
  readonly claimed: ReadonlyMap<number, string>;
  readonly event: string;
  readonly decisions: Decisions;
  /** Milliseconds between a request without an answer and the look-up of its object. */
  readonly lookUpAfterMs: number;
}

/**
 * Decides the states of the objects of one list (the pigeonhole, or all sessions), by key. Objects with a lost answer are
 * decided first, because an existing object that a look-up assigns to one of them is no candidate for the others. Pure.
 */
export function decideObjectStates(siblings: readonly Sibling[], around: Surroundings): Map<string, ObjectState> {
  const objectStates = new Map<string, ObjectState>();
  const taken = new Set(around.claimed.keys());
  const due = siblings.filter((sibling) => isLost(sibling) && sibling.known.sentMsAgo >= around.lookUpAfterMs);
  const mayBelongToAnother = (shown: Shown, sibling: Sibling): boolean =>
    due.some((other) => other !== sibling && isTraceOf(other, shown));
  for (const sibling of due) {
    const objectState = settle(sibling, around, taken, (shown) => mayBelongToAnother(shown, sibling));
    if (objectState.state === 'claim') taken.add(objectState.id);
    objectStates.set(sibling.key, objectState);
  }
  const waiting = siblings.filter((sibling) => isLost(sibling) && !due.includes(sibling));
  for (const sibling of siblings) {
    if (objectStates.has(sibling.key)) continue;
    // If the answer about an identical object of the file was lost, a match could be that object or this one.
    const lost = waiting.find((other) => other === sibling || isTwin(other, sibling));
    const isOpen = sibling.known?.state !== 'made' && around.decisions.use[sibling.key] === undefined;
    objectStates.set(
      sibling.key,
      lost !== undefined && isOpen
        ? { state: 'unknown', lookUpInMs: Math.ceil(around.lookUpAfterMs - lost.known!.sentMsAgo) }
        : settle(sibling, around, taken, (shown) => mayBelongToAnother(shown, sibling)),
    );
  }
  return objectStates;
}

function isLost(sibling: Sibling): sibling is Sibling & { known: Provisioned } {
  return sibling.known?.state === 'sending';
}

/** Whether two objects of a file are identical for the service. Pure. */
export function isTwin(one: Pick<Sibling, 'looks'>, other: Pick<Sibling, 'looks'>): boolean {
  return looksLike(one.looks, { id: 0, ...other.looks });
}

/** Whether the service's object can be the result of the sibling's request, whose answer was lost. */
function isTraceOf({ known }: Sibling, shown: Shown): boolean {
  return looksLike(known!.sent, shown) && !known!.knownBefore.includes(shown.id);
}

function settle(
  sibling: Sibling,
  { shown, claimed, event, decisions }: Surroundings,
  taken: ReadonlySet<number>,
  mayBelongToAnother: (shown: Shown) => boolean,
): ObjectState {
  const { key, looks, known } = sibling;
  const own = `${event}/${key}`;
  const asked = decisions.use[key];
  if (asked !== undefined && known?.remoteId !== asked) {
    const owner = claimed.get(asked);
    if (owner !== undefined && owner !== own)
      return { state: 'impossible', problem: `${asked} is already recorded for ${owner}` };
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
  const free = shown.filter((each) => !taken.has(each.id) && !mayBelongToAnother(each));
  const undecided = (candidates: readonly Shown[]): ObjectState =>
    candidates.length === 0 || isNew ? create : { state: 'undecided', candidates: candidates.map(({ id }) => id) };
  if (!isLost(sibling)) return undecided(free.filter((each) => looksLike(looks, each)));
  const traces = shown.filter((each) => !taken.has(each.id) && isTraceOf(sibling, each));
  const [trace, another] = traces;
  if (trace !== undefined && another === undefined) return { state: 'claim', id: trace.id, because: 'found' };
  if (trace !== undefined) return undecided(traces);
  // The service may have changed a date or a type of the object, but then it still has the same name and is new.
  return undecided(
    free.filter((each) => isNamesake(sibling.known.sent, each) && !sibling.known.knownBefore.includes(each.id)),
  );
}
