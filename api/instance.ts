import type { AccessSources, ApiSources, ApiApp } from './api-app.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { findToken } from '../ledger/tokens.js';
import { administratorsToken } from './authenticate.js';
import { Refused } from './problem.js';
import { hashToken, tokenIdOf } from './credentials.js';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { StoreSetting } from '../config/schema/process.js';

/**
 * `GET /instance?challenge=…` proves which pigeonpost this is. Clients call it before they send their token, because they
 * must not send it to another process. The answer names no person, no event and no path.
 */
export function serveInstance(app: ApiApp, sources: ApiSources): void {
  app.get('/instance', async (c) => {
    const challenge = c.req.query('challenge') ?? '';
    const id = c.req.query('token');
    if (!challengeForm.test(challenge) || (id !== undefined && !/^[0-9a-f]{16}$/.test(id))) {
      throw new Refused(
        400,
        'write "challenge" (32 to 64 random characters of base64url) and, for a named token, "token"',
      );
    }
    const { config, ledger, version } = sources;
    const key = await tokenHash(sources, id);
    const answer: InstanceAnswer = {
      pigeonpost: version,
      ledger: ledger.id,
      proof: prove(key, challenge, 'ledger', ledger.id),
      store: prove(key, challenge, 'store', storeName(config.store)),
      file: prove(key, challenge, 'file', realPath(config.file)),
    };
    return c.json(answer);
  });
}

/** Returns the hash of the named token. For an unknown token, it returns a hash that no token has, so the proof is invalid. */
async function tokenHash(
  sources: AccessSources & { config: Config; ledger: Ledger },
  id: string | undefined,
): Promise<Buffer> {
  const own = administratorsToken(sources);
  if (id === undefined || tokenIdOf(own) === id) return hashToken(own);
  return (await findToken(sources.ledger, id))?.hash ?? hashToken(`unknown ${sources.ledger.id}`);
}

/** Random text from the command. The proof is valid for this one request. */
const challengeForm = /^[A-Za-z0-9_-]{32,64}$/;

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
