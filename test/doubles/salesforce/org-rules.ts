import type { Values } from './read-values.js';

/** A validation rule of the org: a record for which `fails` is true is not saved. */
export interface ValidationRule {
  readonly object: string;
  readonly fails: (values: Readonly<Values>) => boolean;
  readonly message: string;
  /** Where the page would show the message; the top of the page by default. */
  readonly field?: string;
}

/** A duplicate rule: a new record with the value of another in this field is not saved. */
export interface DuplicateRule {
  readonly object: string;
  readonly field: string;
  /** Objects that are looked through; both must have the field. */
  readonly against: readonly string[];
  /** An alert gives way to the header `Sforce-Duplicate-Rule-Header: allowSave=true`; a block does not. */
  readonly action: 'alert' | 'block';
}
