import type { Client } from '@temporalio/client';

/** A worker asks for work at least once a minute (a poll waits as long), and this leaves it time to reconnect. */
const longestSilenceMs = 90_000;
/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's enums/v1/task_queue.proto. */
const workflowTasks = 1;

/**
 * For a process that serves the API and does not work itself: whether anybody does.
 * @returns the sentence that says that nobody does; null when a worker has asked for work lately
 * @throws what Temporal refuses
 */
export async function findMissingWorkers(client: Client, taskQueue: string, nowMs: number): Promise<string | null> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: workflowTasks,
  });
  const lately = (pollers ?? []).some(
    ({ lastAccessTime }) => nowMs - Number(lastAccessTime?.seconds ?? 0) * 1000 < longestSilenceMs,
  );
  return lately
    ? null
    : `no worker has asked Temporal for work on task queue "${taskQueue}": start "pigeonpost worker"`;
}
