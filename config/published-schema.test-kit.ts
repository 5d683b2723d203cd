import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { allSinks } from '../sinks/all-sinks.js';
import type { SinkSchemas } from './parse-sinks.js';
import { publishedSchema } from './published-schema.js';

/** The schemas of all sinks of this version. */
export const allSinkSchemas: SinkSchemas = Object.fromEntries(
  [...allSinks].map(([type, { configSchema }]) => [type, configSchema]),
);

const compiled = new WeakMap<SinkSchemas, ValidateFunction>();

/**
 * Returns what an editor reports about a configuration: the places and messages of a validator that shares no code with
 * the loader.
 * @param configuration the text of the file, or its content
 */
export function editorProblems(configuration: unknown, schemas: SinkSchemas = allSinkSchemas): string[] {
  let validate = compiled.get(schemas);
  if (validate === undefined) {
    const ajv = new Ajv({ allErrors: true, strictTypes: false, strictRequired: false });
    ajv.addVocabulary(['patternErrorMessage']);
    validate = ajv.compile(publishedSchema(schemas));
    compiled.set(schemas, validate);
  }
  const tree: unknown = typeof configuration === 'string' ? parse(configuration) : configuration;
  if (validate(tree)) return [];
  return validate.errors!.map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
