import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';
import type { LedgerKeys } from './keyed-hash.js';

/** Bytes of each of the three keys that a ledger hashes with, and of a key from which they are derived. */
const keyBytes = 32;

/**
 * The key of a ledger: everything it hashes about people depends on it. Anyone with both the key and the store can name
 * the people behind anonymous items, because attendee ids are few enough to try. The key is therefore never in the store
 * or in a backup (decision 0048).
 *
 * Its text is base64 or base64url: 32 random bytes, from which the three keys are derived, or 96 bytes, the three keys
 * of a ledger that was made before the key left the store.
 */
export class LedgerKey {
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  static generate(): LedgerKey {
    return new LedgerKey(randomBytes(keyBytes));
  }

  /** The key of a ledger whose three keys were drawn separately. */
  static of({ hash, subject, fingerprint }: LedgerKeys): LedgerKey {
    return new LedgerKey(Buffer.concat([hash, subject, fingerprint]));
  }

  /** @returns undefined when the text is no key; white space around it does not matter */
  static parse(text: string): LedgerKey | undefined {
    const trimmed = text.trim();
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) return undefined;
    const bytes = Buffer.from(trimmed, 'base64'); // Node takes both alphabets
    return bytes.length === keyBytes || bytes.length === 3 * keyBytes ? new LedgerKey(bytes) : undefined;
  }

  get keys(): LedgerKeys {
    const bytes = this.#bytes;
    if (bytes.length === 3 * keyBytes) {
      return {
        hash: bytes.subarray(0, keyBytes),
        subject: bytes.subarray(keyBytes, 2 * keyBytes),
        fingerprint: bytes.subarray(2 * keyBytes),
      };
    }
    const derive = (purpose: string): Buffer => createHmac('sha256', bytes).update(`ledger ${purpose}`).digest();
    return { hash: derive('hash'), subject: derive('subject'), fingerprint: derive('fingerprint') };
  }

  /** Stored in the ledger: tells one key from another, and gives nothing of either away. */
  get check(): Buffer {
    const { hash, subject, fingerprint } = this.keys;
    return createHmac('sha256', Buffer.concat([hash, subject, fingerprint]))
      .update('ledger key check')
      .digest();
  }

  /** The keys themselves are compared, so that both forms of one key are equal. */
  equals(other: LedgerKey): boolean {
    return timingSafeEqual(this.check, other.check);
  }

  /** The text to keep. Hand it to the file or the terminal that asked for it and to nothing else. */
  reveal(): string {
    return this.#bytes.toString('base64url');
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
