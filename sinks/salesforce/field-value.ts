import type { FieldFacts } from './object-fields.js';
import type { FieldValue } from './operation.js';
import { FailedMapping } from '../mapping/mapping-error.js';

const numbers: ReadonlySet<string> = new Set(['int', 'long', 'double', 'currency', 'percent']);
/** Made of other fields, or set by Salesforce. */
const unwritable: ReadonlySet<string> = new Set(['address', 'location', 'base64', 'anyType', 'complexvalue']);

/**
 * A value in the JSON form that the field's type takes; undefined: it has none. One value of the wrong kind would make
 * Salesforce refuse the whole call with it. Lengths and picklists are Salesforce's to judge, record by record.
 */
export function conformValue(value: FieldValue, { type }: Pick<FieldFacts, 'type'>): FieldValue | undefined {
  if (unwritable.has(type)) return undefined;
  // A checkbox is never empty.
  if (type === 'boolean') return value === null ? false : truth(value);
  if (value === null) return null;
  if (numbers.has(type)) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
  }
  if (type === 'date') return isDay(String(value)) ? String(value) : undefined;
  if (type === 'datetime') return isInstant(String(value)) ? String(value) : undefined;
  if (type === 'time') return /^\d{2}:\d{2}:\d{2}(\.\d+)?Z?$/.test(String(value)) ? String(value) : undefined;
  return String(value);
}

function truth(value: string | number | boolean): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 1) return true;
  return value === 'false' || value === 0 ? false : undefined;
}

/** A calendar day. An instant is none: which day it is depends on a time zone that Salesforce would guess. */
function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isInstant(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/.test(text) && !Number.isNaN(Date.parse(text))
  );
}

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
