import { HubSpotRefusal } from './call.js';
import type { ObjectType, PropertyDefinition } from './object-type.js';

/** A problem of one value. The README lists the codes that are assumed. */
interface PropertyProblem {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

const MAX_VALUE_CHARACTERS = 65_536;
const DAY_MS = 86_400_000;

/** Returns all problems of the values of one record. An empty string clears a property and is always allowed. */
export function validateProperties(
  definitions: ReadonlyMap<string, PropertyDefinition>,
  values: Readonly<Record<string, string>>,
): PropertyProblem[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const definition = definitions.get(name);
    if (definition === undefined) {
      return [{ name, code: 'PROPERTY_DOESNT_EXIST', message: `Property "${name}" does not exist` }];
    }
    if (definition.readOnlyValue) {
      return [
        { name, code: 'READ_ONLY_VALUE', message: `"${name}" is a read only property; its value cannot be set.` },
      ];
    }
    const problem = value === '' ? undefined : problemWith(definition, value);
    return problem === undefined ? [] : [{ name, ...problem }];
  });
}

/**
 * Returns the values that a write lacks under the account's own rules, with the documented codes. A conditional rule
 * applies only if this write sets its condition. A stored value meets the requirement of a rule.
 */
export function brokenRules(
  { rules }: Pick<ObjectType, 'rules'>,
  values: Readonly<Record<string, string>>,
  stored: ReadonlyMap<string, string>,
  creates: boolean,
): PropertyProblem[] {
  const after = (name: string): string => values[name] ?? stored.get(name) ?? '';
  const missing = creates ? rules.required.filter((name) => after(name) === '') : [];
  const conditions = rules.conditional.filter(
    ({ whenProperty, hasValue, requires }) => values[whenProperty] === hasValue && after(requires) === '',
  );
  return [
    ...missing.map((name) => ({
      name,
      code: 'MISSING_REQUIRED_PROPERTY',
      message: `A value for ${name} must be provided`,
    })),
    ...conditions.map(({ whenProperty, requires }) => ({
      name: requires,
      code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
      message: `${requires} is required because of a conditional property rule based on [${whenProperty}]`,
    })),
  ];
}

/** Converts a record's problems to HubSpot's refusal: a JSON list in the message, and one entry for each. */
export function refusalOf(problems: readonly PropertyProblem[]): HubSpotRefusal {
  const listed = problems.map(({ name, code, message }) => ({
    isValid: false,
    message,
    error: code,
    name,
    localizedErrorMessage: message,
  }));
  return new HubSpotRefusal(
    400,
    'VALIDATION_ERROR',
    `Property values were not valid: ${JSON.stringify(listed)}`,
    problems.map(({ name, code, message }) => ({ message, code, context: { propertyName: [name] } })),
  );
}

/**
 * Converts a valid value to the form that HubSpot stores and returns: dates as days, date-times in ISO 8601, e-mails in
 * lower case.
 */
export function storedValue(definition: PropertyDefinition, value: string): string {
  if (value === '') return '';
  if (definition.name === 'email') return value.toLowerCase();
  if (definition.type === 'date') return new Date(instantOf(value)!).toISOString().slice(0, 10);
  if (definition.type === 'datetime') return new Date(instantOf(value)!).toISOString();
  return value;
}

function problemWith(
  definition: PropertyDefinition,
  value: string,
): Pick<PropertyProblem, 'code' | 'message'> | undefined {
  if (value.length > MAX_VALUE_CHARACTERS) {
    return { code: 'VALUE_TOO_LONG', message: `value is longer than ${MAX_VALUE_CHARACTERS} characters` };
  }
  if (definition.name === 'email' && !isEmail(value)) {
    return { code: 'INVALID_EMAIL', message: `Email address ${value} is invalid` };
  }
  switch (definition.type) {
    case 'number':
      return Number.isFinite(Number(value)) && value.trim() !== ''
        ? undefined
        : { code: 'INVALID_NUMBER', message: `${value} was not a valid number.` };
    case 'date':
      return dateProblem(value);
    case 'datetime':
      return instantOf(value) === undefined
        ? { code: 'INVALID_LONG', message: `${value} was not a valid long.` }
        : undefined;
    case 'enumeration':
    case 'bool':
      return optionProblem(definition, value);
    default:
      return undefined;
  }
}

function dateProblem(value: string): Pick<PropertyProblem, 'code' | 'message'> | undefined {
  const instant = instantOf(value);
  if (instant === undefined) return { code: 'INVALID_LONG', message: `${value} was not a valid long.` };
  if (instant % DAY_MS === 0) return undefined;
  const at = new Date(instant);
  const time = `${at.getUTCHours()}:${at.getUTCMinutes()}:${at.getUTCSeconds()}.${at.getUTCMilliseconds()}`;
  return { code: 'INVALID_DATE', message: `${value} is at ${time} UTC, not midnight!` };
}

function optionProblem(
  definition: PropertyDefinition,
  value: string,
): Pick<PropertyProblem, 'code' | 'message'> | undefined {
  const values = definition.fieldType === 'checkbox' ? value.split(';').filter((part) => part !== '') : [value];
  const allowed = new Set(definition.options.map((option) => option.value));
  const wrong = values.find((part) => !allowed.has(part));
  if (wrong === undefined) return undefined;
  return {
    code: 'INVALID_OPTION',
    message: `${wrong} was not one of the allowed options: [${[...allowed].join(', ')}]`,
  };
}

/**
 * Returns milliseconds since 1970 for the formats that HubSpot accepts: milliseconds, a day, or ISO 8601 with an
 * offset.
 */
function instantOf(value: string): number | undefined {
  if (/^-?\d+$/.test(value)) return Number(value);
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/.test(value)) return undefined;
  const instant = Date.parse(value);
  return Number.isNaN(instant) ? undefined : instant;
}

function isEmail(value: string): boolean {
  return (
    value.length <= 254 &&
    /^[^\s@.,;:<>()[\]"\\]+(\.[^\s@.,;:<>()[\]"\\]+)*@([a-z0-9-]+\.)+[a-z]{2,}$/i.test(value) &&
    !/@-|-\.|\.-/.test(value)
  );
}
