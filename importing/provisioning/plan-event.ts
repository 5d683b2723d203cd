import type { EventFile, EventObject, PigeonholeFields, SessionFields } from '../../config/event-file.js';
import { dayIn } from '../../base/zoned-instant.js';
import { claimedIds, type Provisioned, provisionedOf, recordedEvent } from './create-object.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { knownSessionTypes, type Subscription } from '../../pigeonhole/wire-types.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import {
  looksOf,
  type Shown,
  listAll,
  findOne,
  type Decisions,
  decideObjectStates,
  type Sibling,
  type ObjectState,
} from './object-states.js';

export interface PlanOptions {
  readonly workspace: string;
  readonly decisions: Decisions;
  /**
   * Milliseconds between a request without an answer and the look-up of its object. After that time the request has
   * ended, and its result is visible.
   */
  readonly lookUpAfterMs: number;
}

/** An object of the file with everything known about it. */
export interface PlannedObject<Fields = PigeonholeFields | SessionFields> {
  readonly kind: 'pigeonhole' | 'session';
  readonly object: EventObject<Fields>;
  readonly objectState: ObjectState;
  readonly known: Provisioned | undefined;
  /** The service's version of it, or all candidates. */
  readonly shown: readonly Shown[];
  /** Existing objects that the ledger records for an event file, as `<event>/<object>` by ID. */
  readonly claimed: ReadonlyMap<number, string>;
}

