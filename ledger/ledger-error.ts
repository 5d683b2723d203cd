export type LedgerErrorKind =
  /** The lease under which this was to be written has a newer holder: the attempt is over. */
  | 'stale'
  /** The store's schema is newer than this code. */
  | 'version'
  /** Another session keeps a table locked that a migration needs. */
  | 'busy'
  /** Another Temporal drives this ledger. */
  | 'cluster'
  /** The process runs a configuration that is no longer, or not yet again, the current one. */
  | 'configuration'
  /** The given data belongs to another ledger, which has other keys. */
  | 'otherLedger'
  /** The ledger's key is missing here, or is another ledger's. */
  | 'key';

/** Error with which the ledger refuses a request. The message is for a person: it names the thing and the next step. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';

  constructor(
    readonly kind: LedgerErrorKind,
    message: string,
  ) {
    super(message);
  }
}
