import { groupByCause } from '../group-by-cause.js';
import { shownProblems } from '../find-problems.js';
import type { Problem, Trouble } from '../problem.js';
import type { SubjectKind } from '../problem-traits.js';
import { traitsOf } from '../problems.js';

/** The sentences of an incident, as its problem last said them. */
interface IncidentWords {
  /** Built from counts, codes and instants only, as in alerts. */
  readonly title: string;
  readonly says: string | null;
  readonly advice: string | null;
  /** Address of the page that shows the problem; null: none does. */
  readonly page: string | null;
}

/** The problem and the subject of an incident. At most one incident with the same key is open. */
export interface IncidentKey {
  readonly code: string;
  readonly kind: SubjectKind;
  readonly subject: string;
}

export interface NewIncident extends IncidentKey, IncidentWords {
  readonly since: Date;
}

/** An incident that is open or has ended recently. */
export interface KnownIncident extends NewIncident {
  readonly number: number;
  /** Since when the checks no longer find the problem; null: the last check found it. */
  readonly quietSince: Date | null;
  readonly endedAt: Date | null;
  readonly returns: number;
  /** Instant at which the sentences were stored. */
  readonly notedAt: Date;
}

export interface JudgedIncidents {
  readonly opened: readonly NewIncident[];
  /** Incidents whose row changes; others stay as they are. */
  readonly changed: readonly KnownIncident[];
}

/** A problem that was not found for this long has ended. Processes that find different problems check in turn. */
const endsAfterMs = 60_000;
/** A problem that returns within this time after its end continues its incident. */
export const returnsWithinMs = 10 * 60_000;
/** Minimum time between two writes of sentences whose counts change. */
const writeWordsEveryMs = 60_000;

/**
 * Decides which incidents start, continue, return and end. Pure.
 * @param known all open incidents, and those that ended within `returnsWithinMs`
 * @param problems the problems of this moment, including those that another one explains
 * @param unjudged whether this check cannot find the problem of a code, so that its incidents stay as they are
 */
export function judgeIncidents(
  known: readonly KnownIncident[],
  problems: readonly Problem[],
  { at, unjudged = () => false }: { readonly at: Date; readonly unjudged?: (code: string) => boolean },
): JudgedIncidents {
  const shown = new Map<string, Trouble>();
  for (const trouble of groupByCause(shownProblems(problems))) {
    const id = idOf(keyOf(trouble));
    const before = shown.get(id);
    if (trouble.severity !== 'notice' && (before?.lists ?? -1) < (trouble.lists ?? 0)) shown.set(id, trouble);
  }
  const explained = new Set(problems.flatMap((each) => (each.coveredBy === null ? [] : [idOf(keyOf(each))])));
  const changed: KnownIncident[] = [];
  const going = new Set<string>();
  // The newest first: of two ended incidents with one key, the problem continues the later one.
  for (const incident of known.toSorted((a, b) => b.number - a.number)) {
    const id = idOf(incident);
    const found = shown.get(id);
    if (going.has(id)) continue;
    if (incident.endedAt === null || found !== undefined) going.add(id);
    if (unjudged(incident.code)) continue;
    const next = found === undefined ? quieter(incident, explained.has(id), at) : continued(incident, found, at);
    if (next !== undefined) changed.push(next);
  }
  const opened = [...shown]
    .filter(([id]) => !going.has(id))
    .map(([, trouble]) => ({ ...keyOf(trouble), ...wordsOf(trouble), since: sinceOf(trouble, at) }));
  return { opened, changed };
}

/** Returns the incident whose problem holds, if its row changes. */
function continued(incident: KnownIncident, found: Trouble, at: Date): KnownIncident | undefined {
  const isBack = incident.endedAt !== null;
  const words = wordsOf(found);
  const isSaid = (Object.keys(words) as (keyof IncidentWords)[]).every((name) => words[name] === incident[name]);
  const isDue = at.getTime() - incident.notedAt.getTime() >= writeWordsEveryMs;
  if (!isBack && incident.quietSince === null && (isSaid || !isDue)) return undefined;
  return {
    ...incident,
    ...words,
    quietSince: null,
    endedAt: null,
    returns: incident.returns + (isBack ? 1 : 0),
    notedAt: at,
  };
}

/** Returns the incident whose problem was not found, if its row changes. */
function quieter(incident: KnownIncident, isExplained: boolean, at: Date): KnownIncident | undefined {
  const { quietSince, endedAt } = incident;
  // Another problem hides this one, so that nothing is known about it.
  if (endedAt !== null || isExplained) return undefined;
  if (quietSince === null || quietSince > at) return { ...incident, quietSince: at };
  return at.getTime() - quietSince.getTime() < endsAfterMs ? undefined : { ...incident, endedAt: quietSince };
}

function wordsOf({ title, says, advice, page }: Trouble): IncidentWords {
  return { title, says, advice, page };
}

/** A problem cannot have started in the future, as its instant by another clock may say. */
function sinceOf({ since }: Trouble, at: Date): Date {
  return new Date(Math.min(since === null ? at.getTime() : Date.parse(since), at.getTime()));
}

/**
 * Returns what identifies the incident of a problem. Problems that pigeonholes of a workspace can share are one incident
 * of the workspace, so that it stays the same when a second pigeonhole has the problem, too. Pure.
 */
export function keyOf({ code, kind, name }: Pick<Trouble, 'code' | 'kind' | 'name'>): IncidentKey {
  const isShared = kind === 'pigeonhole' && traitsOf(code).group !== null;
  return isShared ? { code, kind: 'workspace', subject: name.split('/')[0]! } : { code, kind, subject: name };
}

function idOf({ code, kind, subject }: IncidentKey): string {
  return `${code} ${kind} ${subject}`;
}
