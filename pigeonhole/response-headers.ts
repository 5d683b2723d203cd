/** Header names in lower case; a repeated header is a list. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the value of a header; the first one if it is repeated. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** Returns X-Request-Id, or null if it is not a plain token. Messages print the id, so it must not contain other text. */
export function requestIdOf(headers: ResponseHeaders): string | null {
  const value = headerOf(headers, 'x-request-id')?.trim() ?? '';
  return /^[\w.:/+=-]{1,128}$/.test(value) ? value : null;
}

/**
 * Returns the media type in lower case without parameters; undefined if there is none, "unreadable" if it is malformed.
 */
export function mediaTypeOf(headers: ResponseHeaders): string | undefined {
  const value = headerOf(headers, 'content-type');
  if (value === undefined || value.trim() === '') return undefined;
  const type = value.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]{1,40}\/[\w.+-]{1,80}$/.test(type) ? type : 'unreadable';
}

/** Whether the type is `application/json` or has the suffix `+json` (RFC 6839). */
export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

/**
 * The request quota that an answer reports. Every part may be missing: the specification names no headers; they are
 * known from the vendor's site. Source: docs/service-contract.md, "Quota".
 */
export interface Quota {
  /** Requests that the plan allows per window. */
  readonly limit: number | null;
  /** Requests that remain in this window, after this one. */
  readonly remaining: number | null;
  /** Time from this answer to the end of the window, for callers that use another clock. */
  readonly resetInMs: number | null;
  /** End of the window, in epoch milliseconds by the local clock. */
  readonly resetAtMs: number | null;
}

/**
 * Larger counts in a header are replaced by this one. A service may report a huge number to say that there is no limit,
 * and the store calculates with 32 bits.
 */
const maxCount = 1_000_000_000;
/**
 * Maximum credible time until a reset. If the header holds milliseconds instead of seconds, the reset seems to be
 * thousands of years away.
 */
const longestWindowMs = 31 * 86_400_000;
/**
 * Maximum time by which a credible reset lies in the past, because it is rounded to whole seconds and the answer takes
 * time to arrive. If the header holds a duration instead of an instant, its value is decades in the past.
 */
const justPassedMs = 60_000;
/** Longer values of Retry-After are reduced to a day, because the service may be back long before they end. */
const longestRetryMs = 86_400_000;

/**
 * Reads X-RateLimit-Limit, -Remaining and -Reset (UTC epoch seconds); null if none of them is valid. The reset is
 * corrected by the difference between the Date of the answer and the local clock, so that a host with a wrong clock
 * waits for the right time. A reset that cannot be right counts as not reported.
 * @param nowMs when the answer arrived, in epoch milliseconds
 */
export function readQuota(headers: ResponseHeaders, nowMs: number): Quota | null {
  const limit = countIn(headers, 'x-ratelimit-limit');
  const remaining = countIn(headers, 'x-ratelimit-remaining');
  const resetSeconds = numberIn(headers, 'x-ratelimit-reset');
  if (limit === null && remaining === null && resetSeconds === null) return null;
  const serviceMs = serviceTime(headers) ?? nowMs;
  const resetInMs = resetSeconds === null ? null : credibleReset(resetSeconds * 1000 - serviceMs);
  return { limit, remaining, resetInMs, resetAtMs: resetInMs === null ? null : nowMs + resetInMs };
}

function credibleReset(inMs: number): number | null {
  return inMs < -justPassedMs || inMs > longestWindowMs ? null : Math.max(0, inMs);
}

/**
 * Returns Retry-After as a delay in milliseconds, at most a day. An HTTP date is relative to the Date of the answer.
 * Undefined if the header is absent or malformed. Source: RFC 9110, 10.2.3.
 */
export function readRetryAfterMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const value = headerOf(headers, 'retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Math.min(Number(value) * 1000, longestRetryMs);
  const atMs = Date.parse(value);
  if (Number.isNaN(atMs)) return undefined;
  return Math.min(Math.max(0, atMs - (serviceTime(headers) ?? nowMs)), longestRetryMs);
}

/** The service's clock at the time of the answer, in epoch milliseconds. */
function serviceTime(headers: ResponseHeaders): number | undefined {
  const dateMs = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(dateMs) ? undefined : dateMs;
}

/** Returns a count from a header, at most `maxCount`; null if it is absent or not a whole number. */
function countIn(headers: ResponseHeaders, name: string): number | null {
  const value = numberIn(headers, name);
  return value === null ? null : Math.min(value, maxCount);
}

/** Returns a whole number from a header; null if it is absent or anything else. */
function numberIn(headers: ResponseHeaders, name: string): number | null {
  const value = headerOf(headers, name)?.trim() ?? '';
  return /^\d{1,30}$/.test(value) ? Number(value) : null;
}
