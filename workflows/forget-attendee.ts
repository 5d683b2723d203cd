import { continueAsNew } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/**
 * Erases a person everywhere, until every place has a final receipt. The person's identity stays in the ledger (claim
 * check); the history holds only the id of the erasure and counts.
 * @param id the id of the erasure
 */
export async function forgetAttendee(id: string): Promise<void> {
  const end = await runTurns(
    () => steps.forgetTurn(id),
    async () => undefined, // accepts no requests: it cannot be paused and polls nothing
  );
  if (end === 'renew') await continueAsNew<typeof forgetAttendee>(id);
}
