import { retryAfterMs } from '../../base/retry-after.js';
import type { Outcome } from '../sink.js';

interface WebhookAnswer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  /** Time of the response, Unix time in ms: by the receiver's `Date` header, or by our clock if there is none. */
  readonly answeredAtMs: number;
}

/**
 * Converts a receiver's answer into an outcome. If the cause is the address or the receiver (a redirect, an unknown
 * path or method, a refused signature, an outage), the change is retried, because every change would receive this
 * answer. Any other 4xx may concern only this change, or all of them. The engine makes the change a dead letter only if
 * the receiver accepts others (decision 0078). Source: standardwebhooks/standard-webhooks, spec/standard-webhooks.md,
 * "Deliverability and reliability".
 */
export function classifyAnswer({ status, retryAfter, answeredAtMs }: WebhookAnswer): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', detail: `HTTP ${status}` };
  if (status >= 300 && status < 400) {
    // A redirect is not followed, because personal data would go to a host that the configuration does not name.
    return retry(
      `the receiver redirects (HTTP ${status}), and pigeonpost does not follow redirects: set "url" to the final address`,
    );
  }
  switch (status) {
    case 410:
      return {
        kind: 'pause',
        cause: 'gone',
        detail: 'the receiver answered HTTP 410 (Gone), so it wants no more requests',
      };
    case 401:
    case 403:
    case 407:
      // Not a pause: a pause because of a credential ends only when our credential changes, but here the receiver may
      // correct its own secret, clock or firewall.
      return retry(`the receiver refused the request (HTTP ${status}): compare "secret" and the clocks of both sides`);
    case 404:
    case 405:
      // A receiver can give these answers while it is being deployed. Standard Webhooks retries both.
      return retry(`the receiver has no such path or method (HTTP ${status}): compare "url" with its route for POST`);
    case 408:
    case 425:
    case 429:
      return retry(`the receiver answered HTTP ${status}`, retryAfterMs(retryAfter, answeredAtMs));
    default:
      if (status >= 400 && status < 500) {
        const detail = `the receiver refused this change (HTTP ${status})`;
        return { kind: 'rejected', cause: `http:${status}`, detail };
      }
      return retry(`the receiver answered HTTP ${status}`, retryAfterMs(retryAfter, answeredAtMs));
  }
}

function retry(detail: string, afterMs?: number): Outcome {
  return { kind: 'retry', detail, ...(afterMs !== undefined && { afterMs }) };
}
