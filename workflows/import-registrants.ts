import { continueAsNew } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/**
 * Sends the rows of one import until each has come to its end, or a person has cancelled it. Rows, chunks and their
 * outcomes stay in the ledger (claim check); the history holds counts.
 * @param id of the import
 */
export async function importRegistrants(id: string): Promise<void> {
  const end = await runTurns(
    () => steps.importTurn(id),
    (request) => steps.handleWorkRequest({ kind: 'import', name: id }, request),
  );
  if (end === 'renew') await continueAsNew<typeof importRegistrants>(id);
}
