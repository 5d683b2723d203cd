import { SalesforceRefusal } from './call.js';
import type { Values } from './read-values.js';

/** A fault that refuses records, valid or not, for example as if another transaction had locked the row. */
interface RecordFault {
  readonly object: string;
  readonly code: string;
  readonly message: string;
  /** Number of records of the object that pass before the fault takes effect; 0 by default. */
  readonly skip?: number;
  /** Number of records refused after those; 1 by default. */
  readonly times?: number;
}

/** Builds a fault that refuses `times` records of an object with `UNABLE_TO_LOCK_ROW`. */
export function lockedRow(object: string, times = 1, skip = 0): RecordFault {
  return {
    object,
    code: 'UNABLE_TO_LOCK_ROW',
    message: 'unable to obtain exclusive access to this record or 1 records',
    times,
    skip,
  };
}

/** Faults of single records. Deterministic: counts records as they are written. */
export class RecordFaults {
  private planned: { readonly fault: RecordFault; seen: number }[] = [];

  add(...faults: readonly RecordFault[]): void {
    this.planned.push(...faults.map((fault) => ({ fault, seen: 0 })));
  }

  clear(): void {
    this.planned = [];
  }

  /** Applies the faults to one record of the object. @throws {SalesforceRefusal} if one takes effect */
  apply(object: string): void {
    for (const planned of this.planned) {
      const { fault } = planned;
      const last = (fault.skip ?? 0) + (fault.times ?? 1);
      if (fault.object !== object || planned.seen >= last) continue;
      planned.seen += 1;
      if (planned.seen > (fault.skip ?? 0)) throw new SalesforceRefusal(fault.code, fault.message);
    }
  }
}

/** A validation rule of the org: a record for which `fails` is true is not saved. */
export interface ValidationRule {
  readonly object: string;
  readonly fails: (values: Readonly<Values>) => boolean;
  readonly message: string;
  /** The field at which the page shows the message; by default, the top of the page. */
  readonly field?: string;
}

/** A duplicate rule: refuses a new record that has the same values as another one in all of these fields. */
export interface DuplicateRule {
  readonly object: string;
  readonly fields: readonly string[];
  /** The objects to compare with. They must have the same fields. */
  readonly against: readonly string[];
  /** The header `Sforce-Duplicate-Rule-Header: allowSave=true` overrides an alert, but not a block. */
  readonly action: 'alert' | 'block';
}

/** A lead assignment rule, which changes the owner of a lead. At most one rule of an org is active. */
export interface AssignmentRule {
  readonly id: string;
  readonly active: boolean;
  readonly ownerId: string;
}

/** Options for saving, from the headers of a request. */
export interface SaveOptions {
  /** Whether to ignore an alert of a duplicate rule. */
  readonly allowDuplicates: boolean;
  /** `active`: assign by the active rule; `none`: do not assign; otherwise the id of the rule to apply. */
  readonly assign: string;
}

/** Options of a user in Salesforce's pages who dismisses alerts and selects no assignment. */
export const byHand: SaveOptions = { allowDuplicates: true, assign: 'none' };

/**
 * The standard duplicate rules, which are active in a new org. They compare leads and contacts with both objects, show
 * an alert on creation, and ignore edits. Salesforce's matching rules also find similar values; these find only equal
 * ones.
 */
export const standardDuplicateRules: readonly DuplicateRule[] = (['Lead', 'Contact'] as const).flatMap((object) =>
  [['Email'], ['FirstName', 'LastName', 'Title']].map(
    (fields) => ({ object, fields, against: ['Lead', 'Contact'], action: 'alert' }) as const,
  ),
);

/** An active rule that gives all leads to a queue. */
export const leadsToQueue: AssignmentRule = {
  id: '01Q8d0000000001EAA',
  active: true,
  ownerId: '00G8d0000000001EAA',
};
