import { instantMs } from '../../base/instant.js';
import type { Provisioned } from './create-object.js';
import type { ListRef } from '../../pigeonhole/lists.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { walkPages } from '../../pigeonhole/client.js';
import type { Collaborators } from '../../cycles/collaborators.js';

/** A pigeonhole or a session as the service shows it. */
export interface Shown {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** The fields that identify an object whose id is unknown. */
export type Looks = Readonly<Record<string, unknown>>;

const identifyingFields = {
  pigeonhole: ['name', 'startDate', 'endDate'],
  session: ['name', 'type', 'startDate'],
} as const;

/** Returns the fields of a request by which its object can be looked up. Pure. */
export function looksOf(kind: 'pigeonhole' | 'session', fields: Readonly<Record<string, unknown>>): Looks {
  return Object.fromEntries(identifyingFields[kind].map((field) => [field, fields[field] ?? null]));
}

/** Whether the service's object equals the sent one in its identifying fields. Pure. */
export function looksLike(looks: Looks, shown: Shown): boolean {
  return Object.entries(looks).every(([field, value]) => isSame(value, shown[field]));
}

/**
 * Whether a person may take the service's object for the one of the file: names that differ at most
 * in case, blanks and punctuation, the same type, and for pigeonholes a common day, for sessions the same start. Pure.
 */
export function isSimilar(looks: Looks, shown: Shown): boolean {
  if (foldName(looks['name']) !== foldName(shown['name'])) return false;
  if ('type' in looks) return isSame(looks['type'], shown['type']) && isSame(looks['startDate'], shown['startDate']);
  const [start, end, shownStart, shownEnd] = [looks, shown].flatMap(({ startDate, endDate }) => [
    dayOf(startDate),
    dayOf(endDate ?? startDate),
  ]) as [string, string, string, string];
  return start <= shownEnd && shownStart <= end;
}

function dayOf(value: unknown): string {
  return String(plainValue(value)).slice(0, 10);
}

/** Reduces a name to its letters and digits; a name without any stays as it is. */
function foldName(value: unknown): string {
  const text = foldText(value).normalize('NFKC');
  const folded = text.replaceAll(/[^\p{L}\p{N}]/gu, '');
  return folded === '' ? text : folded;
}

/** Whether both have the same name. Pure. */
export function isNamesake(looks: Looks, shown: Shown): boolean {
  return foldText(looks['name']) === foldText(shown['name']);
}

/**
 * Whether two values of a field are equal, except for differences the service may introduce: white space, another
 * offset of the same instant, null for an empty text. Pure.
 */
export function isSame(sent: unknown, shown: unknown): boolean {
  const [one, other] = [plainValue(sent), plainValue(shown)];
  return one === other || (instantOf(one) !== undefined && instantOf(one) === instantOf(other));
}

function plainValue(value: unknown): unknown {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

function instantOf(value: unknown): number | undefined {
  return typeof value === 'string' ? instantMs(value) : undefined;
}

function foldText(value: unknown): string {
  return String(plainValue(value)).toLowerCase();
}

/** A field whose value in the service differs from the file. */
interface Difference {
  readonly field: string;
  readonly inFile: unknown;
  readonly atService: unknown;
}

/**
 * Returns the fields that differ between the file and the service. A field that the service does not return is skipped.
 * Pure.
 */
export function findDifferences(fields: Readonly<Record<string, unknown>>, shown: Shown): Difference[] {
  return Object.entries(fields)
    .filter(([field, value]) => shown[field] !== undefined && !isSame(value, shown[field]))
    .map(([field, value]) => ({ field, inFile: value, atService: shown[field] }));
}

/** Priority of these requests: an operator waits for the result, as for an import. */
export const priority = 'import';

type Dependencies = Pick<Collaborators, 'clients' | 'config' | 'gate' | 'stopping'>;

/**
 * Returns all items of a list that have an ID.
 * @param twice walks the list twice and returns the items of both walks. Use it before an item counts as missing: one
 * walk can miss an item that moves between pages, and the service may occasionally return an empty page by mistake
 * @throws {PermitRefusal} or {ApiError} as `ServiceGate.page`
 */
export async function listAll(
  deps: Dependencies,
  workspace: string,
  list: ListRef,
  { twice }: { readonly twice: boolean },
): Promise<Shown[]> {
  const shown = new Map<number, Shown>();
  const walk = async (): Promise<void> => {
    const permit = { workspace, priority } as const;
    for await (const page of walkPages((ref, options) => deps.gate.page(deps, permit, ref, options ?? {}), list, {
      signal: deps.stopping,
    })) {
      for (const item of page.items) if (isShown(item)) shown.set(item.id, item);
    }
  };
  await walk();
  if (twice) await walk();
  return [...shown.values()];
}

/**
 * Returns a pigeonhole; undefined if the service itself reports that it does not exist.
 * @throws {PermitRefusal} or {ApiError} as `ServiceGate.pigeonhole`
 */
export async function findOne(deps: Dependencies, workspace: string, pigeonholeId: number): Promise<Shown | undefined> {
  try {
    const found = await deps.gate.pigeonhole(deps, { workspace, priority }, pigeonholeId, deps.stopping);
    return { ...found };
  } catch (error) {
    const isMissing = error instanceof ApiError && ['pigeonholeNotFound', 'notFound'].includes(error.kind);
    if (isMissing) return undefined;
    throw error;
  }
}

function isShown(item: object): item is Shown {
  return 'id' in item && typeof item.id === 'number';
}

/**
 * The state of an object of the file.
 * - `create` nothing shows that it exists: send it
 * - `exists` the ledger knows its id, and the service has it
 * - `claim` it exists, and the ledger has to record it: a look-up after a lost answer found it, or the operator named it;
 *   `insteadOf`: the object of the event under which it is recorded until now, and which the file no longer has
 * - `unknown` it was sent, the answer was lost, and it is too early for a look-up
 * - `undecided` it may be one of several existing ones: the operator has to decide
 * - `gone` the ledger knows its id, but the service does not have it
 * - `held` it waits for its pigeonhole
 * - `impossible` the operator's decision about it is invalid
 */
export type ObjectState =
  | { readonly state: 'create'; readonly knownBefore: readonly number[] }
  | { readonly state: 'exists'; readonly id: number }
  | {
      readonly state: 'claim';
      readonly id: number;
      readonly because: 'found' | 'asked';
      readonly insteadOf?: string;
    }
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
 * Decides the states of the objects of one list (the pigeonhole, or all sessions), by key. Objects with a lost answer
 * are decided first, because an existing object that a look-up assigns to one of them is no candidate for the others.
 * Pure.
 */
export function decideObjectStates(siblings: readonly Sibling[], around: Surroundings): Map<string, ObjectState> {
  const objectStates = new Map<string, ObjectState>();
  const own = new Set(siblings.map(({ key }) => `${around.event}/${key}`));
  const taken: Taken = {
    byAny: new Set(around.claimed.keys()),
    bySiblings: new Set([...around.claimed].flatMap(([id, owner]) => (own.has(owner) ? [id] : []))),
  };
  const due = siblings.filter((sibling) => isLost(sibling) && sibling.known.sentMsAgo >= around.lookUpAfterMs);
  const mayBelongToAnother = (shown: Shown, sibling: Sibling): boolean =>
    due.some((other) => other !== sibling && isTraceOf(other, shown));
  for (const sibling of due) {
    const objectState = settle(sibling, around, taken, (shown) => mayBelongToAnother(shown, sibling));
    if (objectState.state === 'claim') for (const ids of Object.values(taken)) ids.add(objectState.id);
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

/** Existing objects that belong to an object of an event file, by id. */
interface Taken {
  /** Objects of any event file: the result of a lost request is none of these. */
  readonly byAny: Set<number>;
  /** Objects of this file. Those of other files are similar objects like those that a person has created. */
  readonly bySiblings: Set<number>;
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
  taken: Taken,
  mayBelongToAnother: (shown: Shown) => boolean,
): ObjectState {
  const { key, looks, known } = sibling;
  const own = `${event}/${key}`;
  const asked = decisions.use[key];
  if (asked !== undefined && known?.remoteId !== asked) {
    const owner = claimed.get(asked);
    const isLeft = owner?.startsWith(`${event}/`) === true && !taken.bySiblings.has(asked);
    if (owner !== undefined && owner !== own && !isLeft)
      return { state: 'impossible', problem: `${asked} is already recorded for ${owner}` };
    if (shown.every(({ id }) => id !== asked))
      return { state: 'impossible', problem: `the service shows none with id ${asked}` };
    const insteadOf = isLeft ? { insteadOf: owner.slice(event.length + 1) } : {};
    return { state: 'claim', id: asked, because: 'asked', ...insteadOf };
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
  const freeOf = (ids: ReadonlySet<number>): Shown[] =>
    shown.filter((each) => !ids.has(each.id) && !mayBelongToAnother(each));
  const undecided = (candidates: readonly Shown[]): ObjectState =>
    candidates.length === 0 || isNew ? create : { state: 'undecided', candidates: candidates.map(({ id }) => id) };
  if (!isLost(sibling)) return undecided(freeOf(taken.bySiblings).filter((each) => isSimilar(looks, each)));
  const traces = shown.filter((each) => !taken.byAny.has(each.id) && isTraceOf(sibling, each));
  const [trace, another] = traces;
  if (trace !== undefined && another === undefined) return { state: 'claim', id: trace.id, because: 'found' };
  if (trace !== undefined) return undecided(traces);
  // The service may have changed a date or a type of the object, but then it still has the same name and is new.
  return undecided(
    freeOf(taken.byAny).filter(
      (each) => isNamesake(sibling.known.sent, each) && !sibling.known.knownBefore.includes(each.id),
    ),
  );
}
