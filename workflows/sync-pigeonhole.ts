import { continueAsNew } from '@temporalio/workflow';
import type { PigeonholeName } from '../work/cycle-results.js';
import { runTurns } from './run-turns.js';
import { steps } from './steps.js';

/** Keeps one pigeonhole in the ledger current, as long as a sync selects it. Pages stay in the ledger (claim check). */
export async function syncPigeonhole(pigeonhole: PigeonholeName): Promise<void> {
  const end = await runTurns(
    () => steps.readPigeonholeTurn(pigeonhole),
    (request) => steps.handleWorkRequest({ kind: 'pigeonhole', name: pigeonhole }, request),
  );
  if (end === 'renew') await continueAsNew<typeof syncPigeonhole>(pigeonhole);
}
