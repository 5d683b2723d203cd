import { z } from 'zod';
import type { Problem } from './config-error.js';
import { nearestWord } from './nearest-word.js';
import { parseTree, problemAt, valueAt } from './parse-tree.js';
import { type ConfigDocument, formatKey, type KeyPath } from './read-document.js';
import { commonSinkShape } from './schema/sinks.js';
import { Secret } from './secret.js';

/** The schemas of the sinks' own keys, by sink type: what is built in this version. */
export type SinkSchemas = Readonly<Record<string, z.ZodType>>;

export interface ParsedSinks {
  /** By name; what the type's schema made of the sink's own keys. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/** Checks each sink's type, and the keys that all sinks do not share with the schema that its type brings. */
export function parseSinks(document: ConfigDocument, sinkSchemas: SinkSchemas): ParsedSinks {
  const settings: Record<string, unknown> = {};
  const problems: Problem[] = [];
  const sinks = valueAt(document.tree, ['sinks']);
  for (const [name, sink] of Object.entries(isGroup(sinks) ? sinks : {})) {
    if (!isGroup(sink)) continue; // the schema of the whole says so
    const type = sink.type instanceof Secret ? sink.type.revealPlain() : sink.type;
    if (typeof type !== 'string' || document.isBroken(['sinks', name, 'type'])) continue;
    const schema = Object.hasOwn(sinkSchemas, type) ? sinkSchemas[type] : undefined;
    if (schema === undefined) {
      problems.push(
        problemAt(
          document,
          ['sinks', name, 'type'],
          typeMessage(type, document.placeOf(['sinks', name, 'type']).shown, sinkSchemas),
        ),
      );
      continue;
    }
    const own = Object.fromEntries(Object.entries(sink).filter(([key]) => !Object.hasOwn(commonSinkShape, key)));
    const parsed = parseTree(wholeSchemaOf(schema), own, document, ['sinks', name]);
    if ('value' in parsed) {
      settings[name] = parsed.value;
      tellPlaces(parsed.value, document, ['sinks', name]);
    } else problems.push(...parsed.problems);
  }
  return { settings, problems };
}

function typeMessage(type: string, shown: string, sinkSchemas: SinkSchemas): string {
  const built = Object.keys(sinkSchemas).sort();
  const nearest = nearestWord(type, built);
  return `found ${shown}, allowed: ${built.join(', ')}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
}

/** One object per sink type, so that what is derived from it is derived once. */
const wholeSchemas = new WeakMap<z.ZodType, z.ZodType>();

function wholeSchemaOf(schema: z.ZodType): z.ZodType {
  const whole = wholeSchemas.get(schema) ?? withCommonKeysNamed(strict(schema));
  wholeSchemas.set(schema, whole);
  return whole;
}

/** A sink type's schema may be loose by oversight; a mistyped key must be told all the same. */
function strict(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;
}

/**
 * The same schema; among the keys that a message offers are those that all sinks share, for they are as likely to be
 * meant as the type's own. They have been taken out of what is parsed.
 */
function withCommonKeysNamed(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodObject)) return schema;
  const own = Object.keys(schema.shape);
  const others = Object.keys(commonSinkShape).filter((key) => !own.includes(key));
  return schema.safeExtend(Object.fromEntries(others.map((key) => [key, z.undefined().optional()])));
}

function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret);
}

/** Where a setting stands: its line, from 1, and its key as people write it, e.g. `sinks.crm.records[0].when`. */
export interface SettingPlace {
  readonly line: number;
  readonly key: string;
}

/** A setting that is told where it stands in pigeonpost.yaml, for messages when it is used: an expression of a mapping. */
export interface PlacedSetting {
  /** As written. */
  readonly text: string;
  standsAt(place: SettingPlace): void;
}

/**
 * Tells settings their places. A schema may have put them elsewhere than they were written (`email: (x)` becomes
 * `{ value: (x), write: always }`): then it is the line where the same text stands below the nearest key that is
 * written, or that key's.
 * @param settings what a schema made of the part of the document at `at`
 */
export function tellPlaces(settings: unknown, document: ConfigDocument, at: KeyPath): void {
  if (isPlaced(settings)) {
    const path = writtenAt(settings.text, document, at);
    settings.standsAt({ line: document.placeOf(path).line, key: formatKey(path) });
  } else if (Array.isArray(settings)) {
    settings.forEach((entry, position) => tellPlaces(entry, document, [...at, position]));
  } else if (typeof settings === 'object' && settings !== null && !(settings instanceof Secret)) {
    for (const [key, value] of Object.entries(settings)) tellPlaces(value, document, [...at, key]);
  }
}

function isPlaced(value: unknown): value is PlacedSetting {
  return typeof value === 'object' && value !== null && 'standsAt' in value && typeof value.standsAt === 'function';
}

function writtenAt(text: string, document: ConfigDocument, at: KeyPath): KeyPath {
  let nearest = at;
  while (nearest.length > 0 && !document.isWritten(nearest)) nearest = nearest.slice(0, -1);
  return find(valueAt(document.tree, nearest), text, nearest) ?? nearest;
}

function find(tree: unknown, text: string, at: KeyPath): KeyPath | undefined {
  if (tree === text) return at;
  if (typeof tree !== 'object' || tree === null || tree instanceof Secret) return undefined;
  for (const [key, value] of Object.entries(tree)) {
    const found = find(value, text, [...at, Array.isArray(tree) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
