import { createHmac, timingSafeEqual } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { StoreSetting } from '../config/schema/process.js';

// Apart from the route, because every command loads this file, and none should load the HTTP server.

/** The identity of a running pigeonpost. It contains nothing personal or secret. */
export interface InstanceAnswer {
  /** Version of pigeonpost. */
  readonly pigeonpost: string;
  /** ID of the ledger. */
  readonly ledger: string;
  /** Proves that the process knows the token of the command, and that this ledger is its own. */
  readonly proof: string;
  /** Proves which store the process uses, to a command that knows the store's name. */
  readonly store: string;
  /** Proves which configuration file the process was started with, to a command that knows the path. */
  readonly file: string;
}

/**
 * Returns a keyed hash of a statement and a challenge. It can be computed only with the token's hash, so a program that
 * listens on the port of a stopped pigeonpost cannot answer, and no client sends it the token.
 * @param tokenHash result of `hashToken`; the ledger keeps nothing else of a named token
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

/** Returns the name of a store: its folder, or server and database without user, password and options. */
export function storeName(store: StoreSetting): string {
  if (store.kind === 'embedded') return `embedded:${realPath(store.folder)}`;
  const { hostname, port, pathname } = new URL(store.url.revealPlain());
  return `postgres://${hostname.toLowerCase()}:${port === '' ? '5432' : port}${pathname}`;
}

/** Returns the path with links resolved, so that two paths of one folder are equal. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
