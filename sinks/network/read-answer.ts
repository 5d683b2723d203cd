/** Returns the first value of a header. */
export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/**
 * Returns the server's id of a request, from the first of these headers that is present. An id that does not look like
 * one is ignored, because it could contain data of a record.
 */
export function requestIdOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): string | undefined {
  const id = names.map((name) => headerText(headers[name])).find((found) => found !== undefined);
  return id !== undefined && /^[\w.:=-]{1,128}$/.test(id) ? id : undefined;
}

/**
 * Returns the time of an answer, Unix time in ms: by the clock of the server (header `Date`), or by ours if the header
 * is missing.
 */
export function answeredAtMs(date: string | string[] | undefined, now: () => number): number {
  return httpDateMs(headerText(date) ?? '') || now();
}

/**
 * Reads the whole body. If it is longer than `maxBytes`, closes the connection and returns undefined.
 * @throws if the connection ends before the body is complete
 */
export async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined; // leaving the loop closes the connection
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses JSON. Returns undefined for anything else, such as an error page of a proxy. */
export function parsedJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * 4xx statuses whose cause is the address, the credentials, the connection or the time, and not the content. Sources:
 * RFC 9110, 15.5; RFC 8470; RFC 6585.
 */
const notAboutContent: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 408, 410, 421, 425, 426, 429]);

/** Whether a status means that the server refuses the content of a request, so that it would refuse a repeat too. */
export function refusesContent(status: number): boolean {
  return status >= 400 && status < 500 && !notAboutContent.has(status);
}

/** Maximum accepted `Retry-After`: one day, so that a wrong clock or a typing error does not stop a sink for years. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;
/** Minimum wait. Without it, "Retry-After: 0" or a date in the past would cause retries without a pause. */
export const MIN_RETRY_AFTER_MS = 1000;

/**
 * Returns the requested wait in ms, within the limits above; undefined if there is no header, or it has neither form of
 * RFC 9110, 10.2.3 (seconds or an HTTP date).
 * @param answeredAtMs the time of the answer, by the destination's clock (its `Date`) if known
 */
export function retryAfterMs(header: string | undefined, answeredAtMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text) - answeredAtMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(waitMs, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
}

/** Parses an HTTP date; NaN for anything else. Date.parse would accept "1.5" and "-3" as years. */
function httpDateMs(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*(GMT|\d{4})$/.test(text) ? Date.parse(text) : Number.NaN;
}
