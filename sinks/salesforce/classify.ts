import { refusesContent } from '../network/read-answer.js';
import { retryAfterMs } from '../../base/retry-after.js';
import type { FailedResult } from './operation.js';
import type { RestAnswer } from '../rest/rest-client.js';
import type { Result } from '../sink.js';

/** A response to a call. */
export type Answer = Pick<RestAnswer, 'status' | 'body' | 'answeredAtMs'> &
  Partial<Pick<RestAnswer, 'requestId' | 'retryAfter'>>;

/** Wait after the org's daily limit is reached. It counts the last 24 hours, so capacity returns only gradually. */
const DAILY_LIMIT_WAIT_MS = 60 * 60 * 1000;
/**
 * Wait if the org runs too many long requests at the same time. New requests are accepted as soon as some of these end.
 */
const CONCURRENCY_WAIT_MS = 10_000;
const UNAVAILABLE_WAIT_MS = 30_000;

/** The meaning of a response for the request, for its session, or for all requests. */
type AnswerMeaning =
  | { readonly kind: 'answered' }
  | { readonly kind: 'session-ended' }
  /** Salesforce refused the whole request, possibly because of one of its records. */
  | { readonly kind: 'refused'; readonly code: string; readonly fields: readonly string[] }
  | { readonly kind: 'limited'; readonly afterMs: number; readonly detail: string }
  | { readonly kind: 'failed'; readonly result: FailedResult };

/**
 * Classifies the response to a call as a whole. If the call succeeded (2xx), the body has the result of each record.
 * Source: Salesforce, REST API Developer Guide, "Status Codes and Error Responses".
 * @param object the object to which the call's path refers
 */
export function classifyAnswer(
  { status, body, requestId, retryAfter, answeredAtMs }: Answer,
  object?: string,
): AnswerMeaning {
  const [said] = saidErrors(body);
  const code = said?.code ?? '';
  const at = requestId === undefined ? '' : `, request ${requestId}`;
  const http = `HTTP ${status}${code === '' ? '' : ` ${code}`}${at}`;
  if (status >= 200 && status < 300) {
    if (body !== undefined || status === 204) return { kind: 'answered' };
    return retry(`Salesforce answered HTTP ${status} without JSON${at}`);
  }
  if (status === 401) return { kind: 'session-ended' };
  if (code === 'REQUEST_LIMIT_EXCEEDED') {
    // Two limits have this code. Only the message shows which one was reached.
    const [afterMs, what] = /concurrent/i.test(said!.message)
      ? [CONCURRENCY_WAIT_MS, 'too many long requests of the org run at the same time']
      : [
          retryAfterMs(retryAfter, answeredAtMs) ?? DAILY_LIMIT_WAIT_MS,
          'the org has used all API requests that it may make in 24 hours',
        ];
    return { kind: 'limited', afterMs, detail: `${what} (${code}${at})` };
  }
  if (status === 403) {
    return pause(
      'credential',
      `Salesforce forbids the request (${http}): give the user access to the API and to the objects`,
    );
  }
  // For Salesforce, an object that the user may not see does not exist. It answers 404 in both cases.
  if (status === 404 && object !== undefined) {
    const needs = object.startsWith('Campaign') ? '; campaigns need "Marketing User" as well' : '';
    const advice = `give the user read, create and edit on ${object} in a permission set${needs}`;
    return pause('credential', `the user has no access to ${object} (${http}): ${advice}`);
  }
  if (status === 404) {
    const advice = 'check "apiVersion", and that the user may see the external id fields';
    return retry(`Salesforce has no such address (${http}): ${advice}`);
  }
  if (status === 410) {
    return pause('gone', `Salesforce no longer has this version of its API (${http}): set "apiVersion" to a later one`);
  }
  // Salesforce's edge network has no route to the org. This status is not about the records.
  if (status === 420) return retry(`Salesforce cannot route the request (HTTP 420${at})`, UNAVAILABLE_WAIT_MS);
  if (status >= 300 && status < 400) {
    // A redirect is not followed, because the token and personal data would go to a host that the configuration does
    // not name.
    const advice = 'and pigeonpost does not follow redirects: check "loginUrl"';
    return retry(`Salesforce redirects (HTTP ${status}${at}), ${advice}`);
  }
  if (refusesContent(status) && !passingCodes.has(code)) {
    return { kind: 'refused', code: code === '' ? `HTTP_${status}` : code, fields: said?.fields ?? [] };
  }
  const afterMs = retryAfterMs(retryAfter, answeredAtMs) ?? (status === 503 ? UNAVAILABLE_WAIT_MS : undefined);
  return retry(`Salesforce answered ${http}`, afterMs);
}

function pause(cause: 'credential' | 'gone', detail: string): AnswerMeaning {
  return { kind: 'failed', result: { kind: 'pause', cause, detail } };
}

function retry(detail: string, afterMs?: number): AnswerMeaning {
  return { kind: 'failed', result: { kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) } };
}

