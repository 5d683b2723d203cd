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
  /** What was given is of another ledger: its keys are others. */
  | 'otherLedger'
  /** The ledger's key is missing here, or is another ledger's. */
  | 'key';

/** What the ledger refuses. The message is for a person: it names the thing and the next step. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';

  constructor(
    readonly kind: LedgerErrorKind,
    message: string,
  ) {
    super(message);
  }
}
