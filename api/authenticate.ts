import type { AccessSources, ApiContext, ApiSources } from './api-app.js';
import { timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/config.js';
import { isLoopback } from '../base/loopback.js';
import { findToken, markTokenUsed } from '../ledger/tokens.js';
import { addPageSession, findPageSession } from '../ledger/page-sessions.js';
import {
  type AdministratorName,
  type Holder,
  cookieIn,
  hashToken,
  isRandom,
  makeSession,
  setCookie,
  tokenIdOf,
} from './credentials.js';
import { Refused } from './problem.js';

/** Roles of a token. A token with several roles has the rights of all of them. */
export const roles = ['viewer', 'importer', 'operator', 'privacy', 'admin'] as const;
export type Role = (typeof roles)[number];

/**
 * Rights that routes require (decision 0046).
 * - `read`: the state of all work, without names, addresses or texts of people
 * - `import`: import registrants and see their rows, because the importer has the file anyway
 * - `operate`: pause, resume, redrive, replay, decide about deletions
 * - `personal`: names and texts of people, on request
 * - `erase`: forget a person everywhere
 * - `administer`: the configuration, tokens, the audit log
 */
export type Right = 'read' | 'import' | 'operate' | 'personal' | 'erase' | 'administer';

const rightsOfRole: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ['read'],
  importer: ['read', 'import'],
  operator: ['read', 'operate'],
  privacy: ['read', 'personal', 'erase'],
  admin: ['read', 'import', 'operate', 'personal', 'erase', 'administer'],
};

/** Returns all rights of these roles. A role that this version does not know has none. */
export function rightsOf(given: readonly string[]): ReadonlySet<Right> {
  return new Set(roles.filter((role) => given.includes(role)).flatMap((role) => rightsOfRole[role]));
}

/** Returns the roles with a right, for the sentence about a missing right. */
export function rolesWith(right: Right): Role[] {
  return roles.filter((role) => rightsOfRole[role].includes(right));
}

/** The person or program that sent a request. */
export interface Caller {
  /** Name in the audit log: the token's name, `server.token`, or `local` for the token of this installation. */
  readonly name: string;
  /** ID of the named token; null if another token was used. */
  readonly token: string | null;
  readonly roles: readonly string[];
  readonly rights: ReadonlySet<Right>;
  /** The only workspace that the caller may see; null: all. */
  readonly workspace: string | null;
}

/** Returns a request header by its name in lower case. */
type Header = (name: string) => string | undefined;

/** Rights of the administrator's token. */
const asAdmin = { token: null, roles: ['admin'], rights: rightsOf(['admin']), workspace: null };

/** Compared with the presented token if no token has its ID, so that the check always takes the same time. */
const nothing = hashToken('');

/**
 * Identifies the caller by the token in `Authorization`, or by a browser's session. The address of a request does not
 * identify anyone: every user of this machine, and every client behind a proxy on it, has a loopback address.
 * @throws {Refused} 401, without repeating what was presented
 */
export async function authenticate(sources: AccessSources, header: Header): Promise<Caller> {
  const presented = header('authorization');
  if (presented === undefined) return await authenticateSession(sources, header);
  const text = /^Bearer +(\S+)$/i.exec(presented)?.[1];
  if (text === undefined) throw unauthenticated('send the token as "Authorization: Bearer …"');
  const hash = hashToken(text);
  // Compares with each of them, so that the check always takes the same time.
  const own = administratorsTokens(sources).filter((token) => timingSafeEqual(hash, hashToken(token.text)));
  if (own[0] !== undefined) return administrator(own[0].by);
  const id = tokenIdOf(text);
  const known = id === undefined ? undefined : await findToken(sources.ledger, id);
  if (!timingSafeEqual(hash, known?.hash ?? nothing)) {
    throw unauthenticated('this token is not known, or was revoked: ask for another one');
  }
  return await namedCaller(sources, known);
}

/** A token with the rights of an administrator. */
interface AdministratorsToken {
  /** Name of its holder in the audit log. */
  readonly by: AdministratorName;
  readonly text: string;
}

/**
 * Returns the tokens of the administrator: `server.token`, if it is set, and the token that this installation created
 * for commands of its own user, if it could be stored.
 */
export function administratorsTokens({ config, localToken }: AccessSources): readonly AdministratorsToken[] {
  const configured = config.server.token?.reveal();
  const local = localToken();
  return [
    ...(configured === undefined ? [] : [{ by: 'server.token', text: configured } as const]),
    ...(local === null ? [] : [{ by: 'local', text: local } as const]),
  ];
}

