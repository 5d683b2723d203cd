import { type NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from '../activities/create-activities.js';
import type { InUse } from '../work/collaborators.js';
import type { Config } from '../config/config.js';
import { workflowBundlePath } from './workflow-bundle.js';

/** A worker that polls its task queue until it is stopped. */
export interface RunningWorker {
  /** Rejects when the worker ends without having been asked to. */
  readonly ended: Promise<void>;
  /** The number of activities that run now: reads, deliveries, imports. */
  readonly inFlight: number;
  /** Whether it polls its task queue. */
  isPolling(): boolean;
  /** Ends it: what runs gets a moment to reach its next safe point, then is cancelled. */
  stop(): Promise<void>;
}

/** Registers workflows and activities and begins to work. Opens nothing else, so it closes nothing else. */
export async function runWorker(
  current: InUse,
  { native, temporal }: { native: NativeConnection; temporal: Config['temporal'] },
): Promise<RunningWorker> {
  const worker = await Worker.create({
    connection: native,
    namespace: temporal.namespace,
    taskQueue: temporal.taskQueue,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: createActivities(current),
    maxCachedWorkflows: temporal.maxCachedWorkflows, // measured: 1 GB holds about 600
    maxConcurrentActivityTaskExecutions: 20, // each reads or sends with a few requests at once, over one store
    maxConcurrentWorkflowTaskExecutions: 40,
    shutdownGraceTime: '2 seconds', // then activities are cancelled: open requests end, leases are given back
    shutdownForceTime: '7 seconds',
    sinks: {},
  });
  const ended = worker.run();
  return {
    ended,
    get inFlight() {
      return worker.getStatus().numInFlightActivities;
    },
    isPolling: () => worker.getState() === 'RUNNING',
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended.catch(() => undefined);
    },
  };
}
