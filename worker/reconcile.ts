import { messageOf } from '../base/errors.js';
import type { Client } from '@temporalio/client';
import type { Log } from '../base/log.js';
import { syncsOf } from '../config/syncs.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { discardAbandonedImports } from '../ledger/imports/imports.js';
import { reopenErasures } from '../people/erasure-states.js';
import { openErasures } from '../people/erasures.js';
import { runningImports } from '../importing/read-import.js';
import { assignReaders, readerNumbers } from '../ledger/readers.js';
import type { ClusterGuard } from './connect-temporal.js';
import {
  delivering,
  discovering,
  forgetting,
  importing,
  reading,
  type WantedWorkflow,
  type WorkflowStarter,
} from '../operations/orchestration.js';
import { LedgerError } from '../ledger/ledger-error.js';

/**
 * Returns the workflows that should be running, from the configuration and the ledger only, because Temporal may have
 * been lost or replaced.
 */
async function wantedWorkflows(config: Config, ledger: Ledger): Promise<WantedWorkflow[]> {
  const workspaces = Object.keys(config.workspaces).filter((name) => syncsOf(config, name).length > 0);
  return [
    ...workspaces.map(discovering),
    ...(await readerNumbers(ledger)).map(reading),
    ...Object.keys(config.sinks)
      .filter((name) => Object.values(config.syncs).some((sync) => sync.sinks.includes(name)))
      .map(delivering),
    ...(await runningImports(ledger))
      .filter(({ workspace }) => Object.hasOwn(config.workspaces, workspace))
      .map(importing),
    ...(await openErasures(ledger)).map(forgetting),
  ];
}

/**
 * Gives pigeonholes readers, and starts missing workflows. Workflows that are no longer needed end automatically: their next cycle finds that nothing
 * names them. Several processes may run this at the same time.
 * @returns the number of missing workflows
 * @throws {LedgerError} kind `cluster`, before anything is started, if a Temporal cluster other than the ledger's
 * answers
 */
export async function reconcile(deps: {
  config: Config;
  ledger: Ledger;
  client: Client;
  cluster: Pick<ClusterGuard, 'check'>;
  starter: WorkflowStarter;
  taskQueue: string;
  log: Log;
}): Promise<number> {
  await deps.cluster.check();
  await discardAbandonedImports(deps.ledger);
  await reopenErasures(deps.ledger);
  await assignReaders(deps.ledger);
  const running = new Set<string>();
  const query = `TaskQueue = '${deps.taskQueue}' AND ExecutionStatus = 'Running'`;
  for await (const workflow of deps.client.workflow.list({ query })) running.add(workflow.workflowId);
  const missing = (await wantedWorkflows(deps.config, deps.ledger)).filter(({ id }) => !running.has(id));
  // One at a time, to avoid a burst of requests.
  for (const workflow of missing) await deps.starter.start(workflow);
  if (missing.length > 0) deps.log.info({ started: missing.length, running: running.size }, 'workflows reconciled');
  return missing.length;
}

/** Wakes all work of these configurations. Work that is still needed is planned again; the rest ends. */
export async function wakeEverything(
  configs: readonly Config[],
  ledger: Ledger,
  starter: WorkflowStarter,
): Promise<void> {
  starter.wakeReaders();
  await starter.wakeSinks([...new Set(configs.flatMap(({ sinks }) => Object.keys(sinks)))]);
  const sleeping = new Map<string, WantedWorkflow>();
  for (const config of configs) {
    for (const workflow of await wantedWorkflows(config, ledger)) {
      if (workflow.type !== 'readPigeonholes' && workflow.type !== 'deliverToSink') sleeping.set(workflow.id, workflow);
    }
  }
  // One at a time, to avoid a burst. A workflow that does not run is started by the reconciler.
  for (const workflow of sleeping.values()) await starter.wakeWorkflow(workflow);
}

/**
 * Time limit for an answer. It is longer than a working server takes, and much shorter than the timeout of an API
 * client.
 */
const answerTimeoutMs = 5000;

/**
 * Wraps a starter for requests of operators. The ledger stores a request before a workflow is started or woken. If
 * Temporal is down, the request therefore succeeds, and the reconciler starts the workflow later.
 */
export function leaveToReconciler(starter: WorkflowStarter, log: Log): WorkflowStarter {
  const attempt = async <Result>(call: () => Promise<Result>, otherwise: Result): Promise<Result> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`Temporal has not answered within ${answerTimeoutMs / 1000} s`)),
        answerTimeoutMs,
      );
    });
    try {
      return await Promise.race([call(), late]);
    } catch (error) {
      if (error instanceof LedgerError) throw error; // a different cluster answers, so the request must fail
      log.warn(
        { error: messageOf(error) },
        'Temporal could not be notified of a request; the reconciler will start or wake the workflow',
      );
      return otherwise;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    start: (workflow) => attempt(() => starter.start(workflow), undefined),
    // `true` tells the caller not to start the workflow
    wakeWorkflow: (workflow) => attempt(() => starter.wakeWorkflow(workflow), true),
    startReading: (pigeonholes) => attempt(() => starter.startReading(pigeonholes), undefined),
    wakeSinks: (names) => starter.wakeSinks(names),
    wakeReaders: () => starter.wakeReaders(),
  };
}
