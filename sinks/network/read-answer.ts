import { httpDateMs } from './retry-after.js';

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
