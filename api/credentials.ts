import { createHash, randomBytes, createHmac, scrypt, timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/config.js';
import { realpathSync } from 'node:fs';
import type { StoreSetting } from '../config/schema/process.js';

// Every command loads this file, so it must not load the HTTP server.

/** The text of a token: `pp_`, an ID of 16 hex digits that is not secret, and 256 random bits. */
const tokenForm = /^pp_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

interface MadeToken {
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
  return tokenForm.exec(text)?.[1];
}

/**
 * Hashes a token with SHA-256. A token of 256 random bits cannot be guessed, so no slower hash is needed. All hashes
 * have one length, so comparing them does not reveal the length of the presented token.
 */
export function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Names of the administrator's tokens: the configured one, and the one that the installation created. */
export type AdministratorName = 'server.token' | 'local';

/** The owner of a session: a token of the administrator, or the id of a named token. */
export type Holder =
  | { readonly kind: 'administrator'; readonly by: AdministratorName }
  | { readonly kind: 'token'; readonly id: string };

/** Lifetime of a browser's session. `pigeonpost open` prints a link for the next one. */
const sessionSeconds = 24 * 60 * 60;

/** `pps_` and 256 random bits. */
const sessionForm = /^pps_[A-Za-z0-9_-]{43}$/;

interface MadeSession {
  readonly text: string;
  readonly hash: Buffer;
  readonly lastsSeconds: number;
}

/** Creates a session. It is derived from nothing; the ledger stores its hash. */
export function makeSession(): MadeSession {
  const text = `pps_${randomBytes(32).toString('base64url')}`;
  return { text, hash: hashToken(text), lastsSeconds: sessionSeconds };
}

/** Whether a credential has so many random bits that nobody can guess it: a named token or a session. */
export function isRandom(text: string): boolean {
  return tokenForm.test(text) || sessionForm.test(text);
}

/** Uses of a cookie: the session, or the proof that the browser showed the page of a link. */
type CookiePurpose = 'session' | 'sign-in';

/**
 * Returns the name of a cookie. With the prefix `__Host-`, a browser keeps it for one host and HTTPS only (RFC 6265bis,
 * 4.1.3.2), so no other page of the machine or the domain can set it. Without HTTPS, the name contains the port, because
 * browsers send a cookie to every port of a host.
 */
function cookieName(purpose: CookiePurpose, { publicUrl }: Pick<Config['server'], 'publicUrl'>, host: string): string {
  const suffix = purpose === 'session' ? '' : '-sign-in';
  if (isSecureHost(publicUrl, host)) return `__Host-pigeonpost${suffix}`;
  return `pigeonpost${suffix}-${/:(\d{1,5})$/.exec(host)?.[1] ?? '80'}`;
}

function isSecureHost(publicUrl: string | undefined, host: string): boolean {
  return publicUrl?.startsWith('https:') === true && new URL(publicUrl).host === host.toLowerCase();
}

/**
 * Returns a `Set-Cookie`. No `Domain`, so that it is sent to this host only.
 * @param given.lastsSeconds 0 deletes the cookie
 */
export function setCookie(
  purpose: CookiePurpose,
  server: Pick<Config['server'], 'publicUrl'>,
  { host, text, lastsSeconds }: { readonly host: string; readonly text: string; readonly lastsSeconds: number },
): string {
  const secure = isSecureHost(server.publicUrl, host) ? '; Secure' : '';
  const name = cookieName(purpose, server, host);
  return `${name}=${text}; Path=/; Max-Age=${lastsSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** Finds a value in a `Cookie` header. Of two cookies with this name, neither counts, because a stranger may have set one. */
export function cookieIn(
  purpose: CookiePurpose,
  server: Pick<Config['server'], 'publicUrl'>,
  { cookies, host }: { readonly cookies: string | undefined; readonly host: string },
): string | undefined {
  const wanted = cookieName(purpose, server, host);
  const found = (cookies ?? '').split(';').flatMap((pair) => {
    const [name = '', value = ''] = pair.split('=', 2);
    return name.trim() === wanted ? [value.trim()] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

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
 * Returns the key of proofs for a token. Anyone may request a proof and try tokens against it, so the key of a token that
 * an administrator chose takes about a quarter of a second and 32 MB to compute (scrypt, with parameters of OWASP), on
 * another thread.
 * @param ledger id of the ledger, so that guesses for one installation do not serve for another
 */
export async function proofKey(token: string, ledger: string): Promise<Buffer> {
  if (tokenIdOf(token) !== undefined) return hashToken(token); // 256 random bits
  return await new Promise((resolve, reject) => {
    scrypt(token, `pigeonpost instance\n${ledger}`, 32, { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

/**
 * Returns a keyed hash of a statement and a challenge. It can be computed only with the token, so a program that listens
 * on the port of a stopped pigeonpost cannot answer, and no client sends it the token.
 * @param key result of `proofKey`; for a named token its hash, because the ledger keeps nothing else
 */
export function prove(key: Buffer, challenge: string, statement: 'ledger' | 'store' | 'file', value: string): string {
  return createHmac('sha256', key)
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
