import { type NativeConnection, Worker, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { type Activities, createActivities, heartbeatEveryMs } from '../activities/create-activities.js';
import { queueFor, type WorkKind } from '../workflows/queues.js';
import type { InUse } from '../cycles/collaborators.js';
import type { Log } from '../base/log.js';
import type { Config } from '../config/config.js';
import type { ClusterGuard } from './connect-temporal.js';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.js';

/** A worker that polls its task queues until it is stopped. */
interface RunningWorker {
  /** Rejects if the worker ends although `stop` was not called. */
  readonly ended: Promise<void>;
  /** Number of running activities. Most of them are stays, which are always running. */
  readonly inFlight: number;
  /** Returns true while the worker polls its task queues. */
  isPolling(): boolean;
  /**
   * Stops the worker: first the stays and imports, so that other processes can continue them, then the rest. An
   * activity gets 2 s to reach a safe point and is then cancelled.
   */
  stop(): Promise<void>;
}

/** The activities that have a task queue of their own, and how many of them a process runs at the same time. */
const kinds: Readonly<
  Record<WorkKind, { readonly activities: readonly (keyof Activities)[]; readonly atOnce: number }>
> = {
  // 2,500 pigeonholes, of which `RoundQueue` decides how many are read at the same time
  reading: { activities: ['readStay'], atOnce: 100 },
  delivering: { activities: ['deliverStay'], atOnce: 100 },
  importing: { activities: ['importTurn'], atOnce: 10 }, // each makes a few concurrent requests
};

/** A long poll waits for the next task, so a few are enough for tasks that take seconds or minutes. */
const polls = { type: 'simple-maximum', maximum: 2 } as const;

/**
 * Registers workflows and activities, and starts polling the task queue. Opens nothing else, so it closes nothing else.
 */
export async function runWorker(
  current: InUse,
  { native, temporal }: { native: NativeConnection; temporal: Config['temporal'] },
): Promise<RunningWorker> {
  const activities = createActivities(current);
  const common = {
    connection: native,
    namespace: temporal.namespace,
    activityTaskPollerBehavior: polls,
    maxHeartbeatThrottleInterval: heartbeatEveryMs, // otherwise only one in three is sent, and a slow one is too late
    shutdownGraceTime: '2 seconds', // then activities are cancelled: they end open requests and release leases
    shutdownForceTime: '5 seconds',
    sinks: {},
  } as const;
  const main = await Worker.create({
    ...common,
    taskQueue: temporal.taskQueue,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: pick(activities, ['discoverTurn', 'forgetTurn']),
    maxCachedWorkflows: temporal.maxCachedWorkflows, // measured: 1 GB holds about 600
    maxConcurrentActivityTaskExecutions: 20,
    // All share one thread. When it is starved, waiting tasks must not exceed Temporal's limit of 10 s together.
    maxConcurrentWorkflowTaskExecutions: 4,
    workflowTaskPollerBehavior: polls,
  });
  const others = await Promise.all(
    Object.entries(kinds).map(([kind, { activities: names, atOnce }]) =>
      Worker.create({
        ...common,
        taskQueue: queueFor(kind as WorkKind, temporal.taskQueue),
        activities: pick(activities, names),
        maxConcurrentActivityTaskExecutions: atOnce,
      }),
    ),
  );
  const all = [main, ...others];
  const runs = new Map(all.map((worker) => [worker, worker.run()]));
  const ended = Promise.all(runs.values()).then(() => undefined);
  const stop = async (workers: readonly Worker[]): Promise<void> => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.allSettled(workers.map((worker) => runs.get(worker)!));
  };
  return {
    ended,
    get inFlight() {
      return all.reduce((sum, worker) => sum + worker.getStatus().numInFlightActivities, 0);
    },
    isPolling: () => all.every((worker) => worker.getState() === 'RUNNING'),
    async stop() {
      await stop(others);
      await stop([main]);
    },
  };
}

function pick(activities: Activities, names: readonly (keyof Activities)[]): Partial<Activities> {
  return Object.fromEntries(names.map((name) => [name, activities[name]]));
}

/**
 * Runs a worker, except while a cluster other than the one that drives the ledger answers. Another cluster's task queue
 * may have the same name and hold the work of another installation, so this process must not poll it.
 */
export class GuardedWorker {
  #worker: RunningWorker | null = null;
  #isStopped = false;

  constructor(
    private readonly cluster: Pick<ClusterGuard, 'refusal'>,
    private readonly parts: {
      readonly run: () => Promise<RunningWorker>;
      /** Aborted when the worker stops, which ends its stays. */
      readonly stopping: AbortController;
      /** Called if the worker ends although it was not stopped. */
      readonly onFailure: (error: unknown) => void;
      readonly log: Log;
    },
  ) {}

  isPolling(): boolean {
    return this.#worker?.isPolling() ?? false;
  }

  /** Number of running activities. */
  get inFlight(): number {
    return this.#worker?.inFlight ?? 0;
  }

  /** Starts or stops the worker, depending on the last check of the cluster. Calls must not overlap. */
  async follow(): Promise<void> {
    const { refusal } = this.cluster;
    if (refusal !== null) await this.#halt(refusal);
    else if (this.#worker === null && !this.#isStopped) await this.#run();
  }

  /** Ends the stays first: the SDK cancels hundreds of them too slowly. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.parts.stopping.abort();
    await this.#worker?.stop();
  }

  async #run(): Promise<void> {
    const worker = await this.parts.run();
    this.#worker = worker;
    worker.ended.then(
      () => undefined,
      (error: unknown) => {
        if (this.#worker === worker) this.parts.onFailure(error);
      },
    );
  }

  async #halt(reason: string): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    this.parts.log.error({ reason }, 'the worker stops polling until the right Temporal cluster answers again');
    await worker.stop();
  }
}

/**
 * Returns the path of the workflow code that every worker loads. The build creates it, because bundling takes seconds.
 */
function workflowBundlePath(): string {
  return join(packageRoot(), 'dist/workflow-bundle.js');
}

/**
 * Bundles the built workflows. The build calls it after the compiler.
 * @throws if a workflow imports a module that it must not import
 */
export async function writeWorkflowBundle(): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(packageRoot(), 'dist/workflows/all-workflows.js'),
    logger: new DefaultLogger('WARN'), // its info lines are statistics of webpack
    // Stack traces need the source map, but not the sources in it, which are two thirds of a file that two threads keep
    // in memory.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  });
  await writeFile(workflowBundlePath(), inOneByte(code));
}

/**
 * Escapes characters beyond Latin-1. A single one, such as a dash in a comment, makes V8 store the whole text with two
 * bytes per character in each of two threads. Outside strings, the bundle has such characters only in comments.
 */
function inOneByte(code: string): string {
  return code.replace(/[^\x00-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
