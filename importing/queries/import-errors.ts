import { LedgerError } from '../../ledger/ledger-error.js';

export function staleImport(number: number): LedgerError {
  return new LedgerError('stale', `import ${number} has a newer sender: this attempt is over`);
}
