import { inputSchemaOf, type JsonSchema, variants } from './parse-tree.js';
import type { SinkSchemas } from './parse-sinks.js';
import { configSchema } from './schema/config-schema.js';

/** A schema of draft 7, which is the newest that the language server for YAML in most editors reads. */
export type PublishedSchema = Readonly<Record<string, unknown>>;

/**
 * Returns docs/pigeonpost.schema.json: what an editor needs to complete and check pigeonpost.yaml. It follows from the
 * schemas that the loader applies, and allows a reference wherever they allow a text, a number or true and false.
 * It accepts every file that the loader accepts, except that a key with nothing after its colon needs a value if it is
 * not a group or a list. The loader also checks what JSON Schema cannot say, such as that a name exists.
 * tools/write-configuration-reference.mjs writes the file, and a test compares it.
 * @param sinkSchemas schemas of all sink types
 */
export function publishedSchema(sinkSchemas: SinkSchemas): PublishedSchema {
  const { properties, ...whole } = published(inputSchemaOf(configSchema), true);
  const { sinks, ...others } = properties as Record<string, Group>;
  const every = sinks!.additionalProperties as Group;
  const types = Object.keys(sinkSchemas).sort();
  const type = { description: every.properties!.type!.description, anyOf: [{ enum: types }, reference] };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'pigeonpost.yaml',
    description: 'The configuration of pigeonpost: what is read and where it goes. See docs/configuration.md.',
    ...whole,
    properties: {
      ...others,
      sinks: {
        ...sinks,
        additionalProperties: {
          ...every,
          properties: { type },
          additionalProperties: true, // the type decides
          allOf: types.map((name) => ({
            if: { properties: { type: { const: name } }, required: ['type'] },
            // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
            then: { $ref: `#/definitions/sink-${name}` },
          })),
        },
      },
    },
    definitions: {
      reference,
      'every-sink': { properties: { ...every.properties, type } },
      ...Object.fromEntries(types.map((name) => [`sink-${name}`, sinkOfType(sinkSchemas[name]!, every)])),
    },
  };
}

interface Group {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Group>>;
  readonly additionalProperties?: Group | boolean;
  readonly required?: readonly string[];
}

/** Returns the schema of one type of sink, with the keys that all sinks share. */
function sinkOfType(schema: SinkSchemas[string], every: Group): PublishedSchema {
  const own = published(inputSchemaOf(schema), true) as Group;
  const shared = Object.keys(every.properties!).map((key) => [
    key,
    { $ref: `#/definitions/every-sink/properties/${key}` },
  ]);
  return { ...own, properties: { ...Object.fromEntries(shared), ...own.properties }, additionalProperties: false };
}

/** `${NAME}`, `${NAME:-default}` or `${file:/path}`, alone or inside a text. */
const pattern = String.raw`\$\{[^}]+\}`;
const reference = { type: 'string', pattern, patternErrorMessage: 'allowed: a reference such as ${NAME}' };

/** Returns a schema with references, and without what only the loader and the reference page read. */
function published(schema: JsonSchema, isRequired: boolean): PublishedSchema {
  const { description, default: standard, shownDefault, allowed, published: extra, ...found } = schema;
  const isGroup = typeof standard === 'object' && standard !== null && !Array.isArray(standard);
  const shown = isGroup ? undefined : (standard ?? shownDefault);
  return {
    ...(description === undefined ? {} : { description }),
    ...valuesOf({ ...found, ...extra }, { allowed, isRequired }),
    ...(shown === undefined ? {} : { default: shown }),
  };
}

interface Said {
  readonly allowed: string | undefined;
  readonly isRequired: boolean;
}

function valuesOf(schema: JsonSchema, { allowed, isRequired }: Said): PublishedSchema {
  const told = allowed === undefined ? {} : toldBy(allowed);
  if (schema.anyOf !== undefined || schema.oneOf !== undefined) return anyOfThese(variants(schema), isRequired);
  if (schema.secret === true) return { type: 'string', pattern, ...told };
  const { type, items, const: only, enum: words, format: _, secret: __, ...limits } = schema;
  if (type === 'object') return groupOf(schema, isRequired);
  if (type === 'array') {
    return { ...limits, type: isRequired ? type : [type, 'null'], items: published(items ?? {}, true) };
  }
  if (only !== undefined || words !== undefined) return { anyOf: [{ enum: words ?? [only] }, referenceTo] };
  if (type !== undefined && type !== 'string') return { anyOf: [{ type, ...limits }, referenceTo] };
  if (limits.pattern === undefined) return { type: 'string', ...limits };
  return { type: 'string', ...limits, pattern: `(?:${limits.pattern})|(?:${pattern})`, ...told };
}

/** Returns the alternatives, each once, and a reference if none of them is any text. */
function anyOfThese(shapes: readonly JsonSchema[], isRequired: boolean): PublishedSchema {
  const all = shapes
    .map((shape) => published(shape, isRequired))
    .flatMap((shape) => (shape.anyOf as PublishedSchema[] | undefined) ?? [shape]);
  const own = [...new Map(all.map((shape) => [JSON.stringify(shape), shape])).values()];
  const [single] = own;
  if (single !== undefined && own.length === 1) return single;
  const isText = own.some(({ type, pattern: only }) => type === 'string' && only === undefined);
  const others = own.filter((shape) => shape !== referenceTo);
  return { anyOf: isText ? others : [...others, ...own.filter((shape) => shape === referenceTo)] };
}

const referenceTo = { $ref: '#/definitions/reference' };

/** Returns the message of the language server for a text that does not match, in the words of the loader. */
const toldBy = (allowed: string) => ({ patternErrorMessage: `allowed: ${allowed.replaceAll('`', '')}` });

/** An optional group may be empty: its keys may all be comments. */
function groupOf(schema: JsonSchema, isRequired: boolean): PublishedSchema {
  const { properties, additionalProperties, required, propertyNames } = schema;
  const keys = Object.entries(properties ?? {}).map(([key, value]) => [
    key,
    published(value, required?.includes(key) === true),
  ]);
  return {
    type: isRequired ? 'object' : ['object', 'null'],
    ...(properties === undefined ? {} : { properties: Object.fromEntries(keys) }),
    ...(required === undefined ? {} : { required }),
    ...nameOf(propertyNames),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object' ? published(additionalProperties, true) : additionalProperties,
        }),
  };
}

/** Names are never references. */
function nameOf({ enum: words, pattern: form, allowed }: JsonSchema = {}): PublishedSchema {
  if (words !== undefined) return { propertyNames: { enum: words } };
  if (form === undefined) return {};
  return { propertyNames: { pattern: form, ...(allowed === undefined ? {} : toldBy(allowed)) } };
}
