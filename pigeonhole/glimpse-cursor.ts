/** The envelope's `meta` and `links` behind the items, with room to spare. */
const endBytes = 2000;
/** `meta` of a page that others follow. An opaque cursor is base64 (RFC 4648), in either alphabet. */
const hasMore = /"hasMore"\s*:\s*true\b/;
const nextCursor = /"nextCursor"\s*:\s*"([A-Za-z0-9+/=_-]+)"/g;

/**
 * The cursor of the page after, from the end of a body that is not parsed yet: parsing a page takes milliseconds, in
 * which the service could already be at work. A guess: an item's own field may look like it, so nothing but a
 * request may rest on it, and what the parsed page says decides.
 * @returns undefined where the end of the body does not show one
 */
export function glimpseCursor(body: Uint8Array): string | undefined {
  const end = body.subarray(Math.max(0, body.byteLength - endBytes));
  const text = Buffer.from(end.buffer, end.byteOffset, end.byteLength).toString('latin1');
  const cursor = hasMore.test(text) ? [...text.matchAll(nextCursor)].at(-1)?.[1] : undefined;
  // A copy: as a part of `text`, which V8 would keep with it, each cursor that a long walk remembers takes 2 KB.
  return cursor === undefined ? undefined : Buffer.from(cursor, 'latin1').toString('latin1');
}
