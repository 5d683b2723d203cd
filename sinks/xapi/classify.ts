import { refusesContent } from '../network/read-answer.js';
import { retryAfterMs } from '../../base/retry-after.js';
import type { Result } from '../sink.js';
import type { LrsAnswer, NoLrsAnswer } from './client.js';

/**
 * The meaning of an answer to a batch.
 *
 * - `stored`: the LRS stored all statements
 * - `refused`: it stored none, because of a statement in the batch; the caller finds the statement by splitting the
 *   batch in halves
 * - `failed`: the request failed for a reason other than its statements; `mayBeStored` says whether the LRS may have
 *   stored the statements nevertheless
 */
export type Verdict =
  | { readonly kind: 'stored'; readonly detail: string }
  | { readonly kind: 'refused'; readonly status: number; readonly detail: string }
  | {
      readonly kind: 'failed';
      readonly result: Extract<Result, { kind: 'retry' | 'pause' }>;
      readonly mayBeStored: boolean;
      /** The wait that the LRS requested. It applies to all lanes. */
      readonly waitMs?: number;
    };

/**
 * Converts an answer of the LRS into a verdict. Some LRSs answer 422 to a statement that they refuse. Sources: xAPI
 * 1.0.3, Communication, 2.1.2 "POST Statements" (200 with the ids, 400 and 409 for the whole batch), 3.2 "Error Codes"
 * (400, 401, 403, 404, 409, 412, 413, 429, 500).
 * @param ids the ids of the statements that were sent, in their order
 */
export function classifyAnswer(answer: LrsAnswer | NoLrsAnswer, ids: readonly string[]): Verdict {
  if (answer.kind === 'no-answer') {
    return failed(answer.result ?? { kind: 'retry', detail: answer.detail }, answer.mayHaveArrived);
  }
  const { status } = answer;
  const said = `HTTP ${status}${answer.requestId === undefined ? '' : `, request ${answer.requestId}`}`;
  switch (status) {
    case 204:
      return { kind: 'stored', detail: said };
    case 200:
      if (isListOf(answer.body, ids)) return { kind: 'stored', detail: said };
      // probably a sign-in page or a portal, but an LRS behind it may have stored the statements
      return failed({ kind: 'retry', detail: `the answer is not from an LRS (${said}): check "endpoint"` }, true);
    case 401:
      return failed({ kind: 'pause', cause: 'credential', detail: `the LRS refuses the credentials (${said})` }, false);
    case 403:
      return failed(
        { kind: 'pause', cause: 'credential', detail: `the credentials may not write statements (${said})` },
        false,
      );
    case 429:
    case 503: {
      const waitMs = retryAfterMs(answer.retryAfter, answer.answeredAtMs);
      const result = { kind: 'retry', detail: `the LRS is busy (${said})` } as const;
      if (waitMs === undefined) return failed(result, status === 503);
      return { ...failed({ ...result, afterMs: waitMs }, status === 503), waitMs };
    }
    default:
      if (refusesContent(status)) return { kind: 'refused', status, detail: said };
      if (status >= 300 && status < 400) {
        const detail = `the LRS redirects (${said}), and pigeonpost does not follow redirects: set "endpoint" to the final address`;
        return failed({ kind: 'retry', detail }, false);
      }
      if (status === 404 || status === 405) {
        return failed(
          { kind: 'retry', detail: `no LRS accepts statements at this address (${said}): check "endpoint"` },
          false,
        );
      }
      return failed({ kind: 'retry', detail: `the LRS failed (${said})` }, status >= 500);
  }
}

function failed(result: Extract<Result, { kind: 'retry' | 'pause' }>, mayBeStored: boolean) {
  return { kind: 'failed', result, mayBeStored } as const;
}

function isListOf(body: unknown, ids: readonly string[]): boolean {
  return Array.isArray(body) && body.length === ids.length && body.every((id, place) => sameId(id, ids[place]!));
}

function sameId(id: unknown, sent: string): boolean {
  return typeof id === 'string' && id.toLowerCase() === sent;
}
