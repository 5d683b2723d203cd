import { z } from 'zod';
import { CallFailure, type FieldValue } from './operation.js';
import type { SalesforceClient } from './client.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { CampaignStatuses } from './campaigns.js';
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

/** Time for which descriptions of objects are cached. A new field becomes visible to the sink after this time. */
const BELIEVED_FOR_MS = 10 * 60 * 1000;

/** Reads and caches the descriptions of the org's objects, for all lanes. */
export class ObjectFields {
  readonly #known = new Map<string, { readonly facts: ObjectFacts; readonly untilMs: number }>();

  constructor(private readonly client: SalesforceClient) {}

  /** @throws {CallFailure} if the org does not describe the object */
  async of(object: string, budget: CallBudget): Promise<ObjectFacts> {
    const known = this.#known.get(object);
    if (known !== undefined && performance.now() < known.untilMs) return known.facts;
    const facts = await this.#ask(object, budget);
    this.#known.set(object, { facts, untilMs: performance.now() + BELIEVED_FOR_MS });
    return facts;
  }

  /** Discards an outdated description, so that the next use reads it again. */
  forget(object: string): void {
    this.#known.delete(object);
  }

  async #ask(object: string, budget: CallBudget): Promise<ObjectFacts> {
    const { body, refused } = await this.client.call(
      { method: 'GET', path: `sobjects/${object}/describe`, object },
      budget,
    );
    const found = refused === null ? objectSchema.safeParse(body) : undefined;
    if (!found?.success) {
      throw new CallFailure({
        kind: 'retry',
        detail: `Salesforce does not describe ${object}${refused === null ? '' : ` (${refused.code})`}`,
      });
    }
    return found.data;
  }
}

/** The connection to an org and what is known about it, shared by all lanes of a sink. */
export interface Org {
  readonly client: SalesforceClient;
  readonly objects: ObjectFields;
  readonly statuses: CampaignStatuses;
}

const numbers: ReadonlySet<string> = new Set(['int', 'long', 'double', 'currency', 'percent']);
/** Types of fields that cannot be written, because they consist of other fields or Salesforce sets them. */
const unwritable: ReadonlySet<string> = new Set(['address', 'location', 'base64', 'anyType', 'complexvalue']);

/**
 * Returns a value in the JSON form of the field's type; undefined if the value has no such form. The caller must not
 * send it then, because one value of the wrong type makes Salesforce refuse the whole call. Lengths and picklists are
 * not checked here: Salesforce refuses only the record concerned.
 */
export function conformValue(value: FieldValue, { type }: Pick<FieldFacts, 'type'>): FieldValue | undefined {
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
  return String(value);
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
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isInstant(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/.test(text) && !Number.isNaN(Date.parse(text))
  );
}

/**
 * Converts the result of a mapping into a field's value. Undefined: the field is not written. Null: the field is
 * cleared. Several values are joined in the form of a multi-select picklist.
 * @param key path of the expression in the configuration
 * @throws {FailedMapping} for a group, which no field can hold
 */
export function fieldValue(value: unknown, key: string): FieldValue | undefined {
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

/** Returns an e-mail address in lower case, as Salesforce compares them; null if the value cannot be one. */
export function emailOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const email = value.trim().toLowerCase();
  // People write "n/a" into required form fields. If that counted as an address, all of them would be one person.
  return /^[^\s@,;<>()"]+@[^\s@,;<>()"]+\.[^\s@,;<>()".]+$/.test(email) ? email : null;
}
