import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { SalesforceRefusal } from './salesforce-refusal.js';
import type { SalesforceOrg } from './salesforce-org.js';

/** A request with an open session, on its way to its route. */
export interface Call {
  readonly org: SalesforceOrg;
  readonly request: DoubleRequest;
  /** `v60.0`, as in the path. */
  readonly version: string;
  /** The path's variable parts, decoded. */
  readonly parts: readonly string[];
}

export interface Route {
  readonly method: string;
  /** Of the path behind the version. */
  readonly path: RegExp;
  readonly answer: (call: Call) => DoubleAnswer;
}

/** The body as a JSON object. @throws {SalesforceRefusal} 415 for another content type, 400 for what is no object */
export function jsonBody(call: Call): Record<string, unknown> {
  const contentType = call.request.headers['content-type'] ?? '';
  if (!contentType.includes('application/json')) {
    throw new SalesforceRefusal('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be application/json', [], 415);
  }
  try {
    const json: unknown = JSON.parse(call.request.body);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  } catch {
    // answered below, as any other body that is no object
  }
  throw new SalesforceRefusal('JSON_PARSER_ERROR', 'The HTTP entity body is required to be a JSON object');
}

/** Whether an alert of a duplicate rule is to be passed over. Documented: "Duplicate Rule Header". */
export function allowsDuplicates(call: Call): boolean {
  return /allowSave\s*=\s*true/i.test(call.request.headers['sforce-duplicate-rule-header'] ?? '');
}
