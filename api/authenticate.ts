import { timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/config.js';
import { isLoopback } from '../config/loopback.js';
import type { Ledger } from '../ledger/ledger.js';
import { findToken, noteTokenUsed } from '../ledger/queries/tokens.js';
import { Refused } from './problem.js';
import { type Right, rightsOf } from './rights.js';
import { hashToken, tokenIdOf } from './token-text.js';

/** Who asks. */
export interface Caller {
  /** As the audit log names them: the token's name; `server.token`; `local` where none is needed. */
  readonly name: string;
  /** The id of a named token; null: of none. */
  readonly token: string | null;
  readonly roles: readonly string[];
  readonly rights: ReadonlySet<Right>;
  /** The only one of which they may know; null: all. */
  readonly workspace: string | null;
}

/** What a caller may have sent: names of headers in lower case. */
export type Header = (name: string) => string | undefined;

const asAdmin = { token: null, roles: ['admin'], rights: rightsOf(['admin']), workspace: null };

/** Compared with where there is nothing else to compare with, so that it takes as long. */
const nothing = hashToken('');

/**
 * Finds out who asks. Without `server.token` a request that comes over loopback alone is the administrator's, as the
 * machine's user could read the store anyway; what a proxy passes on has come from elsewhere.
 * @throws {Refused} 401, without repeating what was presented
 */
export async function authenticate(
  { server }: Pick<Config, 'server'>,
  ledger: Ledger,
  header: Header,
): Promise<Caller> {
  const presented = header('authorization');
  if (presented === undefined) {
    if (isOpen(server) && !isPassedOn(header)) return { name: 'local', ...asAdmin };
    throw unauthenticated('send a token as "Authorization: Bearer …"; "pigeonpost token create" makes one');
  }
  const text = /^Bearer +(\S+)$/i.exec(presented)?.[1];
  if (text === undefined) throw unauthenticated('send the token as "Authorization: Bearer …"');
  const hash = hashToken(text);
  const isServers = timingSafeEqual(hash, server.token === undefined ? nothing : hashToken(server.token.reveal()));
  if (isServers && server.token !== undefined) return { name: 'server.token', ...asAdmin };
  const id = tokenIdOf(text);
  const known = id === undefined ? undefined : await findToken(ledger, id);
  if (!timingSafeEqual(hash, known?.hash ?? nothing) || known === undefined) {
    throw unauthenticated('this token is not known, or was revoked: ask for another one');
  }
  if (known.expired) throw unauthenticated('this token has expired: ask for another one');
  if (known.unused) await noteTokenUsed(ledger, known.id);
  const { name, roles, workspace } = known;
  return { name, token: known.id, roles, rights: rightsOf(roles), workspace };
}

/**
 * Whether a token may be left out: nobody else can reach the address that it listens on, and no public one is known that
 * leads there.
 */
export function isOpen({ host, token, publicUrl }: Config['server']): boolean {
  return (
    token === undefined && isLoopback(host) && (publicUrl === undefined || isLoopback(new URL(publicUrl).hostname))
  );
}

/** What proxies add (RFC 7239, and what was there before it). A page in a browser cannot take it away. */
function isPassedOn(header: Header): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some(
    (name) => header(name) !== undefined,
  );
}

function unauthenticated(detail: string): Refused {
  return new Refused(401, detail, { headers: { 'www-authenticate': 'Bearer realm="pigeonpost"' } });
}
