import { z } from 'zod';
import { cleanEmailAddress } from '../../base/email-address.js';
import { dayStartMs, instantMs } from '../../base/instant.js';
import type { Value } from '../records/decide-values.js';
import { CallFailure } from './operation.js';
import type { SalesforceClient } from './client.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { Result } from '../sink.js';
import { FailedMapping } from '../mapping/mapping-error.js';

const fieldSchema = z
  .object({
    name: z.string(),
    type: z.string(),
    /** Maximum length of a text in characters; 0 if the field is not a text. */
    length: z.number().default(0),
    createable: z.boolean().default(false),
    updateable: z.boolean().default(false),
    nillable: z.boolean().default(true),
    /** Number of digits after the decimal point of a number. */
    scale: z.number().optional(),
    defaultedOnCreate: z.boolean().default(false),
    externalId: z.boolean().default(false),
    unique: z.boolean().default(false),
    restrictedPicklist: z.boolean().default(false),
    /** The objects to which a reference field may refer. */
    referenceTo: z
      .array(z.string())
      .nullish()
      .transform((found) => found ?? []),
    picklistValues: z.array(z.object({ value: z.string(), active: z.boolean().default(true) })).default([]),
  })
  .transform(({ picklistValues, ...field }) => ({
    ...field,
    /** The active values of a picklist. */
    picklist: picklistValues.filter(({ active }) => active).map(({ value }) => value),
  }));

/** The org's description of a field, including the user's permissions. */
export type FieldFacts = Readonly<z.infer<typeof fieldSchema>>;

const objectSchema = z.object({
  createable: z.boolean().default(false),
  updateable: z.boolean().default(false),
  deletable: z.boolean().default(false),
  /** Fields by name in lower case, because Salesforce does not distinguish `email` from `Email`. */
  fields: z
    .array(fieldSchema)
    .transform(
      (fields): ReadonlyMap<string, FieldFacts> => new Map(fields.map((field) => [field.name.toLowerCase(), field])),
    ),
});

/** The org's description of an object, including the user's permissions. */
export type ObjectFacts = Readonly<z.infer<typeof objectSchema>>;

/**
 * Time for which descriptions of objects, and statuses of campaigns, are cached. A new field becomes visible to the sink
 * after this time.
 */
export const BELIEVED_FOR_MS = 10 * 60 * 1000;

/** The connection to an org during one `send` or check. All lanes of a sink share what is known about the org. */
export interface Org {
  readonly client: SalesforceClient;
  readonly budget: CallBudget;
  readonly known: OrgKnowledge;
}

/** Facts about an org. */
export interface OrgKnowledge {
  /** Descriptions by object, and the times of `performance.now()` until which they are used. */
  readonly objects: Map<string, { readonly facts: ObjectFacts; readonly untilMs: number }>;
  /** The member statuses of campaigns. */
  readonly statuses: Map<string, { readonly statuses: Statuses; readonly untilMs: number }>;
  /** Salesforce's codes for the statuses that it refused to add, by campaign. */
  readonly refusedStatuses: Map<string, string>;
}

/** Labels of the member statuses of a campaign, and whether each counts as a response. */
export type Statuses = ReadonlyMap<string, boolean>;

/** Returns the description of an object. @throws {CallFailure} if the org does not describe the object */
export async function factsOf({ client, budget, known }: Org, object: string): Promise<ObjectFacts> {
  const cached = known.objects.get(object);
  if (cached !== undefined && performance.now() < cached.untilMs) return cached.facts;
  const { body, refused } = await client.call({ method: 'GET', path: `sobjects/${object}/describe`, object }, budget);
  const found = refused === null ? objectSchema.safeParse(body) : undefined;
  if (!found?.success) {
    const detail = `Salesforce does not describe ${object}${refused === null ? '' : ` (${refused.code})`}`;
    throw new CallFailure({ kind: 'retry', detail });
  }
  known.objects.set(object, { facts: found.data, untilMs: performance.now() + BELIEVED_FOR_MS });
  return found.data;
}

/**
 * Returns a value with its field's name and in the form of the field's type, or the result that says that no field
 * accepts the value.
 * @param label the field's name in the cause
 */
