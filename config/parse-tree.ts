import { z } from 'zod';
import type { Problem } from './config-error.js';
import { formatKey, type KeyPath, type ConfigDocument, valueAt } from './read-document.js';
import { nearestWord } from './nearest-word.js';
import { Secret } from './secret.js';

type ParsedTree<Value> = { readonly value: Value } | { readonly problems: readonly Problem[] };

/**
 * Checks a part of the document against a schema and returns all problems, each with its position.
 * @param at path of the part in the document
 */
export function parseTree<Schema extends z.ZodType>(
  schema: Schema,
  tree: unknown,
  document: ConfigDocument,
  at: KeyPath = [],
): ParsedTree<z.output<Schema>> {
  const result = schema.safeParse(withTextsRevealed(tree, [inputSchemaOf(schema)]), { error: allowedOf });
  if (result.success) return { value: result.data };
  const issues = result.error.issues.flatMap((issue) => flattenIssue(issue));
  return { problems: issues.flatMap((issue) => problemsOf(issue, schema, document, at)) };
}

/**
 * Replaces Secrets with their texts where the schema accepts only plain values. Every reference resolves to a Secret,
 * and only the schema knows whether its key is one. If the schema requires a number or a boolean, the text is
 * converted. If it accepts a value that JSON Schema has no type for, as `secret()` does, the Secret stays.
 */
function withTextsRevealed(tree: unknown, schemas: readonly JsonSchema[]): unknown {
  const shapes = schemas.flatMap(variants);
  if (tree instanceof Secret)
    return shapes.length > 0 && shapes.every(isPlain) ? spelled(tree.revealPlain(), shapes) : tree;
  if (Array.isArray(tree)) return tree.map((item, position) => withTextsRevealed(item, schemasBelow(shapes, position)));
  if (typeof tree !== 'object' || tree === null) return tree;
  const entries = Object.entries(tree).map(([key, value]) => [
    key,
    withTextsRevealed(value, schemasBelow(shapes, key)),
  ]);
  return Object.fromEntries(entries) as unknown;
}

const isPlain = ({ type, const: only, enum: words }: JsonSchema) =>
  type !== undefined || only !== undefined || words !== undefined;

/** Converts `"8088"` to 8088 if a number is required, as if it were written in the file. */
function spelled(text: string, shapes: readonly JsonSchema[]): unknown {
  const types = new Set(shapes.map(({ type }) => type));
  if (types.has('string')) return text;
  if ((types.has('number') || types.has('integer')) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return types.has('boolean') && (text === 'true' || text === 'false') ? text === 'true' : text;
}

function problemsOf(issue: FlatIssue, schema: z.ZodType, document: ConfigDocument, at: KeyPath): Problem[] {
  const path = [...at, ...issue.path];
  if (issue.unknownKeys !== undefined) {
    const known = knownKeys(schema, issue.path);
    return issue.unknownKeys.map((key) => problemAt(document, [...path, key], unknownKeyMessage(key, known)));
  }
  if (document.isBroken(path)) return [];
  const { shown } = document.placeOf(path);
  if (!issue.message.startsWith('allowed: ')) {
    const quotes = document.isFilled(path) && isQuoted(valueAt(document.tree, path), issue.message);
    return [problemAt(document, path, quotes ? `found ${shown}, which cannot be used here` : issue.message)];
  }
  const isMissing = !document.isWritten(path) || shown === 'nothing';
  return [problemAt(document, path, `${isMissing ? 'is missing' : `found ${shown}`}, ${issue.message}`)];
}

/** Whether a message quotes a part of the resolved value, as the errors of parsers do. */
function isQuoted(filled: unknown, message: string): boolean {
  const text = filled instanceof Secret ? filled.revealPlain() : filled;
  if (typeof text !== 'string') return true;
  return (text.match(/\w{3,}/g) ?? [text]).some((word) => message.includes(word));
}

/** Returns a problem at a key, or at its parent if the key is absent. */
export function problemAt(document: ConfigDocument, path: KeyPath, message: string): Problem {
  const { line, column } = document.placeOf(path);
  return { line, column, key: formatKey(path), message };
}

function unknownKeyMessage(key: string, known: readonly string[]): string {
  const nearest = nearestWord(key, known);
  return nearest === undefined
    ? `unknown key, allowed: ${known.join(', ')}`
    : `unknown key, did you mean "${nearest}"?`;
}

/** An issue of a schema without zod's nesting. */
interface FlatIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Keys at `path` that the schema does not know. */
  readonly unknownKeys?: readonly string[];
}

