import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';

/** Returns the error's name and kind for a log line. Never its message, which may contain personal data. */
export function nameOfError(error: unknown): string {
  if (error instanceof LedgerError || error instanceof StoreError) return `${error.name} ${error.kind}`;
  return error instanceof Error ? error.name : 'unknown';
}
