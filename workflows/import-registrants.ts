import { continueAsNew } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/**
 * Sends the rows of one import until all are settled or an operator cancels it. Rows, chunks and their outcomes stay in the
 * ledger (claim check); the history holds only counts.
 * @param id the id of the import
 */
export async function importRegistrants(id: string): Promise<void> {
  const end = await runTurns(
    () => steps.importTurn(id),
    (request) => steps.handleWorkRequest({ kind: 'import', name: id }, request),
  );
  if (end === 'renew') await continueAsNew<typeof importRegistrants>(id);
}
