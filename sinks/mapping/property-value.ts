import { FailedMapping } from './mapping-error.js';

/**
 * Converts the result of an expression into the value of a vendor's property. Undefined (do not write) and null (clear)
 * stay as they are. A reader refuses a value whose meaning it would have to guess, because a wrong value in a CRM is
 * worse than a dead letter. If a reader is passed to `Expression.evaluate` as `read`, its error messages contain line
 * and item.
 *
 * @param key the expression's place, such as `crm.records[0].properties.email`
 * @throws {MappingError} with the types that were found and expected, never the value
 */
type Reader<Read> = (value: unknown, key: string) => Read | null | undefined;

/**
 * Reads a text. Numbers, true and false are written as in JSON. The entries of a list are joined with semicolons, which
 * is how HubSpot and Salesforce expect several selected options.
 */
export const textValue: Reader<string> = (value, key) => {
  if (isAbsent(value)) return value;
  if (isScalar(value)) return String(value);
  if (Array.isArray(value) && value.every(isScalar)) return value.map(String).join(';');
  throw refusal(key, 'not-a-text', 'a text, a number, true, false, or a list of these', value);
};

/** Reads a number, also from a text that contains one. An empty text clears the property. */
export const numberValue: Reader<number> = (value, key) => {
  if (isAbsent(value)) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') {
    const text = value.trim();
    if (text === '') return null;
    // stricter than Number(), which also accepts 0x10; a comma is refused, because it may separate decimals or
    // thousands
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
  return new FailedMapping(key, code, `returned ${kindOf(value)}, but the sink needs ${wanted}`);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? 'an object' : typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`;
}
