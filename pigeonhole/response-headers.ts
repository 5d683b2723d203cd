/** Header names in lower case; a header that came more than once is a list. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header's value, the first one where it came more than once. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** X-Request-Id where it is a plain token, else null: it ends up in messages, so nothing else may come in through it. */
export function requestIdOf(headers: ResponseHeaders): string | null {
  const value = headerOf(headers, 'x-request-id')?.trim() ?? '';
  return /^[\w.:/+=-]{1,128}$/.test(value) ? value : null;
}

/** The media type in lower case without parameters; undefined when there is none, 'unreadable' for nonsense. */
export function mediaTypeOf(headers: ResponseHeaders): string | undefined {
  const value = headerOf(headers, 'content-type');
  if (value === undefined || value.trim() === '') return undefined;
  const type = value.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]{1,40}\/[\w.+-]{1,80}$/.test(type) ? type : 'unreadable';
}

/** `application/json`, or a type that says it is JSON by its suffix (RFC 6839). */
export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

/**
 * What an answer says about the request quota. Every part may be missing: the specification names no headers, they
 * are known from the vendor's site. Source: docs/service-contract.md, "Quota".
 */
export interface Quota {
  /** Requests that the plan allows per window. */
  readonly limit: number | null;
  /** Requests left in this window, after this one. */
  readonly remaining: number | null;
  /** How long after this answer the window ends; for those who keep time by another clock than this process. */
  readonly resetInMs: number | null;
  /** When the window ends, epoch ms by our clock. */
  readonly resetAtMs: number | null;
}

/**
 * Reads X-RateLimit-Limit, -Remaining and -Reset (UTC epoch seconds); null when none of them makes sense. The reset is
 * moved by the difference between the answer's Date and our clock, so that a host with a wrong clock waits as long as
 * the service means.
 * @param nowMs when the answer arrived, epoch ms
 */
export function readQuota(headers: ResponseHeaders, nowMs: number): Quota | null {
  const limit = countIn(headers, 'x-ratelimit-limit');
  const remaining = countIn(headers, 'x-ratelimit-remaining');
  const resetSeconds = countIn(headers, 'x-ratelimit-reset');
  if (limit === null && remaining === null && resetSeconds === null) return null;
  const serviceMs = serviceTime(headers) ?? nowMs;
  const resetInMs = resetSeconds === null ? null : Math.max(0, resetSeconds * 1000 - serviceMs);
  return { limit, remaining, resetInMs, resetAtMs: resetInMs === null ? null : nowMs + resetInMs };
}

/**
 * Retry-After as a wait in milliseconds, from seconds or from an HTTP date against the answer's own Date; undefined
 * when absent or unreadable. Source: RFC 9110, 10.2.3.
 */
export function readRetryAfterMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const value = headerOf(headers, 'retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - (serviceTime(headers) ?? nowMs));
}

/** The service's clock when it answered, epoch ms. */
function serviceTime(headers: ResponseHeaders): number | undefined {
  const dateMs = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(dateMs) ? undefined : dateMs;
}

/** A whole number in a header; anything else is taken as absent rather than guessed at. */
function countIn(headers: ResponseHeaders, name: string): number | null {
  const value = headerOf(headers, name)?.trim() ?? '';
  return /^\d{1,15}$/.test(value) ? Number(value) : null;
}
