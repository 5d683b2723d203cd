import { decodedBody } from '../../base/decoded-body.js';
import { httpDateMs } from '../../base/retry-after.js';

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
 * Reads the whole body, and decodes it. If it is longer than `maxBytes`, closes the connection and returns undefined.
 * @param encoding the header `Content-Encoding`
 * @returns undefined also for an encoding that cannot be read
 * @throws if the connection ends before the body is complete
 */
export async function readText(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  encoding?: string,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined; // leaving the loop closes the connection
    chunks.push(chunk);
  }
  return (await decodedBody(Buffer.concat(chunks), encoding, maxBytes))?.toString('utf8');
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
