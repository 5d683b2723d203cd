import { z } from 'zod';
import type { KeyPath } from './read-document.js';

/** The parts of JSON Schema that zod writes, and what values.ts adds to it. */
export interface JsonSchema {
  readonly description?: string;
  readonly allowed?: string;
  readonly default?: unknown;
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

/** Conversion takes milliseconds, and a file may have thousands of parts with one schema. */
const inputSchemas = new WeakMap<z.ZodType, JsonSchema>();

/** What a schema takes, as data that can be walked: zod's own classes say the same in a dozen different ways. */
export function inputSchemaOf(schema: z.ZodType): JsonSchema {
  const known = inputSchemas.get(schema);
  if (known !== undefined) return known;
  const converted = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  inputSchemas.set(schema, converted);
  return converted;
}

/** The keys that a schema knows at a path, in the schema's order; none where any name is a key. */
export function knownKeys(schema: z.ZodType, path: KeyPath): string[] {
  let level = [inputSchemaOf(schema)];
  for (const step of path) level = schemasBelow(level, step);
  return [
    ...new Set(
      level.flatMap(variants).flatMap((at) => [...Object.keys(at.properties ?? {}), ...(at.propertyNames?.enum ?? [])]),
    ),
  ];
}

/** A schema, or what it may be one of. */
export function variants(schema: JsonSchema): JsonSchema[] {
  const choices = schema.anyOf ?? schema.oneOf;
  return choices === undefined ? [schema] : choices.flatMap(variants);
}

/** What stands below some shapes at a key or a position in a list; none when they take nothing there. */
export function schemasBelow(schemas: readonly JsonSchema[], step: string | number): JsonSchema[] {
  return schemas.flatMap(variants).flatMap((schema) => below(schema, step));
}

function below(schema: JsonSchema, step: string | number): JsonSchema[] {
  if (typeof step === 'number') return schema.items === undefined ? [] : [schema.items];
  const own = schema.properties?.[step];
  if (own !== undefined) return [own];
  return typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
}
