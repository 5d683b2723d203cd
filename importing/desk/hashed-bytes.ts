import { createHash } from 'node:crypto';

/** Bytes that are hashed as they pass. */
export interface HashedBytes {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** SHA-256 in hex, of everything: reads what has not been read, since a table may end before its file does. */
  digest(): Promise<string>;
}

export function hashedBytes(source: AsyncIterable<Uint8Array>): HashedBytes {
  const hash = createHash('sha256');
  const iterator = source[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const piece = await iterator.next();
    if (piece.done !== true) hash.update(piece.value);
    return piece;
  };
  return {
    // Without `return`: who stops reading must not end the source, whose rest is hashed.
    bytes: { [Symbol.asyncIterator]: () => ({ next }) },
    async digest() {
      // oxlint-disable-next-line no-await-in-loop -- one after another, as they come
      while ((await next()).done !== true);
      return hash.digest('hex');
    },
  };
}
