import { type ActivityOptions, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { queueFor, type WorkKind } from './queues.js';
import { runStays } from './run-stays.js';
import { runCycles } from './run-cycles.js';
import type { Activities } from '../activities/create-activities.js';

// A worker registers every export of this file as a workflow, under the name by which histories record it.

/**
 * Limits of all activities. The heartbeat timeout is short, because after a process has died, its pigeonholes are not
 * read and its sinks receive nothing until Temporal detects the death. Retries are unlimited, because an activity stores
 * a permanent failure in the ledger and does not throw it.
 */
const limits: ActivityOptions = {
  heartbeatTimeout: '12 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
};

/** Activities that run one cycle, which takes seconds. */
const steps = proxyActivities<Activities>({ ...limits, startToCloseTimeout: '3 minutes' });

/**
 * Activities with a task queue of their own. Never dispatched eagerly: the process that ends a stay would always get the
 * next one, and a process that has just started would get none.
 * @param startToCloseTimeout for a stay: longer than its two minutes, because the work in progress at its end is finished
 */
function stepsOf(kind: WorkKind, startToCloseTimeout: '3 minutes' | '5 minutes') {
  const taskQueue = queueFor(kind, workflowInfo().taskQueue);
  return proxyActivities<Activities>({ ...limits, startToCloseTimeout, taskQueue, allowEagerDispatch: false });
}

/** Reads a workspace's own lists and selects the pigeonholes that its syncs read, as long as it is configured. */
export async function discoverPigeonholes(workspace: string): Promise<void> {
  const end = await runCycles(() => steps.discoverTurn(workspace));
  if (end === 'renew') await continueAsNew<typeof discoverPigeonholes>(workspace);
}

/**
 * Keeps the pigeonholes of one reader in the ledger current, until it has none. Pages stay in the ledger (claim check).
 * @param number the number of the reader
 */
export async function readPigeonholes(number: number): Promise<void> {
  const { readStay } = stepsOf('reading', '5 minutes');
  const end = await runStays(() => readStay(number));
  if (end === 'renew') await continueAsNew<typeof readPigeonholes>(number);
}

/** Delivers to one sink as long as it is configured. */
export async function deliverToSink(sink: string): Promise<void> {
  const { deliverStay } = stepsOf('delivering', '5 minutes');
  const end = await runStays(() => deliverStay(sink));
  if (end === 'renew') await continueAsNew<typeof deliverToSink>(sink);
}

/**
 * Sends the rows of one import until all are settled or an operator cancels it. Rows, chunks and their outcomes stay in
 * the ledger (claim check); the history holds only counts.
 * @param id the id of the import
 */
export async function importRegistrants(id: string): Promise<void> {
  const { importTurn } = stepsOf('importing', '3 minutes');
  const end = await runCycles(() => importTurn(id));
  if (end === 'renew') await continueAsNew<typeof importRegistrants>(id);
}

/**
 * Erases a person everywhere. Ends when the ledger and every sink have reported their final result (a receipt). The
 * person's identity stays in the ledger (claim check); the history holds only the id of the erasure and counts.
 * @param id the id of the erasure
 */
export async function forgetAttendee(id: string): Promise<void> {
  const end = await runCycles(() => steps.forgetTurn(id));
  if (end === 'renew') await continueAsNew<typeof forgetAttendee>(id);
}
