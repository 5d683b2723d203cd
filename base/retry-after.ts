/** Maximum accepted `Retry-After`: one day, so that a wrong clock or a typing error does not stop a caller for years. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;
/** Minimum wait. Without it, "Retry-After: 0" or a date in the past would cause retries without a pause. */
export const MIN_RETRY_AFTER_MS = 1000;

/**
 * Returns the wait in ms that a `Retry-After` header requests, within the limits above; undefined if there is no
 * header, or it has neither form of RFC 9110, 10.2.3 (seconds or an HTTP date).
 * @param answeredAtMs the time of the answer, by the server's clock (its `Date`) if known
 */
export function retryAfterMs(header: string | undefined, answeredAtMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text) - answeredAtMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(waitMs, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
}

/**
 * Parses an HTTP date in one of its three forms; NaN for anything else. Date.parse would accept "1.5" and "-3" as
 * years, and would read the form without a time zone (asctime) as local time.
 */
export function httpDateMs(text: string): number {
  if (/^[A-Z][a-z]{2,8},? .*GMT$/.test(text)) return Date.parse(text);
  return /^[A-Z][a-z]{2} .*\d{4}$/.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
