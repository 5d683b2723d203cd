import { createHash, randomBytes } from 'node:crypto';

/** A token as its holder has it: `pp_`, an id of 16 hex digits that is no secret, and 256 random bits. */
const form = /^pp_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

export interface MadeToken {
  readonly id: string;
  /** Shown once, to the person who created it. */
  readonly text: string;
  readonly hash: Buffer;
}

export function makeToken(): MadeToken {
  const id = randomBytes(8).toString('hex');
  const text = `pp_${id}_${randomBytes(32).toString('base64url')}`;
  return { id, text, hash: hashToken(text) };
}

/** @returns undefined when it is no named token */
export function tokenIdOf(text: string): string | undefined {
  return form.exec(text)?.[1];
}

/**
 * SHA-256: a token of 256 random bits cannot be guessed, so nothing slower is needed; and hashes have one length, so that
 * comparing them tells nothing of the length of what was presented.
 */
export function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
