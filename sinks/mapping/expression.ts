import jsonata from 'jsonata';
import { MappingError } from './mapping-error.js';
import type { MappingView } from './mapping-view.js';

/** Longest for one value of one item: what takes longer is a mistake, and every other item waits behind it. */
const longestMs = 200;
/** Calls within calls; a mapping has no need of more. */
const deepest = 200;

/** A JSONata expression of pigeonpost.yaml, compiled once. */
export class Expression {
  readonly #compiled: jsonata.Expression;

  /** @throws {SyntaxError} with what is wrong and at which position of the text; never quotes an item */
  constructor(readonly text: string) {
    try {
      this.#compiled = jsonata(text, { timeout: longestMs, stack: deepest });
    } catch (error) {
      const { message, position } = error as { message?: string; position?: number };
      throw new SyntaxError(`${message ?? 'not a JSONata expression'} (at character ${position ?? 0})`, {
        cause: error,
      });
    }
  }

  /** So it stands in the configuration that processes compare. */
  toJSON(): string {
    return this.text;
  }

  /**
   * The value for one item, as plain data; undefined: none.
   * @param key where the expression stands, for messages: sink and key path, e.g. `crm.records[0].properties.email`
   * @throws {MappingError} when it fails for this item, or takes too long
   */
  async evaluate(view: MappingView, key: string): Promise<unknown> {
    try {
      return plain(await this.#compiled.evaluate(view));
    } catch (error) {
      throw new MappingError(`mapping: ${key}: ${codeOf(error)}`, `${key} failed: ${reasonOf(error)}`);
    }
  }
}

/** JSONata marks its arrays and gives functions as values; what leaves is JSON. */
function plain(value: unknown): unknown {
  if (value === undefined || typeof value === 'function') return undefined;
  return JSON.parse(JSON.stringify(value)) as unknown;
}

/** JSONata's own message may quote a value of the item, so only its code and position are told. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^[A-Z]\d{4}$/.test(code) ? code : 'error';
}

function reasonOf(error: unknown): string {
  const { position } = error as { position?: unknown };
  return `JSONata ${codeOf(error)}${typeof position === 'number' ? ` at character ${position}` : ''}`;
}
