import { FailedMapping } from '../mapping/mapping-error.js';
import type { FieldValue } from './operation.js';

/**
 * What a mapping gave, as a field may take it. Undefined: nothing is said of the field; null: it is cleared. Several
 * values are joined as those of a multi-select picklist are.
 * @param key where the expression stands
 * @throws {FailedMapping} for a group, which no field can hold
 */
export function fieldValue(value: unknown, key: string): FieldValue | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  // An empty answer in a form is none: it must not empty what a person has put into the CRM.
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (Array.isArray(value)) {
    const texts = value.flatMap((each) => {
      const one = fieldValue(each, key);
      return one === undefined || one === null ? [] : [String(one)];
    });
    return texts.length === 0 ? undefined : texts.join(';');
  }
  throw new FailedMapping(key, 'group', 'gave a group, which no Salesforce field can hold: choose one of its fields');
}

/** As Salesforce compares e-mail addresses: case makes no difference. Null: what was given cannot be one. */
export function emailOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const email = value.trim().toLowerCase();
  // People write "n/a" into fields that a form makes them fill; matched by that, they would all be one person.
  return /^[^\s@,;<>()"]+@[^\s@,;<>()"]+\.[^\s@,;<>()".]+$/.test(email) ? email : null;
}
