import { z } from '@hono/zod-openapi';
import { LineCounter, parseDocument, visit } from 'yaml';
import { nearestWord } from '../../config/nearest-word.js';
import { aliasMessage, parseYaml, syntaxMessage, YamlLimitError } from '../../config/parse-yaml.js';
import { allSinks } from '../../sinks/all-sinks.js';
import { keysIn, mappingIn } from './mapping-text.js';

/** A mistake in a mapping. */
export const triedProblemSchema = z.object({
  line: z.int().nullable().describe('Line of the mapping, from 1; null: in the rest of the file.'),
  column: z.int().describe('From 1.'),
  key: z.string(),
  message: z.string(),
});
export type TriedProblem = z.infer<typeof triedProblemSchema>;

/** The mapping of a sink in the file. */
export interface FileMapping {
  /** The keys of the sink that are its mapping. */
  readonly keys: readonly string[];
  readonly text: string;
  /** The sentence for a file in which the mapping cannot be replaced. */
  readonly notReplaced: string;
}

/** Returns the mapping of a sink in a file, or a sentence if it has none that can be edited. Pure. */
export function mappingKeysOf(file: string, sink: string): FileMapping | { readonly unknown: string } {
  const document = parseDocument(file, { prettyErrors: false });
  const type: unknown = document.errors.length > 0 ? undefined : document.getIn(['sinks', sink, 'type']);
  const known = typeof type === 'string' ? allSinks.get(type) : undefined;
  if (known === undefined) return { unknown: `the configuration file has no sink ${sink} of a known type` };
  const keys = known.mappingKeys;
  if (keys.length === 0)
    return { unknown: `a sink of the type ${known.type} sends items as they are, without a mapping` };
  const notReplaced = `the form in which the file writes sink ${sink} is not supported here: write each of its keys on a line of its own, or edit the file`;
  const text = mappingIn(file, sink, keys);
  return text === null ? { unknown: notReplaced } : { keys, text, notReplaced };
}

/** Returns the mistakes of a mapping's text that do not depend on the rest of the file. Pure. */
export function checkMappingText(text: string, keys: readonly string[]): TriedProblem[] {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), key: '' };
  };
  try {
    const { document, error } = parseYaml(text, lines);
    if (error !== undefined) {
      const place = at(error.offset);
      return [{ ...place, message: syntaxMessage(error.code, text.split('\n')[place.line - 1] ?? '') }];
    }
    let alias: number | undefined;
    visit(document, {
      Alias(_, { range }) {
        alias = range?.[0] ?? 0;
        return visit.BREAK;
      },
    });
    // The value of an alias is not known before the whole file is.
    if (alias !== undefined) return [{ ...at(alias), message: aliasMessage }];
  } catch (error) {
    if (!(error instanceof YamlLimitError)) throw error;
    return [{ ...at(error.offset), message: error.message }];
  }
  const found = keysIn(text);
  if (found === null) {
    return [{ line: 1, column: 1, key: '', message: `this must be the keys ${keys.join(' and ')}, each once` }];
  }
  return found
    .filter(({ key }) => !keys.includes(key))
    .map(({ key, line }) => {
      const nearest = nearestWord(key, keys);
      const rest =
        nearest === undefined ? `${keys.join(' and ')} are; edit the file for others` : `did you mean "${nearest}"?`;
      return { line, column: 1, key, message: `this key is not part of the mapping, ${rest}` };
    });
}