/** An error of a request or a record as Salesforce reports it. */
export interface SaidError {
  /** Empty if there is no readable code. */
  readonly code: string;
  /** API names of fields. */
  readonly fields: readonly string[];
  /** Used only to distinguish errors with the same code. Never shown, because it may quote values. */
  readonly message: string;
}

/** Returns the errors from a response's body or a record's `errors`; none if they have an unknown form. */
export function saidErrors(found: unknown): SaidError[] {
  if (!Array.isArray(found)) return [];
  return found.map((each: unknown) => {
    const { errorCode, statusCode, fields, message } = (each ?? {}) as Record<string, unknown>;
    const code = errorCode ?? statusCode;
    return {
      // Only codes and names are accepted, because any other text could be a value.
      code: typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,80}$/.test(code) ? code : '',
      fields: Array.isArray(fields)
        ? fields.filter((field): field is string => typeof field === 'string' && /^[A-Za-z][\w.]{0,80}$/.test(field))
        : [],
      message: typeof message === 'string' ? message : '',
    };
  });
}

/**
 * Codes of temporary errors, such as a record that another transaction has locked, or a lack of resources at
 * Salesforce. Source: Salesforce, SOAP API Developer Guide, "Core Data Types", StatusCode and ExceptionCode.
 */
const passingCodes: ReadonlySet<string> = new Set([
  'UNABLE_TO_LOCK_ROW',
  'REQUEST_LIMIT_EXCEEDED',
  'SERVER_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'QUERY_TIMEOUT',
  'REQUEST_RUNNING_TOO_LONG',
  'EXCEEDED_ID_LIMIT',
  'PROCESSING_HALTED',
  'ALL_OR_NONE_OPERATION_ROLLED_BACK',
  'API_CURRENTLY_DISABLED',
  'STORAGE_LIMIT_EXCEEDED',
  'UNKNOWN_EXCEPTION',
]);

/**
 * Codes that say that there is no record with this id: it was deleted or merged into another, or the user may not see
 * it.
 */
const gone: ReadonlySet<string> = new Set([
  'ENTITY_IS_DELETED',
  'NOT_FOUND',
  'INVALID_CROSS_REFERENCE_KEY',
  'MALFORMED_ID',
]);

type RecordFailure =
  | { readonly kind: 'gone' }
  /** The lead was converted to a contact. */
  | { readonly kind: 'converted' }
  /** Salesforce already has another such record or membership. */
  | { readonly kind: 'duplicate' | 'other'; readonly result: Extract<Result, { kind: 'retry' | 'rejected' }> };

const advice: Readonly<Record<string, string>> = {
  DUPLICATES_DETECTED:
    'a duplicate rule of the org found a record like it: merge the two, or set "duplicateAlerts: save" to pass over rules that only alert, then redrive; a rule that blocks has to be changed in Salesforce',
  DUPLICATE_VALUE: 'another record has the same value in a field that is unique',
  DUPLICATE_EXTERNAL_ID: 'several records have this external id: make the field unique',
  REQUIRED_FIELD_MISSING: 'the org requires a field that the mapping does not provide',
  FIELD_CUSTOM_VALIDATION_EXCEPTION: 'a validation rule of the org refuses the record',
  STRING_TOO_LONG: 'the value is longer than the field allows',
  INVALID_EMAIL_ADDRESS: 'Salesforce does not accept the value as an e-mail address',
  INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST: 'the value is not in the picklist',
  INVALID_FIELD_FOR_INSERT_UPDATE: 'the user may not write the field',
  INSUFFICIENT_ACCESS_OR_READONLY: 'the user may not write the record',
};

/**
 * Classifies the refusal of one record. Source: Salesforce, SOAP API Developer Guide, "Core Data Types", StatusCode.
 * @param what the name of the object, for the detail
 */
export function classifyRecordErrors(errors: readonly SaidError[], what: string, requestId?: string): RecordFailure {
  const said = errors[0] ?? { code: '', fields: [], message: '' };
  const code = said.code === '' ? 'unknown' : said.code;
  const at = requestId === undefined ? '' : `, request ${requestId}`;
  if (code === 'CANNOT_UPDATE_CONVERTED_LEAD') return { kind: 'converted' };
  if (errors.some((error) => passingCodes.has(error.code))) {
    return {
      kind: 'other',
      result: { kind: 'retry', detail: `Salesforce could not write a ${what} now (${code}${at})` },
    };
  }
  // If the error names a field, the missing record is the one to which that field refers, and not this record.
  if (gone.has(code) && said.fields.every((field) => field === 'Id' || field === 'id')) return { kind: 'gone' };
  const fields = said.fields.slice(0, 4).join('+');
  const result: Extract<Result, { kind: 'rejected' }> = {
    kind: 'rejected',
    cause: `salesforce:${code}${fields === '' ? '' : `:${fields}`}`,
    detail: `Salesforce refused a ${what}: ${advice[code] ?? 'see the code'} (${code}${fields === '' ? '' : `, ${fields}`}${at})`,
  };
  return { kind: code === 'DUPLICATE_VALUE' ? 'duplicate' : 'other', result };
}
