import { fieldsOf, type Result } from '../sink.js';
import { retryAfterMs } from '../network/read-answer.js';

/** An answer of HubSpot's API. */
export interface HubSpotAnswer {
  readonly status: number;
  /** Parsed; undefined if it is not JSON. */
  readonly body: unknown;
  /** The `Retry-After` header as received. */
  readonly retryAfter: string | undefined;
  readonly correlationId: string | undefined;
  /** The time of the answer, Unix time in ms. */
  readonly answeredAtMs: number;
}

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

export type Verdict =
  | { readonly kind: 'ok' }
  /** HubSpot refused the request because of its content. It would refuse a repeat as well. */
  | { readonly kind: 'refused'; readonly problem: Problem }
  /**
   * The account exceeded a limit. `daily` lasts until midnight in the account's time zone, `short` for some seconds.
   */
  | { readonly kind: 'limited'; readonly limit: 'daily' | 'short'; readonly retryAfterMs: number | undefined }
  /**
   * A failure of the account or of HubSpot, whatever the request contained. `processed` says whether the request may
   * have taken effect nevertheless.
   */
  | { readonly kind: 'failed'; readonly result: Result; readonly processed: 'no' | 'maybe' };

/**
 * Classifies an answer. HTTP 423 means that a record is locked for some seconds. HTTP 477 means that HubSpot is moving
 * the account to another data centre. Source: HubSpot, "Error handling" and "Usage guidelines".
 */
export function classifyAnswer(answer: HubSpotAnswer): Verdict {
  const { status, body, correlationId } = answer;
  const said = (sentence: string): string => withCorrelationId(sentence, correlationId);
  const wait = retryAfterMs(answer.retryAfter, answer.answeredAtMs);
  const retry = (afterMs: number | undefined, processed: 'no' | 'maybe'): Verdict => ({
    kind: 'failed',
    processed,
    result: {
      kind: 'retry',
      detail: said(`HubSpot answered HTTP ${status}`),
      ...(afterMs !== undefined && { afterMs }),
    },
  });
  const pause = (detail: string): Verdict => ({
    kind: 'failed',
    processed: 'no',
    result: { kind: 'pause', cause: 'credential', detail: said(detail) },
  });
  if (status >= 200 && status < 300) return { kind: 'ok' };
  const problem = problemOf(body);
  switch (status) {
    case 401:
      return pause('HubSpot refused the token (HTTP 401): create a service key in HubSpot and put it into "token"');
    case 403:
      return { kind: 'failed', processed: 'no', result: held(said(forbidden(problem))) };
    case 423:
      return retry(wait ?? 2000, 'no');
    case 429:
      return { kind: 'limited', limit: policyOf(body) === 'DAILY' ? 'daily' : 'short', retryAfterMs: wait };
    case 477:
      return retry(wait ?? 60_000, 'no');
    case 408:
      return retry(wait, 'maybe');
  }
  if (status >= 400 && status < 500) return { kind: 'refused', problem };
  return retry(wait, 'maybe'); // 5xx, and also 1xx and 3xx, which HubSpot's API does not send
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
export function held(detail: string): Extract<Result, { kind: 'unsent' }> {
  return { kind: 'unsent', afterMs: heldForMs, detail };
}

/** Whether a result holds back one entry of `records`, and not the whole operation. */
export function isHeld(result: Result): result is Extract<Result, { kind: 'unsent' }> {
  return result.kind === 'unsent' && result.detail !== undefined;
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
  const names = (key: string, pattern: RegExp): string[] =>
    [
      ...new Set(contexts.flatMap((context) => listOf(context[key])).filter((text) => matches(text, pattern))),
    ] as string[];
  const properties = [
    ...names('propertyName', propertyPattern),
    ...details.map(({ name }) => name).filter((name): name is string => matches(name, propertyPattern)),
  ];
  const code = [...details.flatMap((each) => [each.code, each.error, each.subCategory]), body.subCategory].find(
    (each) => matches(each, codePattern),
  );
  return {
    category: matches(body.category, codePattern) ? (body.category as string) : '',
    code: (code as string | undefined)?.split('.').at(-1) ?? '',
    properties: [...new Set(properties)].slice(0, 5),
    missingScopes: [...names('requiredGranularScopes', scopePattern), ...names('requiredScopes', scopePattern)],
  };
}

const propertyPattern = /^[a-z][a-z0-9_]{0,99}$/;
const codePattern = /^[A-Za-z][A-Za-z_.]{2,80}$/;
const scopePattern = /^[a-z][a-z0-9._-]{2,80}$/;

/** Whether a text has the form of a code or name. No other text of an answer is shown. */
function matches(text: unknown, pattern: RegExp): boolean {
  return typeof text === 'string' && pattern.test(text);
}

/** Reads the list of invalid properties, which HubSpot sends as JSON inside the message. */
function quotedIn(message: unknown): readonly unknown[] {
  const quoted =
    typeof message === 'string' ? /^Property values were not valid: (\[.*\])\s*$/s.exec(message)?.[1] : null;
  if (quoted == null) return [];
  try {
    return listOf(JSON.parse(quoted));
  } catch {
    return []; // HubSpot cut the message off, so only the category is known
  }
}

function policyOf(body: unknown): unknown {
  return fieldsOf(body).policyName;
}

/** Returns the value if it is an array, otherwise an empty array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
