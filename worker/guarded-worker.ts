import type { Log } from '../work/collaborators.js';
import type { ClusterGuard } from './cluster-guard.js';
import type { RunningWorker } from './run-worker.js';

/**
 * Runs a worker only while the cluster that drives the ledger answers. Another cluster's task queue may have the same name
 * and hold the work of another installation, so this process must not poll it.
 */
export class GuardedWorker {
  #worker: RunningWorker | null = null;
  #isStopped = false;

  constructor(
    private readonly cluster: Pick<ClusterGuard, 'refusal'>,
    private readonly parts: {
      readonly run: () => Promise<RunningWorker>;
      /** The worker ended without having been asked to. */
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

  /** Starts or stops the worker, as the last check of the cluster requires. Never call it twice at the same time. */
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
