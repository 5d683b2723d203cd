import { continueAsNew } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/**
 * Has a person forgotten everywhere, until every place has answered. Who it is stands in the ledger (claim check); the
 * history holds the id of the request and counts.
 * @param id of the erasure
 */
export async function forgetAttendee(id: string): Promise<void> {
  const end = await runTurns(
    () => steps.forgetTurn(id),
    async () => undefined, // nothing can be asked of it: it is not paused, and it reads nothing
  );
  if (end === 'renew') await continueAsNew<typeof forgetAttendee>(id);
}
