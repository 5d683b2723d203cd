import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import { runTurns } from './run-turns.js';
import type { PigeonholeName } from '../work/cycle-results.js';
import type { Activities } from '../activities/create-activities.js';

// A worker registers every export of this file as a workflow, under the name by which histories record it.

/**
 * The activities and the limits that apply to all of them. A cycle takes seconds. The heartbeat timeout is short,
 * because after a process has died, its pigeonholes are not read and its sinks receive nothing until Temporal detects
 * the death. Retries are unlimited, because an activity stores a permanent failure in the ledger and does not throw it.
 */
const steps = proxyActivities<Activities>({
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** Reads a workspace's own lists and starts syncing the pigeonholes that its syncs select, as long as it is configured. */
export async function discoverPigeonholes(workspace: string): Promise<void> {
  const end = await runTurns(
    () => steps.discoverTurn(workspace),
    (request) => steps.handleWorkRequest({ kind: 'workspace', name: workspace }, request),
  );
  if (end === 'renew') await continueAsNew<typeof discoverPigeonholes>(workspace);
}

/** Keeps one pigeonhole in the ledger current, as long as a sync selects it. Pages stay in the ledger (claim check). */
export async function syncPigeonhole(pigeonhole: PigeonholeName): Promise<void> {
  const end = await runTurns(
    () => steps.readPigeonholeTurn(pigeonhole),
    (request) => steps.handleWorkRequest({ kind: 'pigeonhole', name: pigeonhole }, request),
  );
  if (end === 'renew') await continueAsNew<typeof syncPigeonhole>(pigeonhole);
}

/**
 * Delivers to one sink as long as it is configured. The process that stores a page with changes for the sink wakes this
 * workflow.
 */
export async function deliverToSink(sink: string): Promise<void> {
  const end = await runTurns(
    () => steps.deliverTurn(sink),
    (request) => steps.handleWorkRequest({ kind: 'sink', name: sink }, request),
  );
  if (end === 'renew') await continueAsNew<typeof deliverToSink>(sink);
}

/**
 * Sends the rows of one import until all are settled or an operator cancels it. Rows, chunks and their outcomes stay in
 * the ledger (claim check); the history holds only counts.
 * @param id the id of the import
 */
export async function importRegistrants(id: string): Promise<void> {
  const end = await runTurns(
    () => steps.importTurn(id),
    (request) => steps.handleWorkRequest({ kind: 'import', name: id }, request),
  );
  if (end === 'renew') await continueAsNew<typeof importRegistrants>(id);
}

/**
 * Erases a person everywhere. Ends when the ledger and every sink have reported their final result (a receipt). The
 * person's identity stays in the ledger (claim check); the history holds only the id of the erasure and counts.
 * @param id the id of the erasure
 */
export async function forgetAttendee(id: string): Promise<void> {
  const end = await runTurns(
    () => steps.forgetTurn(id),
    async () => undefined, // accepts no requests: it cannot be paused and polls nothing
  );
  if (end === 'renew') await continueAsNew<typeof forgetAttendee>(id);
}
