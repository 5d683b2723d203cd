import type { OutcomeCount } from './counts.js';
import { isLacking } from '../delivering/mapping-reasons.js';
import type { Recent } from '../delivering/recent-decisions.js';

/** What a sink does with one list, all its pigeonholes together. */
export interface ListOutcomes {
  readonly list: string;
  readonly counts: readonly Pick<OutcomeCount, 'state' | 'reason' | 'changes'>[];
  readonly recent: Recent;
}

/** A sink that withholds what it should probably send. */
export interface Withholding {
  readonly list: string;
  /** `all`: it has never sent an item of this list; `more`: far more than before; `would`: an observing sink would send none. */
  readonly kind: 'all' | 'more' | 'would';
  /** Most of the withheld changes have this reason. */
  readonly reason: string;
  /** `all`: changes withheld for it. `more`: of every hundred latest decisions, the number that was withheld for it. */
  readonly changes: number;
}

/** Fewer may well lack a value each. */
const minAll = 10;
const minRecent = 20;
const manyOfRecent = 0.5;
const fewBefore = 0.1;

/**
 * Returns what is wrong with a list, or null. `all`: of at least 10 changes the sink sent none, for want of a value.
 * `more`: of the latest 20 or more decisions half or more lack a value, and of those before fewer than a tenth did.
 * Consent and conditions are no faults: they are meant.
 */
export function judgeWithholding({ list, counts, recent }: ListOutcomes): Withholding | null {
  const sum = (chosen: (count: (typeof counts)[number]) => boolean): number =>
    counts.filter(chosen).reduce((n, { changes }) => n + changes, 0);
  const sent = sum(({ state }) => state !== 'withheld');
  const lacking = sum(({ state, reason }) => state === 'withheld' && isLacking(reason));
  if (lacking === 0) return null;
  const reason = counts
    .filter((each) => each.state === 'withheld' && isLacking(each.reason))
    .toSorted((one, other) => other.changes - one.changes)[0]!.reason;
  if (sent === 0) return lacking >= minAll ? { list, kind: 'all', reason, changes: lacking } : null;
  const decided = recent.sent + recent.lacking;
  if (decided < minRecent || recent.lacking / decided < manyOfRecent) return null;
  const before = Math.max(1, sent + lacking - decided);
  if (Math.max(0, lacking - recent.lacking) / before >= fewBefore) return null;
  return { list, kind: 'more', reason, changes: Math.round((recent.lacking / decided) * 100) };
}

/**
 * Returns a list that a condition withholds whole: of at least 10 changes the sink sent none. A condition that leaves out
 * everything may be meant, so this is a fault only where the condition reads a field by a misspelled name. Pure.
 */
export function withheldByCondition({ list, counts }: ListOutcomes): Withholding | null {
  if (counts.some(({ state, changes }) => state !== 'withheld' && changes > 0)) return null;
  const changes = counts.filter(({ reason }) => reason === 'condition').reduce((n, count) => n + count.changes, 0);
  return changes >= minAll ? { list, kind: 'all', reason: 'condition', changes } : null;
}

/**
 * Returns what an observing sink would withhold: of at least 10 changes that it was shown it would send none, for want of
 * a value. It counts by reason and not by list, so `list` says "changes". Pure.
 */
export function judgeObservation(observation: {
  readonly wouldSend: number;
  readonly wouldSendAnonymously: number;
  readonly wouldWithhold: Readonly<Record<string, number>>;
}): Withholding | null {
  const { wouldSend, wouldSendAnonymously, wouldWithhold } = observation;
  const lacking = Object.entries(wouldWithhold).filter(([reason]) => isLacking(reason));
  const changes = lacking.reduce((sum, [, n]) => sum + n, 0);
  if (wouldSend + wouldSendAnonymously > 0 || changes < minAll) return null;
  const [[reason]] = lacking.toSorted(([, one], [, other]) => other - one) as [[string, number]];
  return { list: 'changes', kind: 'would', reason, changes };
}

/** Where a mapping looks for the value that it lacks. */
export interface Lack {
  /** Names of the values, such as `email`. */
  readonly values: readonly string[];
  /** The key of the configuration that needs them, such as `crm.records[0].match`. */
  readonly at: string;
  /** What is known of the fields that it reads: `reads item.email; fields seen: "Email"`; null: they are there. */
  readonly fields: string | null;
}

/** A sentence for a person, without the sink's name in front. It names fields and counts, never a value. */
export function withholdingText({ list, kind, reason, changes }: Withholding, lack: Lack | null): string {
  if (reason === 'condition' && lack !== null) {
    return `all ${changes.toLocaleString('en-US')} ${list} fail the condition ${lack.at}, which ${lack.fields}`;
  }
  const what = lack === null ? 'lack a value that its mapping needs' : `lack a value for ${lack.values.join(' or ')}`;
  const where = lack === null ? '' : `: ${lack.at}`;
  const fields = lack?.fields == null ? '' : `, which ${lack.fields}`;
  const who =
    kind !== 'more'
      ? `all ${changes.toLocaleString('en-US')} ${list}`
      : `suddenly ${changes} of every 100 ${list}, far more than before,`;
  return `${who} ${what}${where}${fields}`;
}
