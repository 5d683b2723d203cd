import type { AlertsConfig } from '../../config/config.js';
import type { AlertFacts, Occasion } from './alert-store.js';
import { behindAfterMs, findProblems, type WorkSnapshot } from '../find-problems.js';
import type { Problem, ProblemCode } from '../problems.js';
import type { Found } from './judge-alert.js';

export type LastingOccasion = Exclude<Occasion, 'import-ended'>;

/** Something that is so, or of which it cannot be said just now; what is not among them is not so. */
export interface Condition {
  readonly occasion: LastingOccasion;
  readonly subject: string;
  readonly found: Exclude<Found, 'over'>;
  /** Counts, codes and instants only: what a person or a vendor wrote stays where it is. */
  readonly facts: AlertFacts;
}

/** The problems that people on duty are notified of. The page, `status` and the metrics show all of them. */
const occasions: Readonly<Partial<Record<ProblemCode, LastingOccasion>>> = {
  'service-down': 'service-down',
  'workspace-paused': 'workspace-paused',
  'sink-paused': 'sink-paused',
  'sink-behind': 'behind',
  'dead-letters': 'dead-letters',
  'sink-withholding': 'withholding',
  'reading-late': 'reading-late',
  'deletions-held': 'deletions-held',
  'quota-short': 'quota-short',
};

/** A service that does not answer for less is a hiccup of the network, and wakes nobody up. */
const serviceDownAfterMs = 60_000;

/** A list that is late for less may be read in a moment. */
const readingLateAfterMs = 180_000;

/** Returns the problems of this moment that are worth an alert, for the occasions that are wanted. Pure. */
export function findConditions(snapshot: WorkSnapshot, when: AlertsConfig['when']): Condition[] {
  const problems = findProblems(snapshot, { behindMs: when.behindMs ?? behindAfterMs });
  return problems.flatMap((problem): Condition[] => {
    const occasion = occasions[problem.code];
    if (occasion === undefined || !isWanted(occasion, when) || !isWorthTelling(problem, snapshot.now, when)) return [];
    // A problem that another one explains is not reported, but it is not over either.
    const cover = problem.coveredBy === null ? undefined : occasions[problem.coveredBy];
    // The service has asked to wait, or the quota is used up: that lists are late is meant then.
    const isMeant = problem.coveredBy === 'workspace-waiting';
    const found = isMeant || (cover !== undefined && isWanted(cover, when)) ? 'unknown' : 'holds';
    return [{ occasion, subject: problem.name, found, facts: problem.facts }];
  });
}

/** Says whether the configuration wants alerts of an occasion. Pure. */
export function isWanted(occasion: Occasion, when: AlertsConfig['when']): boolean {
  switch (occasion) {
    case 'service-down':
      return when.serviceDown;
    case 'reading-late':
      return when.readingLate;
    case 'sink-paused':
      return when.sinkPaused;
    case 'workspace-paused':
      return when.workspacePaused;
    case 'behind':
      return when.behindMs !== undefined;
    case 'dead-letters':
      return when.deadLetters !== undefined;
    case 'withholding':
      return when.withholding;
    case 'deletions-held':
      return when.deletionsHeld;
    case 'quota-short':
      return when.quotaShort;
    case 'import-ended':
      return when.importEnded;
    default:
      return occasion satisfies never;
  }
}

function isWorthTelling({ code, facts, since }: Problem, now: Date, when: AlertsConfig['when']): boolean {
  if (code === 'dead-letters') return Number(facts['letters']) >= (when.deadLetters ?? 1);
  const lastsMs = since === null ? 0 : now.getTime() - since.getTime();
  if (code === 'service-down') return lastsMs >= serviceDownAfterMs;
  if (code === 'reading-late') return lastsMs >= readingLateAfterMs;
  return true;
}
