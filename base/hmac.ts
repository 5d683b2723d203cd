import { createHash, hash } from 'node:crypto';

/** Bytes that SHA-256 takes at a time, and that it gives. */
const blockBytes = 64;
const digestBytes = 32;
/** Longer texts are rare: those are hashed without the scratch memory, which stays small. */
const maxScratchBytes = 16 * 1024;

/**
 * HMAC-SHA-256 (RFC 2104) under one key, put together from two hashes: the value of `createHmac`, in half the time
 * (measured: 1.0 µs instead of 1.8 for an attendee) and without an object that the garbage collector has to finalise.
 */
export class Hmac {
  /** The key's inner block, and behind it room for a text. */
  readonly #inner: Buffer;
  /** The key's outer block, and behind it room for the inner hash. */
  readonly #outer: Buffer;

  /** @throws {RangeError} for a key longer than a block, which the RFC would hash first */
  constructor(key: Uint8Array) {
    if (key.byteLength > blockBytes) throw new RangeError(`a key of ${key.byteLength} bytes is longer than a block`);
    this.#inner = Buffer.alloc(maxScratchBytes);
    this.#outer = Buffer.alloc(blockBytes + digestBytes);
    for (let index = 0; index < blockBytes; index += 1) {
      this.#inner[index] = (key[index] ?? 0) ^ 0x36;
      this.#outer[index] = (key[index] ?? 0) ^ 0x5c;
    }
  }

  /** Returns the HMAC of the text's UTF-8 bytes. Converts through a text, because a hash as a buffer allocates separate memory. */
  of(text: string): Buffer {
    this.#outer.write(this.#innerHash(text), blockBytes, 'latin1');
    return Buffer.from(hash('sha256', this.#outer, 'binary'), 'latin1');
  }

  /** Its first bytes alone: no memory is taken for the others. */
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
