/** A failed backup or restore. The message says what to do and contains no data of a row. */
export class BackupError extends Error {
  override readonly name = 'BackupError';

  constructor(
    readonly kind:
      /** The arguments are invalid. */
      | 'wrongUse'
      /** A program of this machine is missing. */
      | 'tool'
      /** Something is in the way: a running process, a store that is not empty, a file that exists. */
      | 'inUse'
      /** There is no such thing. */
      | 'missing'
      /** The file cannot be used. */
      | 'unusable'
      /** It is of another ledger than the one that is there. */
      | 'otherLedger'
      /** The ledger's key is missing, or is another ledger's. */
      | 'key'
      | 'failed',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
