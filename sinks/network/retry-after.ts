/** A wait that a destination asks for is believed up to a day, so that a wrong clock or a typing error parks nothing for years. */
export const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;
/** "Retry-After: 0" or a date that has passed would otherwise make a loop without a pause. */
export const SHORTEST_RETRY_AFTER_MS = 1000;

/**
 * How long an answer asks to wait, in milliseconds, within the bounds above; undefined when it does not say, or not
 * in a form of RFC 9110, 10.2.3 (seconds, or an HTTP date).
 * @param answeredAtMs the instant of the answer by the destination's own clock (its `Date`) where known
 */
export function retryAfterMs(header: string | undefined, answeredAtMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text) - answeredAtMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(waitMs, SHORTEST_RETRY_AFTER_MS), LONGEST_RETRY_AFTER_MS);
}

/** NaN when it is no HTTP date: Date.parse alone takes "1.5" and "-3" for years. */
export function httpDateMs(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*(GMT|\d{4})$/.test(text) ? Date.parse(text) : Number.NaN;
}
