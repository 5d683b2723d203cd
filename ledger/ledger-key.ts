import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';
import type { LedgerKeys } from './keyed-hash.js';

/** Length of each of the three keys that a ledger hashes with, and of the key from which they are derived, in bytes. */
const keyBytes = 32;

/**
 * The secret key of a ledger, from which all its hashes of personal data are computed. Anyone who has both the key and
 * the store can find the people behind anonymous items by trying all attendee ids. The key is therefore never in the
 * store or in a backup (decision 0048).
 *
 * Its text is base64 or base64url. It holds either 32 random bytes, from which the three keys are derived, or the 96
 * bytes of the three keys themselves, for a ledger that an earlier version created with its keys in the store.
 */
export class LedgerKey {
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  static generate(): LedgerKey {
    return new LedgerKey(randomBytes(keyBytes));
  }

  /** Returns the key of a ledger whose three keys were generated separately. */
  static of({ hash, subject, fingerprint }: LedgerKeys): LedgerKey {
    return new LedgerKey(Buffer.concat([hash, subject, fingerprint]));
  }

  /** Parses the text of a key, ignoring white space around it. @returns undefined if the text is not a key */
  static parse(text: string): LedgerKey | undefined {
    const trimmed = text.trim();
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) return undefined;
    const bytes = Buffer.from(trimmed, 'base64'); // Node accepts both alphabets
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

  /** A check value, which the ledger stores to recognize its key. It reveals nothing of the key. */
  get check(): Buffer {
    const { hash, subject, fingerprint } = this.keys;
    return createHmac('sha256', Buffer.concat([hash, subject, fingerprint]))
      .update('ledger key check')
      .digest();
  }

  /** Compares the three keys, so that the short and the long form of one key are equal. */
  equals(other: LedgerKey): boolean {
    return timingSafeEqual(this.check, other.check);
  }

  /**
   * Returns the secret text of the key. Write it only to the key's file, or to the terminal of the operator who exports
   * the key.
   */
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
