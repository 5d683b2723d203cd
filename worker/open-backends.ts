import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionLike } from '@temporalio/client';
import type { Config } from '../config/config.js';
import type { Database } from '../ledger/drivers/database.js';
import { openDatabase } from '../ledger/drivers/open-database.js';
import { endLoading } from './prepare-process.js';
import { connectTemporal, openTemporalClient, type TemporalConnections } from './connect-temporal.js';
import { type EmbeddedTemporal, startEmbeddedTemporal } from './embedded-temporal/embedded-temporal.js';
import { findBinary } from './embedded-temporal/find-binary.js';
import type { ProcessOptions } from './start-process.js';
import type { PartHealth } from '../api/health.js';
import type { Ledger } from '../ledger/ledger.js';
import type { GuardedWorker } from './run-worker.js';

/**
 * Returns the line that tells the operator what the start waits for. Creating an embedded store takes seconds, or
 * longer on a slow disk.
 */
export function openingStore({ store }: Config): string {
  if (store.kind !== 'embedded') return 'opening the ledger in PostgreSQL';
  return existsSync(join(store.folder, 'postgres'))
    ? `opening the ledger in ${store.folder}`
    : `creating the ledger in ${store.folder}`;
}

export async function openStore(
  { config, onProgress }: ProcessOptions,
  closers: (() => Promise<void>)[],
): Promise<Database> {
  const { store, storeConnections: maxConnections } = config;
  const db = await openDatabase(
    store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal(), maxConnections },
  );
  endLoading(store.kind);
  closers.push(async () => {
    onProgress('closing the ledger');
    await db.close();
  });
  return db;
}

export async function openTemporal(
  options: ProcessOptions,
  closers: (() => Promise<void>)[],
  onFatal: (error: Error) => void,
): Promise<{ address: string; client: TemporalConnections['client']; native: TemporalConnections['native'] | null }> {
  const { config, log, onProgress } = options;
  let { address } = config.temporal;
  if (address === 'embedded') {
    onProgress('starting the Temporal server');
    const binary = await findBinary(options.binarySources, onProgress);
    const server: EmbeddedTemporal = await startEmbeddedTemporal({
      folder: embeddedFolder(config),
      binary,
      namespace: config.temporal.namespace,
      onRestart: (reason) => log.warn({ reason }, 'the embedded Temporal server ended and is started again'),
      onFatal,
    });
    closers.push(async () => {
      onProgress('stopping the Temporal server');
      await server.stop();
    });
    ({ address } = server);
  } else onProgress(`connecting to Temporal at ${address}`);
  if (options.role === 'api') {
    const opened = openTemporalClient(address, config.temporal);
    closers.push(() => opened.close());
    return { address, client: opened.client, native: null };
  }
  const connections = await connectTemporal(address, config.temporal);
  closers.push(() => connections.close());
  return { address, client: connections.client, native: connections.native };
}

/**
 * Returns the folder of the embedded store, in which an embedded Temporal server stores its data under the same lock.
 */
export function embeddedFolder({ store }: Config): string {
  if (store.kind === 'embedded') return store.folder;
  throw new Error('an embedded Temporal needs an embedded store'); // loading the configuration refuses it
}

const withinMs = 3000;

/**
 * Reports whether the parts that a process needs are ready. Never throws; a part that does not answer within 3 s is not
 * ready.
 */
export async function readHealth({
  ledger,
  work,
}: {
  readonly ledger: Ledger;
  /** Null for a process that serves the API, which needs only the store. */
  readonly work: {
    readonly connection: ConnectionLike;
    readonly worker: Pick<GuardedWorker, 'isPolling'>;
  } | null;
}): Promise<PartHealth[]> {
  const store = answers(ledger.db.query('select 1'));
  if (work === null) return [{ part: 'store', ready: await store }];
  const { connection, worker } = work;
  const temporal = answers(
    connection.withDeadline(Date.now() + withinMs, () => connection.workflowService.getSystemInfo({})),
  );
  return [
    { part: 'store', ready: await store },
    { part: 'temporal', ready: await temporal },
    { part: 'worker', ready: worker.isPolling() },
  ];
}

async function answers(question: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, withinMs, false);
  });
  const answered = question.then(
    () => true,
    () => false,
  );
  return await Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

/**
 * Reports once that a page of the service has been read. Another process with the same ledger may do all the reading,
 * so a page that it has stored since this process started counts as well.
 */
export class FirstPage {
  readonly #since: Date;
  #isReported = false;

  constructor(
    private readonly ledger: Ledger,
    private readonly report: () => void,
  ) {
    this.#since = new Date(ledger.clock.nowMs());
  }

  /** Records that this process has read a page. */
  note(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.report();
  }

  /** Checks whether any process of the ledger has read a list since this one started. */
  async look(): Promise<void> {
    if (this.#isReported) return;
    const [row] = await this.ledger.db.query<{ hasRead: boolean }>(
      'select exists (select 1 from streams where polled_at >= $1) as "hasRead"',
      [this.#since],
    );
    if (row!.hasRead) this.note();
  }
}
