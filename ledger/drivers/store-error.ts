import { poolerRefusal } from '../../base/postgres-pooler.js';

type StoreErrorKind =
  /** The connection could not be opened or broke, or the server is starting, stopping or out of connections. */
  | 'unreachable'
  /** No space is left on the store's disk. */
  | 'full'
  /** Another process owns the embedded store's folder. */
  | 'locked'
  /** Rolled back because of other work (deadlock, serialization, a timeout): the same transaction may be run again. */
  | 'conflict'
  /** A constraint refused a row. */
  | 'constraint'
  /** Everything else: a mistake in a statement, a value that cannot be stored or read, wrong use. */
  | 'other';

/**
 * The error that the store's drivers throw. The message never contains a parameter, a row or the store's password. For
 * the same reason, PostgreSQL's own error, whose `detail` quotes rows, is not kept as `cause`.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  /** @param sqlState PostgreSQL's five-character error code, if the error comes from PostgreSQL */
  constructor(
    readonly kind: StoreErrorKind,
    message: string,
    readonly sqlState?: string,
  ) {
    super(message);
  }
}

/** An error of the server as thrown by `pg`. The server sets all fields. */
interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly severity?: string;
  readonly constraint?: string;
}

/**
 * Converts any error of a driver to a StoreError. Keeps PostgreSQL's own message only for mistakes in a statement
 * (class 42), which name tables and columns; other messages quote values.
 * @param store name of the store in messages, without the password: `PostgreSQL at db:5432`
 * @param sql the statement's text, which contains no values
 */
export function toStoreError(error: unknown, store: string, sql = ''): StoreError {
  if (error instanceof StoreError) return error;
  if (isServerError(error)) return fromServer(error, store, sql);
  const distrust = distrustOf(error);
  if (distrust !== undefined) return new StoreError('unreachable', `${store} ${distrust}`);
  const code = networkCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new StoreError('full', fullMessage(store));
  if (code !== undefined) {
    return new StoreError('unreachable', `${store} cannot be reached (${code}): start it, or correct "store"`);
  }
  const message = textOf(fieldsOf(error).message);
  if (/certificate|\bSSL\b|\bTLS\b/i.test(message)) {
    return new StoreError('unreachable', `${store} refused an encrypted connection: check sslmode in its URL`);
  }
  if (/timeout|timed out/i.test(message)) {
    return new StoreError('unreachable', `${store} did not answer in time: check whether it is overloaded`);
  }
  if (/password|SASL|SCRAM/i.test(message)) {
    return new StoreError('unreachable', `${store} requires a password: add it to the URL of "store"`);
  }
  if (/terminated|not queryable|connection|socket|ended/i.test(message)) {
    return new StoreError('unreachable', `the connection to ${store} broke, so its transaction was rolled back`);
  }
  return new StoreError(
    'other',
    `${store} failed with an unknown error (${textOf(fieldsOf(error).name)})${statementOf(sql)}`,
  );
}

const nameAuthority =
  'add sslrootcert=FILE with the authority to the URL of "store", or sslmode=no-verify if you control the network';

/** Advice by Node's code for a certificate that is not trusted. Sources: Node.js, "TLS", and OpenSSL's codes. */
const distrusted: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has an expired certificate: renew it on the server',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'has a certificate for another name: correct the host in the URL of "store", or add sslmode=verify-ca to it',
  DEPTH_ZERO_SELF_SIGNED_CERT: `has a self-signed certificate: ${nameAuthority}`,
  SELF_SIGNED_CERT_IN_CHAIN: `has a certificate of an unknown authority: ${nameAuthority}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `has a certificate of an unknown authority: ${nameAuthority}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `has a certificate of an unknown authority: ${nameAuthority}`,
};

function distrustOf(error: unknown): string | undefined {
  const { code, message } = fieldsOf(error);
  if (/does not support SSL/i.test(textOf(message))) {
    return 'offers no TLS: enable TLS on the server, or add sslmode=disable to the URL of "store" if you control the network';
  }
  return typeof code === 'string' && Object.hasOwn(distrusted, code) ? distrusted[code] : undefined;
}

/** Returns true if the connection that threw this error must not be used again. */
export function breaksConnection({ kind }: StoreError): boolean {
  return kind === 'unreachable';
}

/** Returns true if the error comes from a statement that was prepared before another process changed the table. */
export function isOfStalePlan({ kind, sqlState }: StoreError): boolean {
  return kind === 'conflict' && sqlState === '0A000';
}

