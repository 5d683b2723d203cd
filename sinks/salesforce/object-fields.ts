import { z } from 'zod';
import { CallFailure } from './operation.js';
import type { SalesforceClient } from './client.js';
import type { CallBudget } from '../rest/call-budget.js';
import type { CampaignStatuses } from './campaigns.js';

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