export function conform(
  { fields }: ObjectFacts,
  object: string,
  { name: field, value }: { readonly name: string; readonly value: Value },
  label = `${object}.${field}`,
): { readonly name: string; readonly value: Value } | Extract<Result, { readonly kind: 'rejected' }> {
  const known = fields.get(field.toLowerCase());
  const conformed = known === undefined ? undefined : conformValue(value, known);
  if (known !== undefined && conformed !== undefined) return { name: known.name, value: conformed };
  const code = known === undefined ? 'INVALID_FIELD' : 'wrong-type';
  const detail = `${object} has no field ${field} that accepts the mapping's value: run "pigeonpost check" for details`;
  return { kind: 'rejected', cause: `salesforce:${code}:${label}`, detail };
}

const numbers: ReadonlySet<string> = new Set(['int', 'long', 'double', 'currency', 'percent']);
/** Types of fields that cannot be written, because they consist of other fields or Salesforce sets them. */
const unwritable: ReadonlySet<string> = new Set(['address', 'location', 'base64', 'anyType', 'complexvalue']);

/**
 * Returns a value in the JSON form of the field's type; undefined if the value has no such form. The caller must not
 * send it then, because one value of the wrong type makes Salesforce refuse the whole call. Lengths and picklists are
 * not checked here: Salesforce refuses only the record concerned.
 */
export function conformValue(value: Value, { type }: Pick<FieldFacts, 'type'>): Value | undefined {
  if (unwritable.has(type)) return undefined;
  // A checkbox cannot be empty.
  if (type === 'boolean') return value === null ? false : truth(value);
  if (value === null) return null;
  if (numbers.has(type)) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
  }
  if (type === 'date') return isDay(String(value)) ? String(value) : undefined;
  if (type === 'datetime') return isInstant(String(value)) ? String(value) : undefined;
  if (type === 'time') return /^\d{2}:\d{2}:\d{2}(\.\d+)?Z?$/.test(String(value)) ? String(value) : undefined;
  // Salesforce refuses only the record of a text that is no address, so that the cause is its own.
  if (type === 'email') return cleanEmailAddress(String(value)) ?? String(value);
  return String(value);
}

/**
 * Whether a field that Salesforce returns has the value that was sent. Salesforce trims texts, stores e-mail addresses in
 * lower case and times without fractions of seconds, rounds numbers to the scale of their field, and shows the choices of
 * a multi-select picklist in the order of its values.
 */
export function isSameField(
  field: Pick<FieldFacts, 'type' | 'scale'> | undefined,
  present: unknown,
  sent: Value,
): boolean {
  const plain = (value: unknown): string =>
    (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\r\n', '\n').trim();
  const [there, ours] = [plain(present), plain(sent)];
  if (there === ours) return true;
  const type = field?.type ?? '';
  if (numbers.has(type)) return Math.abs(Number(there) - Number(ours)) <= 0.5 * 10 ** -(field?.scale ?? 12);
  switch (type) {
    case 'email':
      return there.toLowerCase() === ours.toLowerCase();
    case 'datetime':
      return Math.floor(Date.parse(there) / 1000) === Math.floor(Date.parse(ours) / 1000);
    case 'time':
      return there.slice(0, 8) === ours.slice(0, 8);
    case 'multipicklist':
      return there.split(';').toSorted().join(';') === ours.split(';').toSorted().join(';');
    case 'reference':
      return there.slice(0, 15) === ours.slice(0, 15);
    default:
      return false;
  }
}

function truth(value: string | number | boolean): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 1) return true;
  return value === 'false' || value === 0 ? false : undefined;
}

/**
 * Whether a text is a calendar day. A time is not accepted, because its day depends on a time zone, which Salesforce
 * would guess.
 */
function isDay(text: string): boolean {
  return dayStartMs(text) !== undefined;
}

function isInstant(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/.test(text) && instantMs(text) !== undefined
  );
}

/**
 * Converts the result of a mapping into a field's value. Undefined: the field is not written. Null: the field is
 * cleared. Several values are joined in the form of a multi-select picklist.
 * @param key path of the expression in the configuration
 * @throws {FailedMapping} for a group, which no field can hold
 */
export function fieldValue(value: unknown, key: string): Value | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  // An empty form field is not a value. It must not clear what a user entered in the CRM.
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (Array.isArray(value)) {
    const texts = value.flatMap((each) => {
      const one = fieldValue(each, key);
      return one === undefined || one === null ? [] : [String(one)];
    });
    return texts.length === 0 ? undefined : texts.join(';');
  }
  throw new FailedMapping(
    key,
    'group',
    'returned a group, which no Salesforce field can hold: choose one of its fields',
  );
}
