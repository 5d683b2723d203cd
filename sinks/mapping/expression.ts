import jsonata from 'jsonata';
import type { SettingPlace } from '../../config/parse-sinks.js';
import { checkSyntax, type SyntaxNode } from './check-syntax.js';
import { evaluationLimits, inTurn, LinearRegExp, StepCounter } from './evaluation-limits.js';
import {
  mappingFailureCode,
  failureInWords,
  FunctionError,
  FailedMapping,
  type MappingError,
} from './mapping-error.js';
import { mappingFunctions, withheldFunctions } from './mapping-functions.js';
import type { Change } from '../change.js';
import type { Fields, Subject } from '../sink.js';

/**
 * A JSONata expression of pigeonpost.yaml, compiled once. Its steps, depth, sizes and time are limited,
 * and its regular expressions run in time proportional to the length of the text (evaluation-limits.ts). For the same
 * change, it always returns the same value.
 */
export class Expression {
  readonly #compiled: jsonata.Expression;
  readonly #steps = new StepCounter();
  #place: SettingPlace | undefined;

  /** Compiles an expression. @throws {SyntaxError} with the error and its position in the text */
  constructor(readonly text: string) {
    this.#compiled = compile(text, this.#steps);
    checkSyntax(this.tree);
    // checkSyntax refuses these names, unless the expression defines them itself. This replaces the functions in the
    // outer frame as well, so that no look-up of the name finds them.
    for (const name of Object.keys(withheldFunctions)) {
      this.#compiled.registerFunction(name, () => {
        throw new FunctionError('withheld');
      });
    }
    for (const [name, call] of Object.entries(mappingFunctions)) {
      this.#compiled.registerFunction(name, function (...given: unknown[]) {
        return call(this.environment.lookup('$') as MappingView, ...given); // in the outer frame, `$` is the input of the evaluation
      });
    }
  }

  get tree(): SyntaxNode {
    return this.#compiled.ast() as SyntaxNode;
  }

  /** The expression's place in pigeonpost.yaml; undefined if it comes from elsewhere. */
  get place(): SettingPlace | undefined {
    return this.#place;
  }

  /** Sets the expression's place. config/parse-sinks.ts calls this method when the file is read. */
  standsAt(place: SettingPlace): void {
    this.#place = place;
  }

  /** Returns the text, by which configurations are compared: expressions with the same text are the same mapping. */
  toJSON(): string {
    return this.text;
  }

  /**
   * Returns the value for one item as plain data; undefined if there is none.
   * @param key the expression's sink and key path, for messages, such as `crm.records[0].properties.email`
   * @param read converts the value to the required type (`Reader`); by default, any value is returned
   * unchanged
   * @throws {MappingError} if the expression fails for this item, exceeds a limit, or its value cannot be converted
   */
  async evaluate<Value = unknown>(
    view: MappingView,
    key: string,
    read: (value: unknown, key: string) => Value = (value) => value as Value,
  ): Promise<Value> {
    return await inTurn(async () => {
      this.#steps.restart();
      try {
        return read(plainValue(await this.#compiled.evaluate(view)), key);
      } catch (error) {
        throw this.#failure(error, view, key);
      }
    });
  }

  /**
   * Whether a condition is true for one item, by the rules of $boolean. A condition that fails does not count as false:
   * this method throws, and the change becomes a dead letter.
   * @throws {MappingError} as `evaluate`
   */
  async holds(view: MappingView, key: string): Promise<boolean> {
    return booleanValue(await this.evaluate(view, key));
  }

  #failure(error: unknown, { change }: MappingView, key: string): MappingError {
    const line = this.#place === undefined ? '' : ` (line ${this.#place.line} of the configuration)`;
    const where = `${line} for ${change.list}:${change.key}`;
    if (error instanceof FailedMapping) return error.placed(where);
    const code = mappingFailureCode(error);
    const { position } = (error ?? {}) as { position?: unknown };
    const at = typeof position === 'number' ? `, at character ${position}` : '';
    return new FailedMapping(key, code, `failed: ${failureInWords(code)}${at}`, where);
  }
}

function compile(text: string, steps: StepCounter): jsonata.Expression {
  try {
    // The type requires RegExp's constructor, but JSONata uses only `exec` and `lastIndex`.
    const RegexEngine = LinearRegExp as unknown as RegExpConstructor;
    // Object.assign keeps the getter, because JSONata must read `stack` from this object at each step
    return jsonata(text, Object.assign(steps.options, { RegexEngine }));
  } catch (error) {
    const { message, position } = error as { message?: string; position?: number };
    throw new SyntaxError(`${message ?? 'not a JSONata expression'} (at character ${position ?? 0})`, { cause: error });
  }
}

