import { z } from 'zod';
import type { Problem } from './config-error.js';
import { nearestWord } from './nearest-word.js';
import { parseTree, problemAt } from './parse-tree.js';
import { type ConfigDocument, formatKey, isGroup, type KeyPath, valueAt } from './read-document.js';
import { commonSinkShape } from './schema/config-schema.js';
import { Secret } from './secret.js';

/** Schemas of the sinks' own keys, by the sink types of this version. */
export type SinkSchemas = Readonly<Record<string, z.ZodType>>;

interface ParsedSinks {
  /** The sinks' own keys by name of the sink, as the type's schema returns them. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/** Checks each sink's type, and its own keys with the schema of that type. */
export function parseSinks(document: ConfigDocument, sinkSchemas: SinkSchemas): ParsedSinks {
  const settings: Record<string, unknown> = {};
  const problems: Problem[] = [];
  const sinks = valueAt(document.tree, ['sinks']);
  for (const [name, sink] of Object.entries(isGroup(sinks) ? sinks : {})) {
    if (!isGroup(sink)) continue; // the schema of the whole file reports the problem
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

/** The completed schemas, one object per sink type: data derived from a schema is cached by the object. */
const wholeSchemas = new WeakMap<z.ZodType, z.ZodType>();

function wholeSchemaOf(schema: z.ZodType): z.ZodType {
  const whole = wholeSchemas.get(schema) ?? withCommonKeysNamed(strict(schema));
  wholeSchemas.set(schema, whole);
  return whole;
}

/** Makes a schema strict if its author did not, so that a mistyped key is reported. */
function strict(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;
}

/**
 * Adds the keys that all sinks share to the schema, so that messages about a mistyped key can suggest them. They do not
 * appear in the parsed value.
 */
function withCommonKeysNamed(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodObject)) return schema;
  const own = Object.keys(schema.shape);
  const others = Object.keys(commonSinkShape).filter((key) => !own.includes(key));
  return schema.safeExtend(Object.fromEntries(others.map((key) => [key, z.undefined().optional()])));
}

/** The position of a setting: its line, from 1, and its key as people write it, e.g. `sinks.crm.records[0].when`. */
export interface SettingPlace {
  readonly line: number;
  readonly key: string;
}

/** A setting that needs its position in pigeonpost.yaml for later messages: an expression of a mapping. */
interface PlacedSetting {
  /** As written. */
  readonly text: string;
  standsAt(place: SettingPlace): void;
}

/**
 * Tells settings their position in the file. A schema may have moved a setting: `email: (x)` becomes `{ value: (x),
 * write: always }`. The position is then found by the setting's text below the nearest parent key that the file
 * contains, or else is that key's line.
 * @param settings the output of a schema for the part of the document at `at`
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
