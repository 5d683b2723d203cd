import { retryAfterMs } from '../network/read-answer.js';
import type { FailedResult } from './call-failure.js';
import { passingCodes } from './passing-codes.js';
import { saidErrors } from './said-errors.js';

export interface Answer {
  readonly status: number;
  /** Parsed JSON; undefined: it was none. */
  readonly body: unknown;
  readonly requestId?: string | undefined;
  readonly retryAfter?: string | undefined;
  /** The instant of the answer by Salesforce's clock where it said so. Unix time in ms. */
  readonly answeredAtMs: number;
}

/** The limit is on the last 24 hours and opens little by little; asked sooner, it would only be refused again. */
const DAILY_LIMIT_WAIT_MS = 60 * 60 * 1000;
/** Too many long calls at once: over as soon as some of them end. */
const CONCURRENCY_WAIT_MS = 10_000;
const UNAVAILABLE_WAIT_MS = 30_000;

/** What an answer is about: what was asked for, the session it was asked in, or a failure that concerns everyone. */
export type AnswerMeaning =
  | { readonly kind: 'answered' }
  | { readonly kind: 'session-ended' }
  /** The request as a whole was refused, which may be for one record in it. */
  | { readonly kind: 'refused'; readonly code: string; readonly fields: readonly string[] }
  | { readonly kind: 'limited'; readonly afterMs: number; readonly detail: string }
  | { readonly kind: 'failed'; readonly result: FailedResult };

/**
 * What an answer means for the call as a whole. What it says of single records stands in the bodies of 2xx.
 * Source: Salesforce, REST API Developer Guide, "Status Codes and Error Responses".
 * @param object what the call is about as a whole
 */
export function classifyAnswer(
  { status, body, requestId, retryAfter, answeredAtMs }: Answer,
  object?: string,
): AnswerMeaning {
  const [said] = saidErrors(body);
  const code = said?.code ?? '';
  const at = requestId === undefined ? '' : `, request ${requestId}`;
  if (status >= 200 && status < 300) {
    if (body !== undefined || status === 204) return { kind: 'answered' };
    return retry(`Salesforce answered HTTP ${status} without JSON${at}`);
  }
  if (status === 401) return { kind: 'session-ended' };
  if (code === 'REQUEST_LIMIT_EXCEEDED') {
    // The one code stands for two limits, which only the message tells apart.
    if (/concurrent/i.test(said?.message ?? '')) {
      return {
        kind: 'limited',
        afterMs: CONCURRENCY_WAIT_MS,
        detail: `Salesforce runs too many of the org's long requests at once (${code}${at})`,
      };
    }
    return {
      kind: 'limited',
      afterMs: retryAfterMs(retryAfter, answeredAtMs) ?? DAILY_LIMIT_WAIT_MS,
      detail: `the org's API requests of the last 24 hours are used up (${code}${at})`,
    };
  }
  if (status === 403) {
    return {
      kind: 'failed',
      result: {
        kind: 'pause',
        cause: 'credential',
        detail: `Salesforce forbids the request (HTTP 403${coded(code)}${at}): give the user access to the API and to the objects`,
      },
    };
  }
  // Salesforce does not tell an object that does not exist from one that the user may not see.
  if (status === 404 && object !== undefined) return noAccess(object, `HTTP 404${coded(code)}${at}`);
  if (status === 404) {
    return retry(
      `Salesforce knows no such address (HTTP 404${coded(code)}${at}): check "apiVersion", and that the user may see the external id fields`,
    );
  }
  if (status >= 300 && status < 400) {
    // Followed, it would carry the token and personal data to a host that nobody configured.
    return retry(`Salesforce redirects (HTTP ${status}${at}), which is not followed: check "loginUrl"`);
  }
  if ((status === 400 && !passingCodes.has(code)) || status === 413 || status === 414) {
    return { kind: 'refused', code: code === '' ? `HTTP_${status}` : code, fields: said?.fields ?? [] };
  }
  const afterMs = retryAfterMs(retryAfter, answeredAtMs) ?? (status === 503 ? UNAVAILABLE_WAIT_MS : undefined);
  return retry(`Salesforce answered HTTP ${status}${coded(code)}${at}`, afterMs);
}

function noAccess(object: string, answer: string): AnswerMeaning {
  const needs = object.startsWith('Campaign') ? '; campaigns need "Marketing User" as well' : '';
  const detail = `the user has no access to ${object} (${answer}): give it read, create and edit on ${object} in a permission set${needs}`;
  return { kind: 'failed', result: { kind: 'pause', cause: 'credential', detail } };
}

function coded(code: string): string {
  return code === '' ? '' : ` ${code}`;
}

function retry(detail: string, afterMs?: number): AnswerMeaning {
  return { kind: 'failed', result: { kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) } };
}
