import { createHmac, timingSafeEqual } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { StoreSetting } from '../config/schema/store.js';

/** Random text from the command. The proof is valid for this one request. */
export const challengeForm = /^[A-Za-z0-9_-]{32,64}$/;

/** What a running pigeonpost answers when it is asked which one it is. Nothing in it is personal or secret. */
export interface InstanceAnswer {
  /** Its version. */
  readonly pigeonpost: string;
  /** The ledger's id. */
  readonly ledger: string;
  /** Proves that the process knows the token of the command, and that this ledger is its own. */
  readonly proof: string;
  /** Proves which store the process uses, to a command that knows the store's name. */
  readonly store: string;
  /** Proves which configuration file the process was started with, to a command that knows the path. */
  readonly file: string;
}

/**
 * A keyed hash of a statement and a challenge. Making it requires the token, so a program that listens on the
 * port of a stopped pigeonpost cannot, and is never sent the token.
 * @param tokenHash as hashToken gives it: all that the ledger keeps of a named token
 */
export function prove(
  tokenHash: Buffer,
  challenge: string,
  statement: 'ledger' | 'store' | 'file',
  value: string,
): string {
  return createHmac('sha256', tokenHash)
    .update(`pigeonpost instance\n${statement}\n${challenge}\n${value}`)
    .digest('base64url');
}

/** Compares in constant time. */
export function isSameProof(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The name of a store: its folder, or server and database without user, password and options. */
export function storeName(store: StoreSetting): string {
  if (store.kind === 'embedded') return `embedded:${realPath(store.folder)}`;
  const { hostname, port, pathname } = new URL(store.url.revealPlain());
  return `postgres://${hostname.toLowerCase()}:${port === '' ? '5432' : port}${pathname}`;
}

/** A folder may be named through a link. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
