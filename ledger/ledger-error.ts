type LedgerErrorKind =
  /** Another attempt has acquired the lease under which this attempt wanted to write, so this attempt must stop. */
  | 'stale'
  /** The store's schema is newer than this code. */
  | 'version'
  /** Another session keeps a table locked that a migration needs. */
  | 'busy'
  /** Another Temporal cluster or namespace drives this ledger. */
  | 'cluster'
  /** The process runs a configuration that is not the current one: an older one, or one that is not current yet. */
  | 'configuration'
  /** The data belongs to another ledger, which hashes with other keys. */
  | 'otherLedger'
  /** This process has no key for the ledger, or the key of another ledger. */
  | 'key';

/**
 * The error with which the ledger refuses a request. The message is for an operator: it says what is affected and what
 * to do next.
 */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';

  constructor(
    readonly kind: LedgerErrorKind,
    message: string,
  ) {
    super(message);
  }
}
