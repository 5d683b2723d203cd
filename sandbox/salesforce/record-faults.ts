import { SalesforceRefusal } from './call.js';
import type { Values } from './read-values.js';

/** A record that is refused though nothing is wrong with it: a row that another transaction holds. */
interface RecordFault {
  readonly object: string;
  readonly code: string;
  readonly message: string;
  /** Records of the object that pass first; 0 by default. */
  readonly skip?: number;
  /** Records that are refused after those; 1 by default. */
  readonly times?: number;
}

/** `UNABLE_TO_LOCK_ROW` for so many records of an object. */
export function lockedRow(object: string, times = 1, skip = 0): RecordFault {
  return {
    object,
    code: 'UNABLE_TO_LOCK_ROW',
    message: 'unable to obtain exclusive access to this record or 1 records',
    times,
    skip,
  };
}

/** Faults of single records, counted as records are written; deterministic. */
export class RecordFaults {
  private planned: { readonly fault: RecordFault; seen: number }[] = [];

  add(...faults: readonly RecordFault[]): void {
    this.planned.push(...faults.map((fault) => ({ fault, seen: 0 })));
  }

  clear(): void {
    this.planned = [];
  }

  /** @throws {SalesforceRefusal} the fault that befalls this record */
  befall(object: string): void {
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
  /** Place of the message on the page; its top by default. */
  readonly field?: string;
}

/** A duplicate rule: a new record that has the values of another in all of these fields is not saved. */
export interface DuplicateRule {
  readonly object: string;
  readonly fields: readonly string[];
  /** Objects that are looked through; both must have the fields. */
  readonly against: readonly string[];
  /** An alert gives way to the header `Sforce-Duplicate-Rule-Header: allowSave=true`; a block does not. */
  readonly action: 'alert' | 'block';
}

/** A lead assignment rule: gives a lead another owner. One of an org's rules can be active. */
export interface AssignmentRule {
  readonly id: string;
  readonly active: boolean;
  readonly ownerId: string;
}

/** The saving options in the headers of a request. */
export interface SaveOptions {
  /** Whether an alert of a duplicate rule is passed over. */
  readonly allowDuplicates: boolean;
  /** `active`: by the active assignment rule; `none`: by none; else by the rule with this id. */
  readonly assign: string;
}

/** Options of Salesforce's own pages for a user who dismisses alerts and selects no assignment. */
export const byHand: SaveOptions = { allowDuplicates: true, assign: 'none' };

/**
 * The standard duplicate rules: active in a new org, on leads and contacts, over both objects; alert on creation and
 * let edits pass. The standard matching rules compare by likeness: here the values are equal, which is less.
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
