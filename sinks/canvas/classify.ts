import { type Fields, fieldsOf } from '../sink.js';
import { refusesContent } from '../network/read-answer.js';
import { retryAfterMs } from '../../base/retry-after.js';
import type { Failed } from '../records/reply.js';
import type { RestAnswer } from '../rest/rest-client.js';

export type CanvasAnswer = Pick<RestAnswer, 'status' | 'body' | 'text' | 'retryAfter' | 'requestId' | 'answeredAtMs'>;

export type Reply =
  /** `list` has the items if the answer is a list. */
  | { readonly kind: 'ok'; readonly body: Fields; readonly list: readonly unknown[] }
  /** `forbidden`: the token's user lacks the right. `refused`: Canvas refuses this request. */
  | {
      readonly kind: 'not-found' | 'forbidden' | 'refused';
      readonly status: number;
      readonly requestId: string | undefined;
    }
  | Failed;

/** Canvas limits the rate. The bucket must empty before the next request. */
interface Throttled {
  readonly kind: 'throttled';
  readonly afterMs: number;
  readonly detail: string;
}

/** Wait after throttling. The bucket loses ten units per second, so dozens of requests fit again after this time. */
const THROTTLED_WAIT_MS = 15_000;

/**
 * Returns the meaning of an answer. Canvas throttles with a 403 whose body is "403 Forbidden (Rate Limit Exceeded)",
 * and answers 401 both to an unknown token and to a user who lacks a right. Sources: Canvas LMS, "Throttling",
 * "Errors".
 */
export function classifyAnswer(answer: CanvasAnswer): Reply | Throttled {
  const { status, body, requestId } = answer;
  const said = (sentence: string): string => `${sentence}${requestId === undefined ? '' : ` (request ${requestId})`}`;
  if (status >= 200 && status < 300 && body !== undefined) {
    return { kind: 'ok', body: fieldsOf(body), list: Array.isArray(body) ? body : [] };
  }
  const wait = retryAfterMs(answer.retryAfter, answer.answeredAtMs);
  const throttled = status === 403 && /Rate Limit Exceeded/i.test((answer.text ?? '').slice(0, 200));
  if (throttled || status === 429) {
    const detail = said(`Canvas limits the requests of this token (HTTP ${status})`);
    return { kind: 'throttled', afterMs: wait ?? THROTTLED_WAIT_MS, detail };
  }
  if (status === 401 && !isAboutTheUser(body)) {
    const detail = said('Canvas refused the token (HTTP 401): put a valid access token into "token"');
    return { kind: 'failed', processed: 'no', result: { kind: 'pause', cause: 'credential', detail } };
  }
  if (status === 401 || status === 403) return { kind: 'forbidden', status, requestId };
  // an HTML page comes from another server, or from Canvas for an unknown path
  if (status === 404 && body !== undefined) return { kind: 'not-found', status, requestId };
  if (status === 408 || status >= 500) {
    const result = { kind: 'retry', detail: said(`Canvas answered HTTP ${status}`) } as const;
    return { kind: 'failed', processed: 'maybe', result: wait === undefined ? result : { ...result, afterMs: wait } };
  }
  if (refusesContent(status)) return { kind: 'refused', status, requestId };
  if (body === undefined || status < 400) {
    const detail = said(`the server that answered is not the Canvas API (HTTP ${status}): correct "baseUrl"`);
    return { kind: 'failed', processed: 'maybe', result: { kind: 'retry', detail } };
  }
  return { kind: 'refused', status, requestId };
}

/**
 * Whether a 401 means that the user lacks a right, which implies that the token itself is valid. The check matches this
 * body, because Canvas' answer to an unknown token has changed over time.
 */
function isAboutTheUser(body: unknown): boolean {
  return fieldsOf(body).status === 'unauthorized';
}

/**
 * Returns how long to pause after an answer, in milliseconds, depending on the room left in the bucket. The bucket
 * holds 600 to 800 units and loses ten units per second. A request in progress counts as 50 units until its cost is
 * known. Source: Canvas LMS, "Throttling".
 * @param header `X-Rate-Limit-Remaining`
 */
export function holdBackMs(header: string | undefined): number {
  const remaining =
    header !== undefined && /^\d{1,6}(\.\d+)?$/.test(header) ? Number(header) : Number.POSITIVE_INFINITY;
  return remaining >= COMFORTABLE_UNITS ? 0 : Math.ceil((COMFORTABLE_UNITS - remaining) * 100);
}

/**
 * If fewer units than this are left, new requests pause, so that requests that other lanes have in progress still fit.
 */
const COMFORTABLE_UNITS = 200;
