import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';

/** What a log may say of an error. Never its message: what code that is at fault says may hold anything. */
export function nameOfError(error: unknown): string {
  if (error instanceof LedgerError || error instanceof StoreError) return `${error.name} ${error.kind}`;
  return error instanceof Error ? error.name : 'unknown';
}
