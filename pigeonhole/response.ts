import { isNestedDeeper } from '../base/json-depth.js';
import { httpDateMs, retryAfterMs } from '../base/retry-after.js';

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
  /** Time from the reading of this answer to the end of the window, for callers that use another clock. */
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
  const waitMs = resetSeconds === null ? null : credibleReset(resetSeconds * 1000 - serviceMs);
  if (waitMs === null) return { limit, remaining, resetInMs: null, resetAtMs: null };
  return { limit, remaining, resetInMs: waitMs, resetAtMs: nowMs + waitMs };
}

function credibleReset(inMs: number): number | null {
  return inMs < -justPassedMs || inMs > longestWindowMs ? null : Math.max(0, inMs);
}

/**
 * Returns Retry-After as a delay in milliseconds, between a second and a day. An HTTP date is relative to the Date of
 * the answer. Undefined if the header is absent or malformed.
 */
export function readRetryAfterMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  return retryAfterMs(headerOf(headers, 'retry-after'), serviceTime(headers) ?? nowMs);
}

/** The service's clock at the time of the answer, in epoch milliseconds. */
function serviceTime(headers: ResponseHeaders): number | undefined {
  const dateMs = httpDateMs(headerOf(headers, 'date') ?? '');
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

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const memberName = Buffer.from('"data"');

/**
 * Returns the bytes of the member `data` of a JSON object, without parsing the JSON, which would take longer. Two
 * answers with the same items have the same `data`, whereas other members may differ: the service may sign a cursor or
 * put a time into it.
 * @param body valid JSON
 * @returns undefined if there is no such member, or if a member name contains an escape
 */
export function dataSpan(body: Uint8Array): Uint8Array | undefined {
  let at = body.indexOf(openBrace);
  if (at === -1) return undefined;
  let found: Uint8Array | undefined;
  at += 1;
  for (;;) {
    const name = body.indexOf(quote, at);
    if (name === -1) return found; // after the last member
    const nameEnd = endOfString(body, name);
    if (body.subarray(name, nameEnd).includes(backslash)) return undefined;
    const value = body.indexOf(colon, nameEnd) + 1;
    const end = endOfValue(body, value);
    if (memberName.equals(body.subarray(name, nameEnd))) found = body.subarray(value, end);
    if (body[end] !== comma) return found;
    at = end + 1;
  }
}

/** Returns the position after the closing quote. @param at position of the opening quote */
function endOfString(body: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < body.length && body[i] !== quote) i += body[i] === backslash ? 2 : 1;
  return i + 1;
}

/** Returns the position of the comma or brace that ends a value of an object. */
function endOfValue(body: Uint8Array, at: number): number {
  let depth = 0;
  for (let i = at; i < body.length;) {
    const byte = body[i];
    if (byte === quote) {
      i = endOfString(body, i);
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (depth === 0 && (byte === comma || byte === closeBrace)) return i;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    i += 1;
  }
  return body.length;
}

/**
 * Maximum nesting of an answer, not counting the rows of a list. It is limited because the code that compares or prints
 * an entity is recursive. Documented answers have at most six levels.
 */
const maxLevels = 60;

/**
 * Maximum nesting of a long answer, rows included. Parsing this number of levels takes 20 ms. Parsing millions of
 * levels would block this thread for a second and take hundreds of MB.
 */
const maxParsedLevels = 100_000;

/** The nesting of longer texts is measured before they are parsed. */
const scannedAboveCharacters = 1_000_000;

/**
 * Parses the JSON of an answer. The rows of a list may be nested deeper than the rest, because `toItems` leaves out
 * such a row and keeps its neighbours, whereas a refused page would stop the list.
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseWithinDepth(text: string): { readonly value: unknown } | 'too deep' {
  if (text.length > scannedAboveCharacters && isNestedDeeper(text, maxParsedLevels)) return 'too deep';
  const value: unknown = JSON.parse(text);
  return isDeeper(withoutRows(value), maxLevels) ? 'too deep' : { value };
}

function withoutRows(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) return answer;
  return Array.isArray(answer.data) ? { ...answer, data: null } : answer;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Parsed JSON has no inherited members, so the loop needs no check for own ones.
  for (const name in value) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (typeof member === 'object' && member !== null && isDeeper(member, levels - 1)) return true;
  }
  return false;
}
