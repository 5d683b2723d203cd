/** The first of a header's values. */
export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** When it was answered, Unix time in ms: by the clock of whoever answered, or by ours where its `Date` does not say. */
export function answeredAtMs(date: string | string[] | undefined, now: () => number): number {
  return httpDateMs(headerText(date) ?? '') || now();
}

/**
 * The whole of an answer's body. Undefined when it is longer than any answer that was asked for; its connection is
 * closed then.
 * @throws when the body breaks off
 */
export async function readText(body: AsyncIterable<Buffer>, mostBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined; // leaving the loop closes the connection
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What a text says as JSON; undefined when it is none: an error page of a proxy, or nothing. */
export function parsedJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

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
