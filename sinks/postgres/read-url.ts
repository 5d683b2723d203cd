import { isLoopback } from '../../config/loopback.js';

/**
 * How the way to a server is protected, in PostgreSQL's own words. `require` encrypts and asks nobody who the server
 * is; `verify-ca` wants a certificate of a trusted authority, `verify-full` one for its name besides.
 */
export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

export type SslMode = (typeof sslModes)[number];

/** What a URL says. Holds a password: it goes to the connection and nowhere else. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
  /** Ties the password to the TLS connection, where the server offers it. */
  readonly channelBinding: boolean;
  /** Settings that are handed to the server as they stand, e.g. `endpoint=…` of some hosted ones. */
  readonly options: string | undefined;
}

const PARAMETERS: readonly string[] = ['sslmode', 'channel_binding', 'options'];

/**
 * Reads `postgres://user:password@host:5432/database?sslmode=verify-full`. Without `sslmode` it is `verify-full`, for
 * the rows are about people; on loopback, where nobody can listen, it is `disable`.
 * @throws {TypeError} with what is wrong, as the end of a sentence, and nothing of the URL: it may hold a password
 */
export function readUrl(text: string): Server {
  if (!URL.canParse(text)) throw new TypeError('is no URL: percent-encode special characters of the password');
  const url = new URL(text);
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new TypeError('must begin with postgres://');
  const database = decoded(url.pathname.slice(1));
  const user = decoded(url.username);
  if (url.hostname === '') throw new TypeError('names no host');
  if (user === '') throw new TypeError('names no user');
  if (database === '' || database.includes('/')) throw new TypeError('must name one database after the host');
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`has a parameter that is not known, allowed: ${PARAMETERS.join(', ')}`);
  const host = decoded(url.hostname).replace(/^\[|\]$/g, '');
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    password: url.password === '' ? undefined : decoded(url.password),
    database,
    sslMode: readSslMode(url.searchParams.get('sslmode'), url.hostname),
    channelBinding: url.searchParams.get('channel_binding') === 'require',
    options: url.searchParams.get('options') ?? undefined,
  };
}

/** How a server is named to a person, without user and password. */
export function serverName({ host, port }: Server): string {
  return `PostgreSQL at ${host}:${port}`;
}

function readSslMode(found: string | null, host: string): SslMode {
  if (found === null) return isLoopback(host) ? 'disable' : 'verify-full';
  const mode = sslModes.find((known) => known === found);
  if (mode === undefined) throw new TypeError(`has an sslmode that is not known, allowed: ${sslModes.join(', ')}`);
  return mode;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new TypeError('is no URL: percent-encode special characters of the password');
  }
}
