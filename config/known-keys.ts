import { z } from 'zod';
import type { KeyPath } from './read-document.js';

/** The parts of JSON Schema that zod writes, with the metadata of values.ts. */
export interface JsonSchema {
  readonly description?: string;
  readonly allowed?: string;
  readonly default?: unknown;
  /** Default of a key that the schema leaves out; zod drops `default` from keys whose value is transformed. */
  readonly shownDefault?: string;
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly propertyNames?: { readonly enum?: readonly string[] };
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** Cached, because conversion takes milliseconds and a file may apply one schema thousands of times. */
const inputSchemas = new WeakMap<z.ZodType, JsonSchema>();

/** Returns the input that a schema accepts, as JSON Schema, which is easier to inspect than zod's many classes. */
export function inputSchemaOf(schema: z.ZodType): JsonSchema {
  const known = inputSchemas.get(schema);
  if (known !== undefined) return known;
  const converted = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  inputSchemas.set(schema, converted);
  return converted;
}

/** Returns the keys of a schema at a path, in the schema's order; none if any name is allowed. */
export function knownKeys(schema: z.ZodType, path: KeyPath): string[] {
  let level = [inputSchemaOf(schema)];
  for (const step of path) level = schemasBelow(level, step);
  return [
    ...new Set(
      level.flatMap(variants).flatMap((at) => [...Object.keys(at.properties ?? {}), ...(at.propertyNames?.enum ?? [])]),
    ),
  ];
}

/** Returns the alternatives of a schema, or the schema itself. */
export function variants(schema: JsonSchema): JsonSchema[] {
  const choices = schema.anyOf ?? schema.oneOf;
  return choices === undefined ? [schema] : choices.flatMap(variants);
}

/** Returns the schemas at a key or list position below some schemas; none if nothing is allowed there. */
export function schemasBelow(schemas: readonly JsonSchema[], step: string | number): JsonSchema[] {
  return schemas.flatMap(variants).flatMap((schema) => below(schema, step));
}

function below(schema: JsonSchema, step: string | number): JsonSchema[] {
  if (typeof step === 'number') return schema.items === undefined ? [] : [schema.items];
  const own = schema.properties?.[step];
  if (own !== undefined) return [own];
  return typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
}
