import { parsedJson } from '../network/read-answer.js';
import { retryAfterMs } from '../../base/retry-after.js';
import type { Failed } from '../records/reply.js';
import type { RestAnswer } from '../rest/rest-client.js';
import { type Fields, fieldsOf, type Result } from '../sink.js';

/** A problem that HubSpot reported. It contains only codes and names, because HubSpot's messages quote values. */
export interface Problem {
  /** E.g. VALIDATION_ERROR; empty if there is none. */
  readonly category: string;
  /** E.g. INVALID_EMAIL. */
  readonly code: string;
  /** The names of the properties that HubSpot refused. */
  readonly properties: readonly string[];
  readonly missingScopes: readonly string[];
}

/** The result of a call. */
export type Reply =
  | { readonly kind: 'ok'; readonly status: number; readonly body: Fields }
  /** HubSpot refused the request because of its content. It would refuse a repeat as well. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly problem: Problem;
      readonly correlationId: string | undefined;
    }
  | Failed;

/** The account exceeded a limit. `daily` lasts until midnight in the account's time zone, `short` for some seconds. */
export interface Limited {
  readonly kind: 'limited';
  readonly limit: 'daily' | 'short';
  readonly retryAfterMs: number | undefined;
  readonly correlationId: string | undefined;
}

/**
 * Classifies an answer. HTTP 423 means that a record is locked for some seconds. HTTP 477 means that HubSpot is moving
 * the account to another data centre. Source: HubSpot, "Error handling" and "Usage guidelines".
 */
export function classifyAnswer(
  answer: Pick<RestAnswer, 'status' | 'body' | 'retryAfter' | 'answeredAtMs' | 'requestId'>,
): Reply | Limited {
  const { status, body } = answer;
  const correlationId = correlationIdOf(answer);
  const wait = retryAfterMs(answer.retryAfter, answer.answeredAtMs);
  const failed = (result: Result, processed: 'no' | 'maybe' = 'no'): Failed => ({ kind: 'failed', processed, result });
  const retry = (afterMs: number | undefined, processed: 'no' | 'maybe'): Failed => {
    const detail = withCorrelationId(`HubSpot answered HTTP ${status}`, correlationId);
    return failed({ kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) }, processed);
  };
  if (status >= 200 && status < 300) return { kind: 'ok', status, body: fieldsOf(body) };
  const problem = problemOf(body);
  switch (status) {
    case 401: {
      const detail = 'HubSpot refused the token (HTTP 401): create a service key in HubSpot and put it into "token"';
      return failed({ kind: 'pause', cause: 'credential', detail: withCorrelationId(detail, correlationId) });
    }
    case 403:
      return failed(held(forbidden(problem), correlationId));
    case 423:
      return retry(wait ?? 2000, 'no');
    case 429: {
      const limit = fieldsOf(body).policyName === 'DAILY' ? 'daily' : 'short';
      return { kind: 'limited', limit, retryAfterMs: wait, correlationId };
    }
    case 477:
      return retry(wait ?? 60_000, 'no');
    case 408:
      return retry(wait, 'maybe');
  }
  if (status >= 400 && status < 500) return { kind: 'refused', status, problem, correlationId };
  return retry(wait, 'maybe'); // 5xx, and also 1xx and 3xx, which HubSpot's API does not send
}

function correlationIdOf({ body, requestId }: Pick<RestAnswer, 'body' | 'requestId'>): string | undefined {
  const id = fieldsOf(body).correlationId ?? requestId;
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : undefined;
}

/** Appends the id by which HubSpot's support finds the request. */
export function withCorrelationId(sentence: string, correlationId: string | undefined): string {
  return `${sentence}${correlationId === undefined ? '' : ` (correlation id ${correlationId})`}`;
}

/** Interval between attempts to write records of a kind that HubSpot refuses as a whole. */
const heldForMs = 10 * 60_000;

/**
 * Returns the result that holds back the changes of one entry of `records`, because HubSpot refuses all records of its
 * kind. They are tried again every ten minutes and delay no other changes.
 */
export function held(detail: string, correlationId: string | undefined): Extract<Result, { kind: 'unsent' }> {
  return { kind: 'unsent', afterMs: heldForMs, detail: withCorrelationId(detail, correlationId) };
}

function forbidden({ missingScopes }: Problem): string {
  return missingScopes.length > 0
    ? `HubSpot refused (HTTP 403): the key lacks the scope ${missingScopes.join(', ')}. Add it to the service key in HubSpot`
    : 'HubSpot refused (HTTP 403): the key may not do this. Compare its scopes with docs/sinks/hubspot.md';
}

/**
 * Reads the problem of one record from an element of `errors`, or from the body of a refused call that had only one
 * record.
 */
export function problemOf(found: unknown): Problem {
  const body = fieldsOf(found);
  const details = [...listOf(body.errors), ...quotedIn(body.message)].map(fieldsOf);
  const contexts = [body, ...details].map(({ context }) => fieldsOf(context));
  const names = (key: string, pattern: RegExp): string[] => [
    ...new Set(contexts.flatMap((context) => listOf(context[key])).filter((text) => matches(text, pattern))),
  ];
  const properties = [
    ...names('propertyName', propertyPattern),
    ...details.map(({ name }) => name).filter((name) => matches(name, propertyPattern)),
  ];
  const code = [...details.flatMap((each) => [each.code, each.error, each.subCategory]), body.subCategory].find(
    (each) => matches(each, codePattern),
  );
  return {
    category: matches(body.category, codePattern) ? body.category : '',
    code: code?.split('.').at(-1) ?? '',
    properties: [...new Set(properties)].slice(0, 5),
    missingScopes: [...names('requiredGranularScopes', scopePattern), ...names('requiredScopes', scopePattern)],
  };
}

const propertyPattern = /^[a-z][a-z0-9_]{0,99}$/;
const codePattern = /^[A-Za-z][A-Za-z_.]{2,80}$/;
const scopePattern = /^[a-z][a-z0-9._-]{2,80}$/;

/** Whether a text has the form of a code or name. No other text of an answer is shown. */
function matches(text: unknown, pattern: RegExp): text is string {
  return typeof text === 'string' && pattern.test(text);
}

/** Reads the list of invalid properties, which HubSpot sends as JSON inside the message. */
function quotedIn(message: unknown): readonly unknown[] {
  const quoted =
    typeof message === 'string' ? /^Property values were not valid: (\[.*\])\s*$/s.exec(message)?.[1] : undefined;
  return listOf(parsedJson(quoted)); // none if HubSpot cut the message off: only the category is known then
}

/** Returns the value if it is an array, otherwise an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
