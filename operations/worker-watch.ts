import type { Client } from '@temporalio/client';

/** A worker polls for work at least once a minute. This leaves it time to reconnect. */
const longestSilenceMs = 90_000;
/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's enums/v1/task_queue.proto. */
const workflowTasks = 1;

/**
 * Notices whether any worker runs, for a process that only serves the API. Temporal lists the workers that polled within
 * five minutes, each with the instant of its last poll. That instant is by Temporal's clock, which may differ from this
 * process's clock. Therefore it is only compared with the instant at the previous check: if it has changed, the worker has
 * polled.
 */
export class WorkerWatch {
  #lastPolls: ReadonlyMap<string, string> = new Map();
  #polledAt = Number.NEGATIVE_INFINITY;

  /** @param monotonicNow a clock that never jumps, ms */
  constructor(
    private readonly client: Client,
    private readonly taskQueue: string,
    private readonly monotonicNow: () => number = () => performance.now(),
  ) {}

  /**
   * Queries Temporal. A worker that Temporal lists at the first check counts as running for 90 s.
   * @returns a sentence if no worker runs; null if one has polled lately
   * @throws as Temporal's client
   */
  async look(): Promise<string | null> {
    const { client, taskQueue } = this;
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: workflowTasks,
    });
    const polls = new Map(
      (pollers ?? []).map(({ identity, lastAccessTime: at }) => [
        String(identity),
        `${String(at?.seconds)} ${String(at?.nanos)}`,
      ]),
    );
    if ([...polls].some(([worker, at]) => this.#lastPolls.get(worker) !== at)) this.#polledAt = this.monotonicNow();
    this.#lastPolls = polls;
    return polls.size > 0 && this.monotonicNow() - this.#polledAt < longestSilenceMs
      ? null
      : `no worker has asked Temporal for work on task queue "${taskQueue}": start "pigeonpost worker"`;
  }
}
