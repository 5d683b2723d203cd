import { createHash, hash } from 'node:crypto';

/** Size of a block and of a digest of SHA-256, in bytes. */
const blockBytes = 64;
const digestBytes = 32;
/** Size of the buffer in which texts are hashed. Texts that do not fit into it are rare and are hashed without it. */
const maxScratchBytes = 16 * 1024;

/**
 * HMAC-SHA-256 (RFC 2104) under one key, computed from two hashes. Returns the same values as `createHmac`, in half the
 * time (measured: 1.0 µs instead of 1.8 for an attendee) and without an object that the garbage collector has to
 * finalize.
 */
export class Hmac {
  /** The key's inner block, followed by room for a text. */
  readonly #inner: Buffer;
  /** The key's outer block, followed by room for the inner hash. */
  readonly #outer: Buffer;

  /** @throws {RangeError} for a key longer than a block. The RFC hashes such a key first, which this class does not support. */
  constructor(key: Uint8Array) {
    if (key.byteLength > blockBytes) throw new RangeError(`a key of ${key.byteLength} bytes is longer than a block`);
    this.#inner = Buffer.alloc(maxScratchBytes);
    this.#outer = Buffer.alloc(blockBytes + digestBytes);
    for (let index = 0; index < blockBytes; index += 1) {
      this.#inner[index] = (key[index] ?? 0) ^ 0x36;
      this.#outer[index] = (key[index] ?? 0) ^ 0x5c;
    }
  }

  /**
   * Returns the HMAC of the text's UTF-8 bytes. Requests the hash as a string and converts it, because a hash requested
   * as a buffer allocates memory of its own.
   */
  of(text: string): Buffer {
    this.#outer.write(this.#innerHash(text), blockBytes, 'latin1');
    return Buffer.from(hash('sha256', this.#outer, 'binary'), 'latin1');
  }

  /** Returns only the first bytes of the HMAC, in a buffer of that size. */
  firstOf(text: string, bytes: number): Buffer {
    this.#outer.write(this.#innerHash(text), blockBytes, 'latin1');
    return Buffer.from(hash('sha256', this.#outer, 'binary').slice(0, bytes), 'latin1');
  }

  #innerHash(text: string): string {
    if (blockBytes + 3 * text.length > maxScratchBytes) {
      return createHash('sha256').update(this.#inner.subarray(0, blockBytes)).update(text).digest('binary');
    }
    const end = blockBytes + this.#inner.write(text, blockBytes, 'utf8');
    return hash('sha256', this.#inner.subarray(0, end), 'binary');
  }
}
