import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Config } from '../config/config.js';
import { TemporalUnreachableError } from './failure-kind.js';
import { bindCluster } from '../ledger/identity.js';
import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';

/** Both connections of a worker process. The caller closes them. */
export interface TemporalConnections {
  readonly client: Client;
  readonly native: NativeConnection;
  /** The cluster's id, by which a second cluster for one ledger is recognized and refused. */
  readonly clusterId: string;
  close(): Promise<void>;
}

/** Connects to a Temporal server. @throws {TemporalUnreachableError} */
export async function connectTemporal(address: string, temporal: Config['temporal']): Promise<TemporalConnections> {
  const { namespace } = temporal;
  const options = connectionOptions(address, temporal);
  const connection = Connection.lazy({ ...options, connectTimeout: '10 seconds' });
  let found: string | undefined;
  try {
    await connection.ensureConnected();
    found = namespace;
    const { clusterId } = await connection.workflowService.getClusterInfo({});
    await connection.workflowService.describeNamespace({ namespace });
    const native = await NativeConnection.connect(options);
    const client = new Client({ connection, namespace });
    const close = async (): Promise<void> => {
      await native.close();
      await connection.close();
    };
    return { client, native, clusterId, close };
  } catch (error) {
    await connection.close(); // otherwise it retries forever
    throw unreachable(address, error, found);
  }
}

/**
 * A client for a process that only serves the API. It does not wait for Temporal: calls fail while Temporal cannot be
 * reached, and succeed as soon as it can. The caller closes it.
 */
export function openTemporalClient(
  address: string,
  temporal: Config['temporal'],
): Pick<TemporalConnections, 'client' | 'close'> {
  const connection = Connection.lazy(connectionOptions(address, temporal));
  const client = new Client({ connection, namespace: temporal.namespace });
  return { client, close: () => connection.close() };
}

function connectionOptions(address: string, { apiKey, tls }: Config['temporal']) {
  return {
    address,
    ...(apiKey === undefined ? {} : { apiKey: apiKey.reveal() }),
    ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
  };
}

function tlsOptions(tls: NonNullable<Config['temporal']['tls']>): object {
  const { ca, certificate, key } = tls;
  return {
    ...(ca === undefined ? {} : { serverRootCACertificate: Buffer.from(ca) }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: Buffer.from(certificate), key: Buffer.from(key.reveal()) } }),
  };
}

/**
 * Returns the error for a Temporal server that cannot be used.
 * @param namespace set if the server answered and refused this namespace
 */
export function unreachable(address: string, error: unknown, namespace?: string): TemporalUnreachableError {
  const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
  const where = namespace === undefined ? address : `${address}, namespace ${namespace}`;
  return new TemporalUnreachableError(
    `Temporal at ${where} cannot be used (${why}): check temporal.address, temporal.namespace and that the server is running`,
    { cause: error },
  );
}

/** Time limit for an answer. A server that works answers much faster. */
const answerTimeoutMs = 5000;

/**
 * Compares the Temporal cluster behind the connection with the one that drives the ledger. After a restore, a failover
 * or a DNS change, another cluster may answer at the same address without this process noticing. An empty cluster would
 * receive every workflow again while the first cluster still runs them.
 */
export class ClusterGuard {
  #refusal: string | null = null;
  #away: string | null = null;

  constructor(
    private readonly ledger: Pick<Ledger, 'db'>,
    private readonly client: Pick<Client, 'workflowService' | 'withDeadline'>,
    private readonly terms: { readonly address: string; readonly namespace: string; readonly adopt: boolean },
  ) {}

  /** The reason why no workflow may be started, according to the last check that got an answer; null: none. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** The cluster's problem as a sentence for the operator, according to the last check; null: none. */
  get trouble(): string | null {
    return this.#refusal ?? this.#away;
  }

  /**
   * Checks that the ledger's own cluster answers.
   * @throws {LedgerError} kind `cluster` if another cluster answers
   * @throws {TemporalUnreachableError} if none answers
   */
  async check(): Promise<void> {
    const clusterId = await this.#identify();
    const { namespace, adopt } = this.terms;
    try {
      await bindCluster(this.ledger, { clusterId, namespace, adopt });
      this.#refusal = null;
    } catch (error) {
      if (error instanceof LedgerError && error.kind === 'cluster') this.#refusal = error.message;
      throw error;
    }
  }

  /**
   * Like `check`, but stores a problem of the cluster in `trouble` instead of throwing it.
   * @returns whether this check found that the cluster can be used again
   */
  async look(): Promise<boolean> {
    const before = this.trouble;
    try {
      await this.check();
    } catch (error) {
      if (this.trouble === null) throw error; // the store failed, not the cluster
    }
    return before !== null && this.trouble === null;
  }

  async #identify(): Promise<string> {
    try {
      const { clusterId } = await this.client.withDeadline(Date.now() + answerTimeoutMs, () =>
        this.client.workflowService.getClusterInfo({}),
      );
      this.#away = null;
      return clusterId;
    } catch (error) {
      const failure = unreachable(this.terms.address, error);
      this.#away = failure.message;
      throw failure;
    }
  }
}

/** A worker polls for work at least once a minute. This leaves it time to reconnect. */
const longestSilenceMs = 90_000;
/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's enums/v1/task_queue.proto. */
const workflowTasks = 1;

/**
 * Finds out whether any worker is running, for a process that only serves the API. Temporal lists the workers that
 * polled within five minutes, each with the instant of its last poll. That instant is by Temporal's clock, which may
 * differ from this process's clock. Therefore it is only compared with the instant at the previous check: if it has
 * changed, the worker has polled.
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
   * @throws any error of Temporal's client
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
