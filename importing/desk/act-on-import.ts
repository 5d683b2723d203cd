import { handleRequest } from '../../work/handle-request.js';
import { ImportRefusal } from './import-refusal.js';
import type { ImportAction } from './import-request.js';
import type { Ledger } from '../../ledger/ledger.js';
import { askToCancel } from '../queries/ask-import.js';
import type { ImportProgress } from '../queries/read-import.js';

/**
 * Writes what a person asks of an import into the ledger; the workflow is to be woken afterwards.
 * @throws {ImportRefusal} when it has ended
 */
export async function actOnImport(
  ledger: Ledger,
  { id, number, state }: Pick<ImportProgress, 'id' | 'number' | 'state'>,
  { do: verb, by, reason }: ImportAction,
): Promise<void> {
  if (state === 'done' || state === 'cancelled') {
    throw new ImportRefusal('stopped', `import ${number} has ended: there is nothing to ${verb}`);
  }
  if (verb === 'cancel') await askToCancel(ledger, id, by ?? null);
  else await handleRequest(ledger, { kind: 'import', name: id }, { do: verb, by, reason });
}