type Issue = z.core.$ZodIssue;

/**
 * Flattens an issue into those that the author of the file can fix. For a union, it returns the issues of the
 * alternative that was probably meant: the one with the type of the value.
 */
function flattenIssue(issue: Issue, parent: readonly PropertyKey[] = []): FlatIssue[] {
  const path = [...parent, ...issue.path].map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'unrecognized_keys') {
    return [{ path, message: '', unknownKeys: issue.keys }];
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const meant = issue.errors
      .filter((issues) => !issues.some(isAboutWhole))
      .sort((one, other) => one.length - other.length)
      .at(0);
    if (meant !== undefined) return meant.flatMap((inner) => flattenIssue(inner, path));
  }
  return [{ path, message: issue.message }];
}

const isAboutWhole = (issue: Issue) => issue.path.length === 0 && issue.code !== 'unrecognized_keys';

/**
 * Returns the message of an issue whose schema has none: `allowed: …`, which the loader completes with the value found.
 */
function allowedOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `allowed: ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `allowed: ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `allowed: at least ${String(issue.minimum)}${sizeNames[issue.origin] ?? ''}`;
    case 'too_big':
      return `allowed: at most ${String(issue.maximum)}${sizeNames[issue.origin] ?? ''}`;
    case 'invalid_format':
      return `allowed: ${issue.format === 'regex' ? `a text like ${issue.pattern ?? ''}` : `a text of the form "${issue.format}"`}`;
    case 'invalid_key':
      return `this name is not allowed here, ${issue.issues[0]?.message ?? ''}`;
    case 'invalid_union':
      return unionMessage(issue);
    default:
      return undefined;
  }
}

function unionMessage(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const options: unknown = issue.options; // the allowed values of a discriminator, if its value matches no alternative
  if (Array.isArray(options)) return `allowed: one of ${options.map(String).join(', ')}`;
  const messages = issue.errors
    .flat()
    .filter(isAboutWhole)
    .map(({ message }) => message);
  // If an alternative has its own message (such as that a secret is a literal), it explains more than a list of types.
  const sentence = messages.find((message) => !message.startsWith('allowed: '));
  return (
    sentence ?? `allowed: ${[...new Set(messages)].map((message) => message.slice('allowed: '.length)).join(' or ')}`
  );
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of keys',
  record: 'a group of keys',
};

const sizeNames: Readonly<Record<string, string>> = { string: ' characters', array: ' entries', set: ' entries' };

/** The parts of JSON Schema that zod writes, with the metadata of values.ts. */
export interface JsonSchema {
  readonly description?: string;
  readonly allowed?: string;
  readonly default?: unknown;
  /** Default of an optional key that is filled in after parsing, so that zod does not know it. */
  readonly shownDefault?: string;
  /** Facts for docs/pigeonpost.schema.json that zod does not know, because a function checks them. */
  readonly published?: JsonSchema;
  /** Whether the value is a secret, which is always a reference. */
  readonly secret?: boolean;
  readonly type?: string;
  readonly const?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly uniqueItems?: boolean;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly propertyNames?: JsonSchema;
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
function knownKeys(schema: z.ZodType, path: KeyPath): string[] {
  let level = [inputSchemaOf(schema)];
  for (const step of path) level = schemasBelow(level, step);
  return [
    ...new Set(
      level
        .flatMap(variants)
        .flatMap((at) => [...Object.keys(at.properties ?? {}), ...(at.propertyNames?.enum ?? []).map(String)]),
    ),
  ];
}

/** Returns the alternatives of a schema, or the schema itself. */
export function variants(schema: JsonSchema): JsonSchema[] {
  const choices = schema.anyOf ?? schema.oneOf;
  return choices === undefined ? [schema] : choices.flatMap(variants);
}

/** Returns the schemas at a key or list position below some schemas; none if nothing is allowed there. */
function schemasBelow(schemas: readonly JsonSchema[], step: string | number): JsonSchema[] {
  return schemas.flatMap(variants).flatMap((schema) => below(schema, step));
}

function below(schema: JsonSchema, step: string | number): JsonSchema[] {
  if (typeof step === 'number') return schema.items === undefined ? [] : [schema.items];
  const own = schema.properties?.[step];
  if (own !== undefined) return [own];
  return typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
}
