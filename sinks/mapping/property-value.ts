import { FailedMapping } from './mapping-error.js';

/**
 * Converters from results of expressions to values of vendors' properties. Each keeps undefined (do not write) and null
 * (clear), and refuses a value that it would have to guess, because a wrong value in a CRM is worse than a dead letter.
 * Passed to `Expression.evaluate` as `read`, their messages contain line and item.
 *
 * @param key the expression's place, e.g. `crm.records[0].properties.email`
 * @throws {MappingError} naming kinds, never the value
 */
type Reader<Read> = (value: unknown, key: string) => Read | null | undefined;

/**
 * A text. Numbers and truth values as JSON writes them; a list of these with semicolons between them, as HubSpot and
 * Salesforce take several choices.
 */
export const textValue: Reader<string> = (value, key) => {
  if (isAbsent(value)) return value;
  if (isScalar(value)) return String(value);
  if (Array.isArray(value) && value.every(isScalar)) return value.map(String).join(';');
  throw refusal(key, 'not-a-text', 'a text, a number, true, false, or a list of these', value);
};

/** A number; a text that spells one counts, an empty one clears. */
export const numberValue: Reader<number> = (value, key) => {
  if (isAbsent(value)) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') {
    const text = value.trim();
    if (text === '') return null;
    // Number() also takes 0x10, and a comma is a decimal sign to some and a thousands sign to others
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))) return Number(text);
  }
  throw refusal(key, 'not-a-number', 'a number', value);
};

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function refusal(key: string, code: string, wanted: string, value: unknown): FailedMapping {
  return new FailedMapping(key, code, `gave ${kindOf(value)}: it takes ${wanted}`);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? 'an object' : typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`;
}
