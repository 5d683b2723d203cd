import { fieldsOf, type Result } from '../sink.js';
import { retryAfterMs } from '../network/read-answer.js';

export interface CanvasAnswer {
  readonly status: number;
  /** Parsed; undefined: it was no JSON. */
  readonly body: unknown;
  /** As it came; looked at for the words that tell throttling alone. */
  readonly text: string;
  readonly retryAfter: string | undefined;
  /** Identifies the request to Canvas' support. */
  readonly requestId: string | undefined;
  /** Unix time in ms. */
  readonly answeredAtMs: number;
}

type Verdict =
  | { readonly kind: 'ok' }
  /** Asked too much: the bucket has to empty first. */
  | { readonly kind: 'throttled'; readonly afterMs: number; readonly detail: string }
  | { readonly kind: 'not-found' }
  /** This token's user may not do this here. */
  | { readonly kind: 'forbidden' }
  /** Refused for what was asked. */
  | { readonly kind: 'refused' }
  /** About Canvas or the token: any request would have got it. `processed`: it may have taken effect. */
  | { readonly kind: 'failed'; readonly result: Result; readonly processed: 'no' | 'maybe' };

/** The bucket loses ten units a second; after this time some tens of requests fit again. */
const THROTTLED_WAIT_MS = 15_000;

/**
 * What an answer means. Canvas throttles with a 403 whose body is "403 Forbidden (Rate Limit Exceeded)", and answers
 * 401 both to a token that it does not know and to a user who lacks a right. Sources: Canvas LMS, "Throttling",
 * "Errors".
 */
export function classifyAnswer(answer: CanvasAnswer): Verdict {
  const { status, body, requestId } = answer;
  const said = (sentence: string): string => `${sentence}${requestId === undefined ? '' : ` (request ${requestId})`}`;
  if (status >= 200 && status < 300 && body !== undefined) return { kind: 'ok' };
  const wait = retryAfterMs(answer.retryAfter, answer.answeredAtMs);
  const throttled = status === 403 && /Rate Limit Exceeded/i.test(answer.text.slice(0, 200));
  if (throttled || status === 429) {
    const detail = said(`Canvas is asked too much with this token (HTTP ${status})`);
    return { kind: 'throttled', afterMs: wait ?? THROTTLED_WAIT_MS, detail };
  }
  if (status === 401 && !isAboutTheUser(body)) {
    const detail = said('Canvas refused the token (HTTP 401): put a valid access token into "token"');
    return { kind: 'failed', processed: 'no', result: { kind: 'pause', cause: 'credential', detail } };
  }
  if (status === 401 || status === 403) return { kind: 'forbidden' };
  // A page in HTML is the answer of something else, or of Canvas to a path that it has not
  if (status === 404 && body !== undefined) return { kind: 'not-found' };
  if (status === 408 || status >= 500) {
    const result = { kind: 'retry', detail: said(`Canvas answered HTTP ${status}`) } as const;
    return { kind: 'failed', processed: 'maybe', result: wait === undefined ? result : { ...result, afterMs: wait } };
  }
  if (body === undefined || status < 400) {
    const detail = said(`what answers is not the API of Canvas (HTTP ${status}): correct "baseUrl"`);
    return { kind: 'failed', processed: 'maybe', result: { kind: 'retry', detail } };
  }
  return { kind: 'refused' };
}

/** Whose token it is, Canvas knows then; what it says of a token that it does not know has changed over time. */
function isAboutTheUser(body: unknown): boolean {
  return fieldsOf(body).status === 'unauthorized';
}

/**
 * How long to hold back after an answer that says how much of the bucket is left: it holds 600 to 800 units, a request
 * under way counts 50 until its cost is known, and ten leave it a second. Source: Canvas LMS, "Throttling".
 * @param header `X-Rate-Limit-Remaining`
 */
export function holdBackMs(header: string | undefined): number {
  const remaining =
    header !== undefined && /^\d{1,6}(\.\d+)?$/.test(header) ? Number(header) : Number.POSITIVE_INFINITY;
  return remaining >= COMFORTABLE_UNITS ? 0 : Math.ceil((COMFORTABLE_UNITS - remaining) * 100);
}

/** Room for the requests of other lanes that are under way. */
const COMFORTABLE_UNITS = 200;
