import { codeOf } from '../../base/errors.js';
import { z } from 'zod';
import { secret, text } from '../../config/values.js';
import { isLoopback } from '../../base/loopback.js';
import { readFileSync } from 'node:fs';
import { type PostgresTlsMode, sslModes, tlsModeOf } from '../../base/postgres-tls.js';

const urlSecret = secret().superRefine((found, context) => {
  try {
    readCertificates(readUrl(found.reveal()));
  } catch (error) {
    context.issues.push({ code: 'custom', input: undefined, message: `this URL ${(error as Error).message}` });
  }
});

/** docs/sinks/postgres.md explains each key to users. */
export const postgresConfigSchema = z.strictObject({
  url: urlSecret
    .meta({
      allowed:
        'postgres://user:password@host:5432/database?sslmode=verify-full, written as `${NAME}` or `${file:/path}`',
      secret: true,
    })
    .describe('The database. Without `sslmode`, the sink verifies the certificate. Private addresses are allowed.'),
  schema: text('a schema in lower case, such as engagement', (found) =>
    /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(found) ? found : undefined,
  ).describe('The schema with a table for each list. It is created if necessary, and belongs only to this sink.'),
});

/** The keys of a `postgres` sink in pigeonpost.yaml, without those that all sinks share. */
export type PostgresConfig = Readonly<z.infer<typeof postgresConfigSchema>>;

/** The parts of a URL. They contain the password, so they are used only to connect. */
export type Server = Readonly<ReturnType<typeof readUrl>>;

interface Certificates {
  /** The certificate authority that replaces those of the system. */
  readonly ca?: string;
  /** Certificate and key of the client. */
  readonly cert?: string;
  readonly key?: string;
}

const PARAMETERS: readonly string[] = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'channel_binding',
  'connect_timeout',
  'application_name',
  'options',
];

/**
 * Parameters that hosting providers and tools put into URLs, and that have no effect here. They configure the
 * connection pools of Prisma and other drivers, or parts of libpq that this sink does not use.
 */
const WITHOUT_EFFECT: readonly string[] = `
  pgbouncer connection_limit pool_timeout pool_max_conns pool_mode max_idle_connection_lifetime
  statement_cache_size prepared_statements prepareThreshold schema socket_timeout supa uselibpqcompat
  client_encoding fallback_application_name gssencmode keepalives keepalives_idle keepalives_interval
  keepalives_count load_balance_hosts sslnegotiation sslcompression sslsni target_session_attrs tcp_user_timeout`
  .trim()
  .split(/\s+/);

/**
 * Parses `postgres://user:password@host:5432/database?sslmode=verify-full`. The default `sslmode` is `verify-full`,
 * because the rows contain personal data. On loopback it is `disable`, because nobody else can read the traffic.
 * @throws {TypeError} with the problem as the end of a sentence; it does not contain the URL, which may contain a
 * password
 */
export function readUrl(text: string) {
  if (!URL.canParse(text)) throw new TypeError('is not valid: percent-encode special characters in the password');
  const url = new URL(text);
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new TypeError('must begin with postgres://');
  const database = decoded(url.pathname.slice(1));
  const user = decoded(url.username);
  if (url.hostname === '') throw new TypeError('names no host');
  if (user === '') throw new TypeError('names no user');
  if (database === '' || database.includes('/')) throw new TypeError('must name one database after the host');
  const names = [...new Set(url.searchParams.keys())];
  if (names.some((name) => !PARAMETERS.includes(name) && !WITHOUT_EFFECT.includes(name)))
    throw new TypeError(`has an unknown parameter, allowed: ${PARAMETERS.join(', ')}`);
  const given = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const host = decoded(url.hostname).replace(/^\[|\]$/g, '');
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    password: url.password === '' ? undefined : decoded(url.password),
    database,
    tlsMode: readTlsMode(url.searchParams.get('sslmode'), url.hostname),
    /** Binds the password to the TLS connection if the server supports it. */
    channelBinding: given('channel_binding') === 'require',
    /** Passed to the server unchanged, such as `endpoint=…`, which some hosting providers require. */
    options: given('options'),
    /** Time limit to open a connection; undefined: the sink's default. */
    connectTimeoutMs: readSeconds(given('connect_timeout')),
    applicationName: given('application_name'),
    /** Paths of PEM files, as libpq accepts them. */
    certificates: {
      ...(given('sslrootcert') !== undefined && given('sslrootcert') !== 'system' && { ca: given('sslrootcert')! }),
      ...(given('sslcert') !== undefined && { cert: given('sslcert')! }),
      ...(given('sslkey') !== undefined && { key: given('sslkey')! }),
    },
    /** Known parameters of the URL that have no effect. */
    ignored: names.filter((name) => WITHOUT_EFFECT.includes(name)),
  };
}

/**
 * Reads `connect_timeout`, in whole seconds. In PostgreSQL's own programs, 0 or less means no limit; the sink uses its
 * default instead.
 */
function readSeconds(found: string | undefined): number | undefined {
  if (found === undefined) return undefined;
  if (!/^-?\d{1,5}$/.test(found)) throw new TypeError('has a connect_timeout that is not a number of seconds');
  return Number(found) > 0 ? Number(found) * 1000 : undefined;
}

/**
 * Reads the files that the URL names.
 * @throws {TypeError} with the parameter whose file cannot be read; the message is the end of a sentence
 */
export function readCertificates({ certificates }: Pick<Server, 'certificates'>): Certificates {
  const read = (name: string, path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const code = codeOf(error);
      throw new TypeError(`names a file in ${name} that cannot be read (${code})`);
    }
  };
  const { ca, cert, key } = certificates;
  return {
    ...(ca !== undefined && { ca: read('sslrootcert', ca) }),
    ...(cert !== undefined && { cert: read('sslcert', cert) }),
    ...(key !== undefined && { key: read('sslkey', key) }),
  };
}

/** Returns the server's name in messages, without user and password. */
export function serverName({ host, port }: Server): string {
  return `PostgreSQL at ${host}:${port}`;
}

function readTlsMode(found: string | null, host: string): PostgresTlsMode {
  if (found === null) return isLoopback(host) ? 'disable' : 'verify-full';
  const mode = tlsModeOf(found);
  if (mode === undefined) throw new TypeError(`has an unknown sslmode, allowed: ${sslModes.join(', ')}`);
  return mode;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new TypeError('is not valid: percent-encode special characters in the password');
  }
}
