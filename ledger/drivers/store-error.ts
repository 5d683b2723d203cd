export type StoreErrorKind =
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
