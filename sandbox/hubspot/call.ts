import { isObject, parsedObject } from '../json.js';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import type { Account } from './account.js';

/** A request that passed the checks of its token and the limits, as its route receives it. */
export interface Call {
  readonly account: Account;
  readonly request: DoubleRequest;
  /** The path's variable parts, decoded. */
  readonly parts: readonly string[];
  /** `v3`, or a date version such as `2026-09`. */
  readonly version: string;
  /** The app that the token belongs to. Marketing events belong to the app that created them. */
  readonly appId: string;
}

/** Date versions report the errors of single records in a 200. */
export function isDated({ version }: Call): boolean {
  return version !== 'v3';
}

/** Documented: from 2026-09 on, writes follow the rules that an administrator of the account has set. */
export function enforcesRules({ version }: Call): boolean {
  return version !== 'v3' && version >= '2026-09';
}

/**
 * Refuses fields that the documented request lacks.
 * @throws {HubSpotRefusal} 400
 */
export function onlyFields(input: Readonly<Record<string, unknown>>, allowed: readonly string[]): void {
  const other = Object.keys(input).find((name) => !allowed.includes(name));
  if (other !== undefined) throw invalidInput(`Invalid input JSON: unknown field "${other}"`);
}

export interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** One of these scopes is enough; `undefined` if any token is sufficient. */
  readonly scopes: (call: Call) => readonly string[] | undefined;
  readonly answer: (call: Call) => DoubleAnswer;
  /** Documented query parameters; none if absent. */
  readonly query?: readonly string[];
}

/** Returns the body as a JSON object. @throws {HubSpotRefusal} 400 if it is not one */
export function jsonBody(call: Call): Record<string, unknown> {
  const contentType = call.request.headers['content-type'] ?? '';
  if (!contentType.includes('application/json'))
    throw invalidInput('Invalid input: Content-Type must be application/json');
  const json = parsedObject(call.request.body);
  if (json === undefined) throw invalidInput('Invalid input JSON on line 1, column 1: an object is expected');
  return json;
}

/**
 * Returns the inputs of a batch whose body and inputs have only the documented fields.
 * @throws {HubSpotRefusal} 400
 */
export function onlyInputs(call: Call, max: number, allowed: readonly string[]): Record<string, unknown>[] {
  const body = jsonBody(call);
  onlyFields(body, ['inputs']);
  const inputs = inputsOf(body, max);
  for (const input of inputs) onlyFields(input, allowed);
  return inputs;
}

/** Returns a batch's inputs. @throws {HubSpotRefusal} 400 for none, for more than `max`, and for a non-object */
export function inputsOf(body: Readonly<Record<string, unknown>>, max: number): Record<string, unknown>[] {
  const { inputs } = body;
  if (!Array.isArray(inputs)) throw invalidInput('Some required fields were not set: [inputs]');
  if (inputs.length === 0) throw invalidInput('inputs must not be empty');
  if (inputs.length > max) {
    throw invalidInput(
      `The maximum number of inputs supported in a batch request is ${max}. Received ${inputs.length}.`,
    );
  }
  if (!inputs.every(isObject)) throw invalidInput('Invalid input JSON: an input is not an object');
  return inputs;
}

/** Returns a required text field. @throws {HubSpotRefusal} 400 */
export function requiredText(input: Readonly<Record<string, unknown>>, field: string): string {
  const value = input[field];
  if (typeof value !== 'string' || value === '') throw invalidInput(`Some required fields were not set: [${field}]`);
  return value;
}

/**
 * Returns property values, documented as text to text.
 * @throws {HubSpotRefusal} 400 for anything else, null and numbers included
 */
export function propertyValues(input: Readonly<Record<string, unknown>>, field = 'properties'): Record<string, string> {
  const values = input[field];
  if (!isObject(values)) throw invalidInput(`Some required fields were not set: [${field}]`);
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'string') throw invalidInput(`Invalid input JSON: "${name}" of ${field} is not a string`);
  }
  return values as Record<string, string>;
}

/** Returns a list of texts, which may be empty. @throws {HubSpotRefusal} 400 if it is missing or anything else */
export function texts(body: Readonly<Record<string, unknown>>, field: string): string[] {
  const value = body[field];
  if (value === undefined) throw invalidInput(`Some required fields were not set: [${field}]`);
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string')) {
    throw invalidInput(`Invalid input JSON: ${field} is not a list of strings`);
  }
  return value as string[];
}

/** One entry of `errors` in a refusal: HubSpot names the property in `context.propertyName`. */
interface RefusalDetail {
  readonly message: string;
  readonly code?: string;
  readonly in?: string;
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

/** A refusal by HubSpot, before it becomes the answer or one record's entry in a batch's `errors`. */
export class HubSpotRefusal extends Error {
  override readonly name = 'HubSpotRefusal';

  constructor(
    readonly status: number,
    readonly category: string,
    message: string,
    readonly details: readonly RefusalDetail[] = [],
    readonly context?: Readonly<Record<string, readonly string[]>>,
  ) {
    super(message);
  }

  /** Returns the body of an answer. Documented in "Error handling": any field may be missing. */
  body(correlationId: string): Record<string, unknown> {
    return {
      status: 'error',
      message: this.message,
      correlationId,
      ...(this.context !== undefined && { context: this.context }),
      ...(this.details.length > 0 && { errors: this.details }),
      ...(this.category === 'MISSING_SCOPES' && { links: { scopes: 'https://developers.hubspot.com/scopes' } }),
      category: this.category,
    };
  }

  /** Returns an entry of a batch's `errors` that names the input concerned. */
  entry(about: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
    return {
      status: 'error',
      category: this.category,
      message: this.message,
      context: { ...this.context, ...about },
      ...(this.details.length > 0 && { errors: this.details }),
    };
  }
}

/** Builds a 400 of the category that HubSpot uses for every invalid input. */
export function invalidInput(message: string, context?: Readonly<Record<string, readonly string[]>>): HubSpotRefusal {
  return new HubSpotRefusal(400, 'VALIDATION_ERROR', message, [], context);
}

export function notFound(message = 'resource not found'): HubSpotRefusal {
  return new HubSpotRefusal(404, 'OBJECT_NOT_FOUND', message);
}
