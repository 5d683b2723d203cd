import { type NativeConnection, Worker, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../activities/create-activities.js';
import type { InUse, Log } from '../work/collaborators.js';
import type { Config } from '../config/config.js';
import type { ClusterGuard } from './connect-temporal.js';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.js';

/** A worker that polls its task queue until it is stopped. */
interface RunningWorker {
  /** Rejects if the worker ends although `stop` was not called. */
  readonly ended: Promise<void>;
  /** Number of running activities: reads, deliveries, imports. */
  readonly inFlight: number;
  /** Returns true while the worker polls its task queue. */
  isPolling(): boolean;
  /** Stops the worker. Running activities get 2 s to reach a safe point and are then cancelled. */
  stop(): Promise<void>;
}

/**
 * Registers workflows and activities, and starts polling the task queue. Opens nothing else, so it closes nothing else.
 */
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
    maxConcurrentActivityTaskExecutions: 20, // each makes a few concurrent requests, and all share one store
    maxConcurrentWorkflowTaskExecutions: 40,
    shutdownGraceTime: '2 seconds', // then activities are cancelled: they end open requests and release leases
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
      /** Called if the worker ends although it was not stopped. */
      readonly onFailure: (error: unknown) => void;
      readonly log: Log;
    },
  ) {}

  isPolling(): boolean {
    return this.#worker?.isPolling() ?? false;
  }

  /** Reads and deliveries that are in progress. */
  get inFlight(): number {
    return this.#worker?.inFlight ?? 0;
  }

  /** Starts or stops the worker, depending on the last check of the cluster. Calls must not overlap. */
  async follow(): Promise<void> {
    const { refusal } = this.cluster;
    if (refusal !== null) await this.#halt(refusal);
    else if (this.#worker === null && !this.#isStopped) await this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
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
