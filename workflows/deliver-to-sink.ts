import { continueAsNew } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/** Sends one sink what its lanes hold, as long as it is configured. Woken by the page that gives it something to do. */
export async function deliverToSink(sink: string): Promise<void> {
  const end = await runTurns(
    () => steps.deliverTurn(sink),
    (request) => steps.handleWorkRequest({ kind: 'sink', name: sink }, request),
  );
  if (end === 'renew') await continueAsNew<typeof deliverToSink>(sink);
}
