import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import type { SaveOptions } from './record-faults.js';
import type { SalesforceOrg } from './salesforce-org.js';
import type { SObjectType } from './sobject-type.js';

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
  /** Segments of the path after the version. */
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

/** Documented: "Duplicate Rule Header", since version 52.0; "Assignment Rule Header", whose default is TRUE. */
export function saveOptions({ request: { headers }, version }: Call): SaveOptions {
  const allowDuplicates = /allowSave\s*=\s*true/i.test(headers['sforce-duplicate-rule-header'] ?? '');
  const assign = headers['sforce-auto-assign'] ?? 'TRUE';
  return {
    allowDuplicates: allowDuplicates && Number(version.slice(1)) >= 52,
    assign: /^true$/i.test(assign) ? 'active' : /^false$/i.test(assign) ? 'none' : assign,
  };
}

/**
 * The object, for what the user wants to do with it.
 * @throws {SalesforceRefusal} 404 for one that does not exist or that the user may not see; else for what it may not do
 */
export function objectFor({ org }: Call, name: string, doing?: 'createable' | 'updateable' | 'deletable'): SObjectType {
  const type = org.org.type(name);
  if (org.withheldObjects.has(type.name)) throw notFound();
  if (doing !== undefined && org.permissions[type.name]?.[doing] === false) {
    throw new SalesforceRefusal('INSUFFICIENT_ACCESS_OR_READONLY', `no access to ${type.name}: not ${doing}`);
  }
  return type;
}

/** A refusal by Salesforce: of the whole request, or one record of a collection. */
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

  /** As the body of an answer: a list of one. */
  body(): unknown[] {
    return [{ message: this.message, errorCode: this.code, ...(this.fields.length > 0 && { fields: this.fields }) }];
  }

  /** As the result of one record of a collection. */
  result(): Record<string, unknown> {
    return { success: false, errors: [{ statusCode: this.code, message: this.message, fields: this.fields }] };
  }
}

export function notFound(message = 'The requested resource does not exist'): SalesforceRefusal {
  return new SalesforceRefusal('NOT_FOUND', message, [], 404);
}