/** @throws {Refused} 401 when a session's token was revoked, or has expired */
export async function callerOf(sources: AccessSources, holder: Holder): Promise<Caller> {
  if (holder.kind === 'administrator') return administrator(holder.by);
  return await namedCaller(sources, await findToken(sources.ledger, holder.id));
}

async function authenticateSession(sources: AccessSources, header: Header): Promise<Caller> {
  const text = sessionTextIn(sources, header);
  const holder = text === undefined ? undefined : await holderOf(sources, text);
  if (holder === undefined) {
    throw unauthenticated(
      'send a token as "Authorization: Bearer …"; "pigeonpost open" prints a link that signs a browser in',
    );
  }
  // To a browser, a page at another port of this host is the same site, so the browser sends the cookie.
  if (!['same-origin', 'none', undefined].includes(header('sec-fetch-site'))) {
    throw new Refused(403, 'requests from other sites are refused');
  }
  return await callerOf(sources, holder);
}

/** Returns the session that a browser sent; undefined if it sent none. */
export function sessionTextIn({ config }: Pick<AccessSources, 'config'>, header: Header): string | undefined {
  return cookieIn('session', config.server, { cookies: header('cookie'), host: header('host') ?? '' });
}

/** Returns the `Set-Cookie` of an answer, for the host that the request named. */
export function cookieOf(
  c: ApiContext,
  { config }: Pick<ApiSources, 'config'>,
  purpose: 'session' | 'sign-in',
  value: { readonly text: string; readonly lastsSeconds: number },
): string {
  return setCookie(purpose, config.server, { ...value, host: c.req.header('host') ?? '' });
}

async function holderOf(sources: AccessSources, session: string): Promise<Holder | undefined> {
  if (!isRandom(session)) return undefined;
  const under = fingerprintOfTokens(sources);
  const holder = await findPageSession(sources.ledger, { hash: hashToken(session), under });
  if (holder === undefined) return undefined;
  return holder === 'server.token' || holder === 'local'
    ? { kind: 'administrator', by: holder }
    : { kind: 'token', id: holder };
}

/**
 * Signs a browser in.
 * @returns the text of its session
 */
export async function openSession(
  sources: AccessSources,
  holder: Holder,
): Promise<{ readonly text: string; readonly lastsSeconds: number }> {
  const { text, hash, lastsSeconds } = makeSession();
  const by = holder.kind === 'token' ? holder.id : holder.by;
  await addPageSession(sources.ledger, { hash, holder: by, under: fingerprintOfTokens(sources), lastsSeconds });
  return { text, lastsSeconds };
}

/** Identifies the administrator's token, which the processes of an installation share. Another token ends all sessions. */
function fingerprintOfTokens(sources: AccessSources): string {
  return sources.ledger.hash.fingerprint(administratorsTokens(sources)[0]?.text ?? '');
}

function administrator(by: AdministratorName): Caller {
  return { name: by, ...asAdmin };
}

async function namedCaller({ ledger }: AccessSources, known: Awaited<ReturnType<typeof findToken>>): Promise<Caller> {
  if (known === undefined) throw unauthenticated('this token is not known, or was revoked: ask for another one');
  if (known.expired) throw unauthenticated('this token has expired: ask for another one');
  if (known.recordsUse) await markTokenUsed(ledger, known.id);
  const { name, roles, workspace } = known;
  return { name, token: known.id, roles, rights: rightsOf(roles), workspace };
}

/**
 * Identifies the caller of `/metrics`. Without `server.token`, metrics can be read on loopback without a token, as with
 * other exporters: they contain counts and configured names, and no personal data.
 * @throws {Refused} 401
 */
export async function authenticateForMetrics(sources: AccessSources, header: Header): Promise<Caller> {
  const isAnonymous = header('authorization') === undefined && header('cookie') === undefined;
  if (!isAnonymous || !areMetricsOpen(sources.config.server) || isPassedOn(header)) {
    return await authenticate(sources, header);
  }
  return { name: 'metrics', token: null, roles: [], rights: new Set<Right>(['read']), workspace: null };
}

/** Whether the server listens on an address that only this machine can reach, and no public address leads to it. */
function areMetricsOpen({ host, token, publicUrl }: Config['server']): boolean {
  return (
    token === undefined && isLoopback(host) && (publicUrl === undefined || isLoopback(new URL(publicUrl).hostname))
  );
}

/** Checks the headers that proxies add (RFC 7239 and its predecessors). A page in a browser cannot remove them. */
function isPassedOn(header: Header): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some(
    (name) => header(name) !== undefined,
  );
}

function unauthenticated(detail: string): Refused {
  return new Refused(401, detail, { headers: { 'www-authenticate': 'Bearer realm="pigeonpost"' } });
}
