import { retryAfterMs } from '../../base/retry-after.js';
import type { Failed } from '../records/reply.js';
import type { RestAnswer } from '../rest/rest-client.js';
import { type Fields, fieldsOf, type Result } from '../sink.js';

/** The result of a call. */
export type Reply =
  | { readonly kind: 'ok'; readonly body: Fields; readonly answeredAtMs: number }
  /** The row with this id does not exist. */
  | { readonly kind: 'missing' }
  /** A row with the id of a creation exists already. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'refused'; readonly result: Extract<Result, { kind: 'rejected' }> }
  | Failed;

type Answer = Pick<RestAnswer, 'status' | 'body' | 'retryAfter' | 'requestId' | 'answeredAtMs'>;

/** Codes of a missing row. Any other 404 concerns the table or the address. Source: README.md. */
const missingRow = '0x80040217';

/** Returns the meaning of an answer. Only the code of an error is shown, because its message quotes values. */
export function classifyAnswer(answer: Answer): Reply | { readonly kind: 'token-refused' } {
  const { status, body, requestId, answeredAtMs } = answer;
  if (status >= 200 && status < 300) return { kind: 'ok', body: fieldsOf(body), answeredAtMs };
  const { code } = fieldsOf(fieldsOf(body).error);
  const shown = typeof code === 'string' && /^0x[0-9a-fA-F]{8}$/.test(code) ? ` ${code}` : '';
  const said = `HTTP ${status}${shown}${requestId === undefined ? '' : `, request ${requestId}`}`;
  const failed = (result: Result, processed: Failed['processed'] = 'no'): Failed => {
    return { kind: 'failed', processed, result };
  };
  const afterMs = retryAfterMs(answer.retryAfter, answeredAtMs);
  const wait = afterMs === undefined ? {} : { afterMs };
  switch (status) {
    case 401:
      return { kind: 'token-refused' };
    case 403: {
      const advice = 'give the application user a security role that may read, create, write and delete the rows';
      return failed({ kind: 'pause', cause: 'credential', detail: `Dynamics forbids it (${said}): ${advice}` });
    }
    case 404:
      if (code === missingRow) return { kind: 'missing' };
      return failed({ kind: 'retry', detail: `Dynamics has no such address (${said}): check "baseUrl" and "table"` });
    case 412:
      return { kind: 'exists' };
    case 429:
      return failed({ kind: 'retry', detail: `Dynamics requested a pause (${said})`, ...wait });
  }
  if (status === 408 || status >= 500 || status < 400) {
    return failed({ kind: 'retry', detail: `Dynamics answered ${said}`, ...wait }, 'maybe');
  }
  const cause = `dynamics:${shown === '' ? `http-${status}` : shown.trim()}`;
  return { kind: 'refused', result: { kind: 'rejected', cause, detail: `Dynamics refused the row (${said})` } };
}
