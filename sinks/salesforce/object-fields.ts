import { z } from 'zod';
import { CallFailure, type FieldValue } from './operation.js';
import type { SalesforceClient } from './client.js';
import type { CallBudget } from '../rest/call-budget.js';
import type { CampaignStatuses } from './campaigns.js';
import { FailedMapping } from '../mapping/mapping-error.js';

/** Permissions on a field of the org. */
export interface FieldFacts {
  readonly name: string;
  readonly type: string;
  /** Longest text, in characters; 0: it is none. */
  readonly length: number;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly nillable: boolean;
  readonly defaultedOnCreate: boolean;
  readonly externalId: boolean;
  readonly unique: boolean;
  readonly restrictedPicklist: boolean;
  /** Objects whose ids a reference holds. */
  readonly referenceTo: readonly string[];
  /** Values of a picklist that are in use. */
  readonly picklist: readonly string[];
}

/** Permissions of the user on an object of the org. */
export interface ObjectFacts {
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly deletable: boolean;
  /** By name in lower case: Salesforce does not tell `email` from `Email`. */
  readonly fields: ReadonlyMap<string, FieldFacts>;
}

const fieldSchema = z.object({
  referenceTo: z
    .array(z.string())
    .nullish()
    .transform((found) => found ?? []),
  name: z.string(),
  type: z.string(),
  length: z.number().default(0),
  createable: z.boolean().default(false),
  updateable: z.boolean().default(false),
  nillable: z.boolean().default(true),
  defaultedOnCreate: z.boolean().default(false),
  externalId: z.boolean().default(false),
  unique: z.boolean().default(false),
  restrictedPicklist: z.boolean().default(false),
  picklistValues: z.array(z.object({ value: z.string(), active: z.boolean().default(true) })).default([]),
});

const objectSchema = z.object({
  createable: z.boolean().default(false),
  updateable: z.boolean().default(false),
  deletable: z.boolean().default(false),
  fields: z.array(fieldSchema),
});

/** Time for which descriptions of objects are cached: a new field is seen after it. */
const BELIEVED_FOR_MS = 10 * 60 * 1000;

/** Descriptions of the org's objects, read once and shared by all lanes. */
export class ObjectFields {
  readonly #known = new Map<string, { readonly facts: ObjectFacts; readonly untilMs: number }>();

  constructor(
    private readonly client: SalesforceClient,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @throws {CallFailure} when the org does not say */
  async of(object: string, budget: CallBudget): Promise<ObjectFacts> {
    const known = this.#known.get(object);
    if (known !== undefined && this.now() < known.untilMs) return known.facts;
    const facts = await this.#ask(object, budget);
    this.#known.set(object, { facts, untilMs: this.now() + BELIEVED_FOR_MS });
    return facts;
  }

  /** Discards a description that was wrong: the next use reads it again. */
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
    return {
      ...found.data,
      fields: new Map(
        found.data.fields.map(({ picklistValues, ...field }) => [
          field.name.toLowerCase(),
          { ...field, picklist: picklistValues.filter(({ active }) => active).map(({ value }) => value) },
        ]),
      ),
    };
  }
}

/** The sink's view of its org, shared by all lanes. */
export interface Org {
  readonly client: SalesforceClient;
  readonly objects: ObjectFields;
  readonly statuses: CampaignStatuses;
}

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
