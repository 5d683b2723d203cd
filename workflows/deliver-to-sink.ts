import { continueAsNew } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/** Delivers to one sink as long as it is configured. A page that stores changes for the sink wakes it. */
export async function deliverToSink(sink: string): Promise<void> {
  const end = await runTurns(
    () => steps.deliverTurn(sink),
    (request) => steps.handleWorkRequest({ kind: 'sink', name: sink }, request),
  );
  if (end === 'renew') await continueAsNew<typeof deliverToSink>(sink);
}
