/** A failed backup or restore. The message says what to do and contains no data of a row. */
export class BackupError extends Error {
  override readonly name = 'BackupError';

  constructor(
    readonly kind:
      /** The arguments are invalid. */
      | 'wrongUse'
      /** A program of this machine is missing. */
      | 'tool'
      /** Something prevents it: a running process, a store that is not empty, or a file that exists already. */
      | 'inUse'
      /** The file or the store does not exist. */
      | 'missing'
      /** The file cannot be used. */
      | 'unusable'
      /** The backup belongs to another ledger than the present one. */
      | 'otherLedger'
      /** The ledger's key is missing, or belongs to another ledger. */
      | 'key'
      | 'failed',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
