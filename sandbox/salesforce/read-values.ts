import { type FieldDefinition, fieldNamed, type SObjectType } from './sobject-type.js';
import { SalesforceRefusal } from './call.js';

/** A record's stored values. Null is an empty value. */
export type Values = Record<string, string | number | boolean | null>;

/**
 * Reads the values of a sent record. Empty texts become null.
 * @throws {SalesforceRefusal} for an unknown or read-only field, and for a value of another JSON type
 */
export function readValues(
  type: SObjectType,
  sent: Readonly<Record<string, unknown>>,
  on: 'create' | 'update',
): Values {
  const values: Values = {};
  const readOnly: string[] = [];
  for (const [name, value] of Object.entries(sent)) {
    if (name === 'attributes') continue;
    const definition = fieldNamed(type, name);
    if (definition === undefined) {
      throw new SalesforceRefusal('INVALID_FIELD', `No such column '${name}' on sobject of type ${type.name}`);
    }
    if (!(on === 'create' ? definition.createable : definition.updateable)) {
      readOnly.push(definition.name);
      continue;
    }
    values[definition.name] = readValue(definition, value);
  }
  if (readOnly.length > 0) {
    throw new SalesforceRefusal(
      'INVALID_FIELD_FOR_INSERT_UPDATE',
      `Unable to create/update fields: ${readOnly.join(', ')}. Please check the security settings of this field and verify that it is read/write for your profile or permission set.`,
      readOnly,
    );
  }
  return values;
}

function readValue(definition: FieldDefinition, value: unknown): string | number | boolean | null {
  if (value === null || value === '') return null;
  const { type } = definition;
  if (type === 'boolean') {
    if (typeof value === 'boolean') return value;
  } else if (type === 'double' || type === 'int') {
    if (typeof value === 'number' && (type === 'double' || Number.isInteger(value))) return value;
  } else if (type === 'date') {
    if (typeof value === 'string' && isDate(value)) return value.slice(0, 10);
  } else if (type === 'datetime') {
    if (typeof value === 'string' && isDateTime(value)) return new Date(value).toISOString().replace('Z', '+0000');
  } else if (typeof value === 'string') {
    return type === 'reference' ? (normalisedId(value) ?? value) : value;
  }
  const kind = typeof value === 'string' ? 'VALUE_STRING' : typeof value === 'number' ? 'VALUE_NUMBER' : 'START_OBJECT';
  throw new SalesforceRefusal(
    'JSON_PARSER_ERROR',
    `Cannot deserialize instance of ${type} from ${kind} value or request may be missing a required field at [line:1, column:1]`,
  );
}

function isDate(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
}

function isDateTime(value: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})$/.test(value) && !Number.isNaN(Date.parse(value))
  );
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** Builds an id of 18 characters: the prefix, the number, and three characters that encode the case of the first 15. */
export function recordId(keyPrefix: string, number: number): string {
  return withSuffix(`${keyPrefix}8d${number.toString(36).padStart(10, '0')}`);
}

/** Converts an id of 15 or 18 characters to 18; `undefined` if it is not an id. */
export function normalisedId(id: string): string | undefined {
  if (/^[a-z0-9]{15}$/i.test(id)) return withSuffix(id);
  if (/^[a-z0-9]{18}$/i.test(id) && withSuffix(id.slice(0, 15)).toLowerCase() === id.toLowerCase()) {
    return withSuffix(id.slice(0, 15));
  }
  return undefined;
}

function withSuffix(id: string): string {
  const suffix = [0, 5, 10].map((from) => {
    const bits = id.slice(from, from + 5).split('');
    return ALPHABET[bits.reduce((sum, character, at) => sum + (/[A-Z]/.test(character) ? 2 ** at : 0), 0)];
  });
  return id + suffix.join('');
}