const deepest = 50;

/**
 * Converts a result of JSONata to plain data. Removes the marks that JSONata adds to its lists. It can also return
 * functions, which count as missing.
 * @throws {FunctionError} `not-a-number` after a division by zero: JSON would turn it into null, which clears a
 * property; `too-large` for a value that no vendor accepts
 */
function plainValue(value: unknown): unknown {
  let left: number = evaluationLimits.characters;
  const spend = (cost: number): void => {
    left -= cost;
    if (left < 0) throw new FunctionError('too-large');
  };
  const copy = (each: unknown, depth: number): unknown => {
    if (depth > deepest) throw new FunctionError('too-large');
    spend(typeof each === 'string' ? each.length : 1);
    if (typeof each === 'function' || each === undefined) return undefined;
    if (typeof each === 'number' && !Number.isFinite(each)) throw new FunctionError('not-a-number');
    if (typeof each !== 'object' || each === null) return each;
    if (Array.isArray(each)) return each.map((entry) => copy(entry, depth + 1) ?? null);
    if ('_jsonata_function' in each || '_jsonata_lambda' in each) return undefined;
    return Object.fromEntries(
      Object.entries(each)
        .map(([name, entry]) => {
          spend(name.length);
          return [name, copy(entry, depth + 1)] as const;
        })
        .filter(([, entry]) => entry !== undefined),
    );
  };
  return copy(value, 0);
}

/**
 * Whether a value counts as true, as in JSONata's $boolean. Missing values, null, 0, empty texts, lists without a true
 * entry, empty objects and functions count as false. Source: JSONata, "Boolean functions", $boolean.
 */
export function booleanValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(booleanValue);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'function' ? false : Boolean(value);
}

/**
 * Converts the result of an expression into the value of a vendor's property. Undefined (do not write) and null (clear)
 * stay as they are. A reader refuses a value whose meaning it would have to guess, because a wrong value in a CRM is
 * worse than a dead letter. If a reader is passed to `Expression.evaluate` as `read`, its error messages contain line
 * and item.
 *
 * @param key the expression's place, such as `crm.records[0].properties.email`
 * @throws {MappingError} with the types that were found and expected, never the value
 */
type Reader<Read> = (value: unknown, key: string) => Read | null | undefined;

/**
 * Reads a text. Numbers, true and false are written as in JSON. The entries of a list are joined with semicolons, which
 * is how HubSpot and Salesforce expect several selected options.
 */
export const textValue: Reader<string> = (value, key) => {
  if (isAbsent(value)) return value;
  if (isScalar(value)) return String(value);
  if (Array.isArray(value) && value.every(isScalar)) return value.map(String).join(';');
  throw refusal(key, 'not-a-text', 'a text, a number, true, false, or a list of these', value);
};

/** Reads a number, also from a text that contains one. An empty text clears the property. */
export const numberValue: Reader<number> = (value, key) => {
  if (isAbsent(value)) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') {
    const text = value.trim();
    if (text === '') return null;
    // stricter than Number(), which also accepts 0x10; a comma is refused, because it may separate decimals or
    // thousands
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))) return Number(text);
  }
  throw refusal(key, 'not-a-number', 'a number', value);
};

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function refusal(key: string, code: string, wanted: string, value: unknown): FailedMapping {
  return new FailedMapping(key, code, `returned ${kindOf(value)}, but the sink needs ${wanted}`);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? 'an object' : typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`;
}

/** The data that mappings and conditions can read. Its names are a contract with the authors of pigeonpost.yaml. */
export interface MappingView {
  readonly item: Fields | null;
  readonly previous: Fields | null;
  /**
   * The attendee's record, with the profile fields at its top level under the service's names. If the item is an
   * attendee's record, it is the same record.
   */
  readonly attendee: Fields | null;
  readonly session: Fields | null;
  readonly pigeonhole: Fields | null;
  readonly change: Change;
}

export function mappingView({ change, previous, attendee, session, pigeonhole }: Subject): MappingView {
  const person = change.list === 'attendees' ? change.data : attendee;
  return { item: change.data, previous, attendee: person, session, pigeonhole, change };
}
