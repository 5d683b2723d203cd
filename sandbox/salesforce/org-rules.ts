import type { Values } from './read-values.js';

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
