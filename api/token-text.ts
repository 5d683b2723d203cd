import { createHash, randomBytes } from 'node:crypto';

/** The text of a token: `pp_`, an ID of 16 hex digits that is not secret, and 256 random bits. */
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

/** @returns undefined if it is not a named token */
export function tokenIdOf(text: string): string | undefined {
  return form.exec(text)?.[1];
}

/**
 * Hashes a token with SHA-256. A token of 256 random bits cannot be guessed, so no slower hash is needed. All hashes
 * have one length, so comparing them does not reveal the length of the presented token.
 */
export function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
