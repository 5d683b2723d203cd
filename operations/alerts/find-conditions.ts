import type { AlertsConfig } from '../../config/config.js';
import type { AlertFacts, LastingOccasion, Occasion } from './alert-store.js';
import { behindAfterMs, findProblems, type WorkSnapshot } from '../find-problems.js';
import type { Problem } from '../problem.js';
import { alertOccasion } from '../problems.js';
import type { Found } from './judge-alert.js';

/** A condition that holds, or that another problem hides. A condition that is absent from the result does not hold. */
export interface Condition {
  readonly occasion: LastingOccasion;
  readonly subject: string;
  readonly found: Exclude<Found, 'over'>;
  /** Counts, codes and instants only, never text of a person or a vendor. */
  readonly facts: AlertFacts;
}

/** A shorter silence of the service is a network hiccup and no reason for an alert. */
const serviceDownAfterMs = 60_000;

/** A list that is late for a shorter time may be read in a moment. */
const readingLateAfterMs = 180_000;

/** Returns the problems of this moment that are worth an alert, for the occasions that are wanted. Pure. */
export function findConditions(snapshot: WorkSnapshot, when: AlertsConfig['when']): Condition[] {
  const problems = findProblems(snapshot, { behindMs: when.behindMs ?? behindAfterMs });
  return problems.flatMap((problem): Condition[] => {
    const occasion = alertOccasion(problem.code);
    if (occasion === undefined || !isWanted(occasion, when) || !isWorthAlerting(problem, snapshot.now, when)) return [];
    // A problem that another one explains is not reported, but it is not over either.
    const cover = problem.coveredBy === null ? undefined : alertOccasion(problem.coveredBy);
    // The service has requested a wait, or the quota is used up, so lists are late on purpose.
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

function isWorthAlerting({ code, facts, since }: Problem, now: Date, when: AlertsConfig['when']): boolean {
  if (code === 'dead-letters') return Number(facts['letters']) >= (when.deadLetters ?? 1);
  const lastsMs = since === null ? 0 : now.getTime() - since.getTime();
  if (code === 'service-down') return lastsMs >= serviceDownAfterMs;
  if (code === 'reading-late') return lastsMs >= readingLateAfterMs;
  return true;
}
