import type { AccessSources } from './api-sources.js';
import { timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/config.js';
import { isLoopback } from '../config/loopback.js';
import { findToken, markTokenUsed } from '../ledger/tokens.js';
import { type Holder, readSession, sessionIn } from './page-session.js';
import { Refused } from './problem.js';
import { type Right, rightsOf } from './rights.js';
import { hashToken, tokenIdOf } from './token-text.js';

/** The person or program that sent a request. */
export interface Caller {
  /** As the audit log names them: the token's name; `server.token`; `local` with the token of this installation. */
  readonly name: string;
  /** The id of a named token; null: of none. */
  readonly token: string | null;
  readonly roles: readonly string[];
  readonly rights: ReadonlySet<Right>;
  /** The only one of which they may know; null: all. */
  readonly workspace: string | null;
}

/** Returns a request header by its name in lower case. */
export type Header = (name: string) => string | undefined;

/** Everything that identifies a caller. */
const asAdmin = { token: null, roles: ['admin'], rights: rightsOf(['admin']), workspace: null };

/** Compared with where there is nothing else to compare with, so that it takes as long. */
const nothing = hashToken('');

/**
 * Identifies the caller by the token in `Authorization`, or by a browser's session. The address of a request proves
 * nothing: every user of this machine, and every client behind a proxy, has a loopback address.
 * @throws {Refused} 401, without repeating what was presented
 */
export async function authenticate(sources: AccessSources, header: Header): Promise<Caller> {
  const presented = header('authorization');
  if (presented === undefined) return await authenticateSession(sources, header);
  const text = /^Bearer +(\S+)$/i.exec(presented)?.[1];
  if (text === undefined) throw unauthenticated('send the token as "Authorization: Bearer …"');
  const hash = hashToken(text);
  if (timingSafeEqual(hash, hashToken(administratorsToken(sources)))) return administrator(sources);
  const id = tokenIdOf(text);
  const known = id === undefined ? undefined : await findToken(sources.ledger, id);
  if (!timingSafeEqual(hash, known?.hash ?? nothing)) {
    throw unauthenticated('this token is not known, or was revoked: ask for another one');
  }
  return await namedCaller(sources, known);
}

/** `server.token`; without it the one that this installation has made. */
export function administratorsToken({ config, localToken }: AccessSources): string {
  return config.server.token?.reveal() ?? localToken();
}

/** @throws {Refused} 401 when a session's token was revoked, or has expired */
export async function callerOf(sources: AccessSources, holder: Holder): Promise<Caller> {
  if (holder.kind === 'administrator') return administrator(sources);
  return await namedCaller(sources, await findToken(sources.ledger, holder.id));
}

async function authenticateSession(sources: AccessSources, header: Header): Promise<Caller> {
  const text = sessionIn(header('cookie'), header('host') ?? '');
  const holder =
    text === undefined ? undefined : readSession(administratorsToken(sources), text, sources.ledger.clock.nowMs());
  if (holder === undefined) {
    throw unauthenticated(
      'send a token as "Authorization: Bearer …"; "pigeonpost open" prints a link that signs a browser in',
    );
  }
  // A page at another port of this host is the same site to a browser, which sends the cookie along.
  if (!['same-origin', 'none', undefined].includes(header('sec-fetch-site'))) {
    throw new Refused(403, 'requests from other sites are refused');
  }
  return await callerOf(sources, holder);
}

function administrator({ config }: AccessSources): Caller {
  return { name: config.server.token === undefined ? 'local' : 'server.token', ...asAdmin };
}

async function namedCaller({ ledger }: AccessSources, known: Awaited<ReturnType<typeof findToken>>): Promise<Caller> {
  if (known === undefined) throw unauthenticated('this token is not known, or was revoked: ask for another one');
  if (known.expired) throw unauthenticated('this token has expired: ask for another one');
  if (known.unused) await markTokenUsed(ledger, known.id);
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

/** Whether only this machine reaches the address that it listens on, and no public address is known that leads there. */
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