function fromServer(error: ServerError, store: string, sql: string): StoreError {
  const kind = kindOf(error);
  return new StoreError(
    kind,
    `${sentence(kind, error, store)}${kind === 'unreachable' || kind === 'full' ? '' : statementOf(sql)}`,
    error.code,
  );
}

function sentence(kind: StoreErrorKind, error: ServerError, store: string): string {
  switch (kind) {
    case 'full':
      return fullMessage(store);
    case 'unreachable':
      return `${store} refused the connection (SQLSTATE ${error.code}): ${refusal(error)}`;
    case 'conflict':
      return `${store} rolled a transaction back because of other work (SQLSTATE ${error.code}): run it again`;
    case 'constraint':
      return `${store} refused a row by constraint "${error.constraint ?? error.code}" (SQLSTATE ${error.code})`;
    default:
      if (error.code === '42501') {
        return `${store} refuses a statement: ${error.message} (SQLSTATE 42501): let the user in the URL of "store" own the database and its tables`;
      }
      return error.code.startsWith('42')
        ? `${store} does not understand a statement: ${error.message} (SQLSTATE ${error.code})`
        : `${store} refused a statement (SQLSTATE ${error.code})`;
  }
}

/** Source: PostgreSQL 15, Appendix A, "PostgreSQL Error Codes". */
function kindOf({ code, message }: ServerError): StoreErrorKind {
  // The message is checked too, because every unsupported feature has this code.
  if (code === '0A000' && message.startsWith('cached plan')) return 'conflict';
  // In the embedded store, a prepared statement may be missing, because it was sent in a transaction that had already
  // failed.
  if (code === '26000') return 'conflict';
  if (code === '53100') return 'full';
  if (code.startsWith('23')) return 'constraint';
  // 57014: a statement exceeded its time limit; 55P03: a lock was not granted; 25P03: a transaction was left idle
  if (['40001', '40P01', '57014', '55P03', '25P03'].includes(code)) return 'conflict';
  // 08 connection, 28 authorisation, 3D000 no such database, 53300 too many connections, 57P0x shutdown and start,
  // 25006 a standby after a failover
  if (code.startsWith('08') || code.startsWith('28') || code.startsWith('57P')) return 'unreachable';
  return ['3D000', '53300', '25006'].includes(code) ? 'unreachable' : 'other';
}

function refusal(error: ServerError): string {
  const { code } = error;
  const pooler = poolerRefusal(error);
  if (pooler?.about === 'parameter') {
    return `it is a connection pooler that refuses the parameter "${pooler.parameter}": remove the parameter from the URL of "store", or add it to ignore_startup_parameters of PgBouncer`;
  }
  if (pooler?.about === 'transactions') return poolerAdvice;
  if (pooler?.about === 'other') return `the server or a connection pooler answered: ${pooler.message}`;
  if (code.startsWith('28')) return 'correct the user and password in the URL of "store"';
  if (code === '3D000') return 'create the database that the URL of "store" names';
  if (code === '53300') return 'allow more connections, or run fewer processes';
  if (code === '25006') return 'it is read-only, so point "store" at the primary server';
  return code.startsWith('57P') ? 'it is starting or stopping' : 'check whether it accepts connections';
}

const poolerAdvice =
  'it is a connection pooler that does not pool sessions: set pool_mode = session for this database, or let "store" name the PostgreSQL server itself';

/** Returns the message about a pooler that pools transactions or statements. */
export function poolsTooLittle(store: string): string {
  return `${store} cannot be used: ${poolerAdvice}`;
}

function fullMessage(store: string): string {
  return `no space is left on the disk of ${store}: free some space; until then, nothing can be stored`;
}

/** Returns the beginning of the statement, which is enough to find it in the source. */
function statementOf(sql: string): string {
  const text = sql.replace(/\s+/g, ' ').trim();
  if (text === '') return '';
  return `, in: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

// Recognizes errors by their fields and not by `instanceof`, because errors of Node's own modules may come from another
// realm (Jest, workers).
function isServerError(error: unknown): error is ServerError {
  return 'severity' in fieldsOf(error) && /^[0-9A-Z]{5}$/.test(String(fieldsOf(error).code));
}

function networkCode(error: unknown): string | undefined {
  const { code, errors } = fieldsOf(error);
  if (typeof code === 'string' && /^E[A-Z_]{3,}$/.test(code)) return code;
  return Array.isArray(errors) && errors.length > 0 ? networkCode(errors[0]) : undefined; // one per address tried
}

function fieldsOf(error: unknown): { code?: unknown; errors?: unknown; message?: unknown; name?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
