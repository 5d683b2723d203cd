import { parsedObject } from '../json.js';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import type { SaveOptions } from './record-rules.js';
import type { SalesforceOrg } from './salesforce-org.js';
import type { SObjectType } from './sobject-type.js';

/** A request with a valid session, as its route receives it. */
export interface Call {
  readonly org: SalesforceOrg;
  readonly request: DoubleRequest;
  /** The API version as in the path: `v60.0`. */
  readonly version: string;
  /** The path's variable parts, decoded. */
  readonly parts: readonly string[];
}

export interface Route {
  readonly method: string;
  /** Matches the path after the version. */
  readonly path: RegExp;
  readonly answer: (call: Call) => DoubleAnswer;
}

/** Returns the body. @throws {SalesforceRefusal} 415 for another content type, 400 if it is not a JSON object */
export function jsonBody(call: Call): Record<string, unknown> {
  const contentType = call.request.headers['content-type'] ?? '';
  if (!contentType.includes('application/json')) {
    throw new SalesforceRefusal('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be application/json', [], 415);
  }
  const json = parsedObject(call.request.body);
  if (json !== undefined) return json;
  throw new SalesforceRefusal('JSON_PARSER_ERROR', 'The HTTP entity body is required to be a JSON object');
}

/** Reads the documented headers "Duplicate Rule" (from version 52.0 on) and "Assignment Rule" (TRUE by default). */
export function saveOptions({ request: { headers }, version }: Call): SaveOptions {
  const allowDuplicates = /allowSave\s*=\s*true/i.test(headers['sforce-duplicate-rule-header'] ?? '');
  const assign = headers['sforce-auto-assign'] ?? 'TRUE';
  return {
    allowDuplicates: allowDuplicates && Number(version.slice(1)) >= 52,
    assign: /^true$/i.test(assign) ? 'active' : /^false$/i.test(assign) ? 'none' : assign,
  };
}

/**
 * Returns the object with this name, and checks that the user has the permission.
 * @throws {SalesforceRefusal} 404 if the object does not exist or is hidden from the user, 400 without the permission
 */
export function objectFor(
  { org }: Call,
  name: string,
  permission?: 'createable' | 'updateable' | 'deletable',
): SObjectType {
  const type = org.org.type(name);
  if (org.withheldObjects.has(type.name)) throw notFound();
  if (permission !== undefined && org.permissions[type.name]?.[permission] === false) {
    throw new SalesforceRefusal('INSUFFICIENT_ACCESS_OR_READONLY', `no access to ${type.name}: not ${permission}`);
  }
  return type;
}

/** A refusal by Salesforce of the whole request or of one record in a collection. */
export class SalesforceRefusal extends Error {
  override readonly name = 'SalesforceRefusal';

  constructor(
    readonly code: string,
    message: string,
    readonly fields: readonly string[] = [],
    /** Status of the response, if the whole request is refused. */
    readonly status = 400,
  ) {
    super(message);
  }

  /** Returns the body of an answer: a list with one error. */
  body(): unknown[] {
    return [{ message: this.message, errorCode: this.code, ...(this.fields.length > 0 && { fields: this.fields }) }];
  }

  /** Returns the result of one record in a collection. */
  result(): Record<string, unknown> {
    return { success: false, errors: [{ statusCode: this.code, message: this.message, fields: this.fields }] };
  }
}

export function notFound(message = 'The requested resource does not exist'): SalesforceRefusal {
  return new SalesforceRefusal('NOT_FOUND', message, [], 404);
}