export interface EventPlan {
  /**
   * The id of the event under which the ledger records it: the file's, or another one whose pigeonhole the operator
   * wants to use, because the id of the file has changed.
   */
  readonly recordedAs: string;
  readonly pigeonhole: PlannedObject<PigeonholeFields>;
  readonly sessions: readonly PlannedObject<SessionFields>[];
  /** The subscription of the new pigeonhole; `id` null: none is sent. */
  readonly subscription: { readonly id: number | null; readonly name: string | null };
  /** Problems that prevent the creation of the event, as lines with their position. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

type Dependencies = Pick<Collaborators, 'clients' | 'config' | 'gate' | 'ledger' | 'stopping'>;

/**
 * Returns what exists of an event and what has to be created, from the ledger and the service. Changes nothing.
 * @throws {PermitRefusal} or {ApiError} of the first request that fails
 */
export async function planEvent(deps: Dependencies, event: EventFile, options: PlanOptions): Promise<EventPlan> {
  const { workspace, decisions } = options;
  const recordedAs = await recordedEvent(deps.ledger, { workspace, event: event.id }, decisions.use['pigeonhole']);
  const known = await provisionedOf(deps.ledger, { workspace, event: recordedAs });
  const pigeonhole = await planPigeonhole(deps, event, options, { recordedAs, known });
  const { objectState } = pigeonhole;
  const chosen =
    objectState.state === 'create'
      ? await planSubscription(deps, event, workspace)
      : { id: null, name: null, problems: [], warnings: [] };
  const parentId = objectState.state === 'exists' || objectState.state === 'claim' ? objectState.id : undefined;
  const sessions =
    parentId === undefined
      ? event.sessions.map((object) => withoutParent(object, objectState))
      : await planSessions(deps, event, options, { pigeonholeId: parentId, recordedAs, known });
  const subscription = { id: chosen.id, name: chosen.name };
  return {
    recordedAs,
    pigeonhole,
    sessions,
    subscription,
    problems: [
      ...chosen.problems,
      ...[pigeonhole, ...sessions].flatMap(problemsOf),
      ...unknownKeys(event, options.decisions),
    ],
    warnings: [
      ...chosen.warnings,
      ...pastWarnings(pigeonhole, deps.ledger.clock.nowMs()),
      ...event.sessions.flatMap(warningsOf),
    ],
  };
}

/** The ledger's records of the event. */
interface Recorded extends Pick<EventPlan, 'recordedAs'> {
  readonly known: ReadonlyMap<string, Provisioned>;
}

async function planPigeonhole(
  deps: Dependencies,
  event: EventFile,
  { workspace, decisions, lookUpAfterMs }: PlanOptions,
  recorded: Recorded,
): Promise<PlannedObject<PigeonholeFields>> {
  const { key, fields } = event.pigeonhole;
  const known = recorded.known.get(key);
  const byId = decisions.use[key] ?? known?.remoteId ?? undefined;
  const isLost = known?.state === 'sending' && known.sentMsAgo < lookUpAfterMs;
  const listed = (): Promise<Shown[]> => listAll(deps, workspace, { list: 'pigeonholes' }, { twice: true });
  const found = byId === undefined ? undefined : await findOne(deps, workspace, byId);
  // If the operator recreates a deleted one, the list shows which others have its name: a look-up must not find those.
  const isRecreated = found === undefined && decisions.use[key] === undefined && decisions.create.includes(key);
  const shown = found !== undefined ? [found] : isLost || (byId !== undefined && !isRecreated) ? [] : await listed();
  const sibling: Sibling = { key, looks: looksOf('pigeonhole', fields), known };
  const claimed = await claimedIds(deps.ledger, workspace, 0);
  const around = { shown, claimed, event: recorded.recordedAs, decisions, lookUpAfterMs };
  const decided = decideObjectStates([sibling], around).get(key)!;
  // The ledger has to record what exists under another id of the event: that is left to do.
  const isRenamed = decided.state === 'exists' && recorded.recordedAs !== event.id;
  const objectState: ObjectState = isRenamed ? { state: 'claim', id: decided.id, because: 'asked' } : decided;
  const there = shownOf(objectState, shown);
  return { kind: 'pigeonhole', object: event.pigeonhole, objectState, known, shown: there, claimed };
}

async function planSessions(
  deps: Dependencies,
  event: EventFile,
  { workspace, decisions, lookUpAfterMs }: PlanOptions,
  { pigeonholeId, recordedAs, known }: Recorded & { readonly pigeonholeId: number },
): Promise<PlannedObject<SessionFields>[]> {
  if (event.sessions.length === 0) return [];
  const siblings = event.sessions.map(({ key, fields }): Sibling => {
    const row = known.get(key);
    // sessions of a deleted pigeonhole are gone with it
    return { key, looks: looksOf('session', fields), known: row?.parentId === pigeonholeId ? row : undefined };
  });
  const twice = siblings.some((sibling) => sibling.known?.remoteId == null);
  const shown = await listAll(deps, workspace, { list: 'sessions', pigeonholeId }, { twice });
  const claimed = await claimedIds(deps.ledger, workspace, pigeonholeId);
  const objectStates = decideObjectStates(siblings, { shown, claimed, event: recordedAs, decisions, lookUpAfterMs });
  return event.sessions.map((object) => {
    const objectState = objectStates.get(object.key)!;
    const there = shownOf(objectState, shown);
    return { kind: 'session', object, objectState, known: known.get(object.key), shown: there, claimed };
  });
}

/** A session whose pigeonhole does not exist yet. */
function withoutParent(object: EventObject<SessionFields>, { state }: ObjectState): PlannedObject<SessionFields> {
  const objectState: ObjectState = state === 'create' ? { state: 'create', knownBefore: [] } : { state: 'held' };
  return { kind: 'session', object, objectState, known: undefined, shown: [], claimed: new Map() };
}

async function planSubscription(
  deps: Dependencies,
  event: EventFile,
  workspace: string,
): Promise<{ id: number | null; name: string | null; problems: string[]; warnings: string[] }> {
  const wanted = event.subscription ?? deps.config.workspaces[workspace]!.subscriptionId ?? null;
  const chosen = chooseSubscription(wanted, await subscriptionsOf(deps, workspace));
  const problemLine = (message: string): string => event.pigeonhole.problemLine('subscription', message);
  if ('problem' in chosen) {
    const source =
      event.subscription === null && wanted !== null ? ` (${wanted} is subscriptionId of pigeonpost.yaml)` : '';
    return { id: null, name: null, problems: [problemLine(chosen.problem + source)], warnings: [] };
  }
  const { endDate } = event.pigeonhole.fields;
  const isOver = chosen.endDate !== null && typeof endDate === 'string' && chosen.endDate.slice(0, 10) < endDate;
  const warnings = isOver
    ? [problemLine(`the subscription ends on ${chosen.endDate.slice(0, 10)}, before the pigeonhole does`)]
    : [];
  return { id: chosen.id, name: chosen.name, problems: [], warnings };
}

/** Returns the subscriptions of a workspace; empty if the service does not support them, as in a Personal workspace. */
async function subscriptionsOf(deps: Dependencies, workspace: string): Promise<Subscription[]> {
  try {
    const shown = await listAll(deps, workspace, { list: 'subscriptions' }, { twice: false });
    return shown.map(({ id, name, endDate }) => ({ id, name: textOf(name), endDate: textOf(endDate) }));
  } catch (error) {
    if (error instanceof ApiError && ['notFound', 'unsupported'].includes(error.kind)) return [];
    throw error;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function shownOf(objectState: ObjectState, shown: readonly Shown[]): Shown[] {
  const ids: readonly number[] =
    objectState.state === 'undecided'
      ? objectState.candidates
      : objectState.state === 'exists' || objectState.state === 'claim'
        ? [objectState.id]
        : [];
  return shown.filter(({ id }) => ids.includes(id));
}

function problemsOf({ object, objectState }: PlannedObject): string[] {
  return objectState.state === 'impossible'
    ? [object.problemLine('name', `cannot use an existing object: ${objectState.problem}`)]
    : [];
}

/** Reports mistyped names in decisions, so that they are not ignored. */
function unknownKeys(event: EventFile, { use, create }: Decisions): string[] {
  const keys = new Set(['pigeonhole', ...event.sessions.map(({ key }) => key)]);
  return [...Object.keys(use), ...create]
    .filter((key) => !keys.has(key))
    .map((key) =>
      event.problemLine(
        'sessions',
        `no object has the id "${key}", which --use or --new names; the file has: ${[...keys].join(', ')}`,
      ),
    );
}

/** Warns of an event that would be over when it is created. @param now epoch ms */
function pastWarnings({ object, objectState }: PlannedObject<PigeonholeFields>, now: number): string[] {
  const { endDate, timezone } = object.fields;
  if (objectState.state !== 'create' || endDate >= dayIn(timezone, now)) return [];
  return [object.problemLine('endDate', 'is in the past, so the event is over')];
}

const seenTypes: ReadonlySet<string> = new Set<string>(knownSessionTypes);

function warningsOf(object: EventObject<SessionFields>): string[] {
  if (seenTypes.has(object.fields.type)) return [];
  return [object.problemLine('type', `this type has not been seen yet; known types: ${knownSessionTypes.join(', ')}`)];
}

/** `id` null: the request names no subscription, because a Personal workspace has none. */
type ChosenSubscription =
  | { readonly id: number | null; readonly name: string | null; readonly endDate: string | null }
  | { readonly problem: string };

/**
 * Chooses the subscription of a new pigeonhole. Pure.
 * @param wanted name or ID from the file or the configuration; null: neither has one
 * @param there the subscriptions of the workspace; empty: it is a Personal workspace
 */
export function chooseSubscription(wanted: string | number | null, there: readonly Subscription[]): ChosenSubscription {
  if (there.length === 0) {
    if (wanted === null) return { id: null, name: null, endDate: null };
    return { problem: 'this workspace has no subscriptions, because it is a Personal one: leave the subscription out' };
  }
  const names = there.map(({ id, name }) => `${JSON.stringify(name ?? '')} (${id})`).join(', ');
  if (wanted === null) {
    return { problem: `this is a Team workspace: choose one of its subscriptions, ${names}` };
  }
  const matching = there.filter(({ id, name }) =>
    typeof wanted === 'number' ? id === wanted : name?.trim() === wanted.trim(),
  );
  const [found, another] = matching;
  if (found === undefined) return { problem: `there is no such subscription in this workspace; there are: ${names}` };
  if (another !== undefined) {
    return {
      problem: `several subscriptions have this name: write the id of one, ${matching.map(({ id }) => id).join(' or ')}`,
    };
  }
  return { id: found.id, name: found.name ?? null, endDate: found.endDate ?? null };
}
