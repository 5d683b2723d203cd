import { continueAsNew } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/** Reads a workspace's own lists and starts syncing the pigeonholes that its syncs select, as long as it is configured. */
export async function discoverPigeonholes(workspace: string): Promise<void> {
  const end = await runTurns(
    () => steps.discoverTurn(workspace),
    (request) => steps.handleWorkRequest({ kind: 'workspace', name: workspace }, request),
  );
  if (end === 'renew') await continueAsNew<typeof discoverPigeonholes>(workspace);
}
