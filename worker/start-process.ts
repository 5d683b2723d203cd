import { createDeferred } from '../base/deferred.js';
import { messageOf } from '../base/errors.js';
import { Accounts } from '../sinks/network/accounts.js';
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { ServiceGate } from '../requests/service-gate.js';
import { forecastNeeds } from '../reading/demand.js';
import { askBackEveryMs } from '../requests/outages.js';
import { rememberForecast } from '../requests/remembered-forecast.js';
import { wakeWorkspace } from '../operations/act.js';
import { ProcessMeters } from '../api/metrics/serve-metrics.js';
import { linkWith, PageCodes } from '../api/page-codes.js';
import { type ApiServer, startApi } from '../api/start-api.js';
import { startProbes } from '../api/health.js';
import type { Config } from '../config/config.js';
import { isLoopback } from '../base/loopback.js';
import { openLedger } from '../ledger/ledger.js';
import { wasClockSetBack } from '../ledger/database-clock.js';
import { useConfiguration } from '../ledger/configurations.js';
import { freeDroppedFiles } from '../ledger/imports/dropped-files.js';
import { endLeases } from '../ledger/lanes-leased.js';
import { listenForWakes, notifyWakes } from '../ledger/drivers/wake-channel.js';
import { trimIncidents } from '../operations/incidents/incident-store.js';
import { recordStart, trimStarts } from '../ledger/starts.js';
import { noteProgress, trimProgress } from '../reading/progress.js';
import { AlertDesk } from '../operations/alerts/alert-desk.js';
import { apiSources, type CommonSources, probeSources } from './api-sources.js';
import { packStore } from '../operations/backup/backup-store.js';
import { ClusterGuard, unreachable, WorkerWatch } from './connect-temporal.js';
import { Editions, openEdition, type Shared } from '../operations/editions.js';
import type { BinarySources } from './embedded-temporal/find-binary.js';
import { DropFolders } from '../importing/drop-folders/drop-folders.js';
import { createStarter, importing } from '../operations/orchestration.js';
import { FirstPage, readHealth, openingStore, openStore, openTemporal, embeddedFolder } from './open-backends.js';
import { GuardedWorker, runWorker } from './run-worker.js';
import { noteInstance, keepLocalToken } from './instance-file.js';
import { keyPlaceOf } from './key-place-of.js';
import { leaveToReconciler, reconcile, wakeEverything } from './reconcile.js';
import { ConfigurationFile } from '../operations/configuration-file.js';
import { reloadProcessConfig } from '../operations/load-process-config.js';
import type { ProcessLog } from './log.js';
import { packageVersion } from '../base/package-root.js';
import { readTemporalMetrics } from './install-runtime.js';
import { repeat, repeatToTheEnd } from './repeat.js';
import { noTracer } from '../base/tracer.js';
import { RoundQueue } from '../cycles/round-queue.js';
import { Wakes } from '../cycles/wakes.js';
import { CycleFailures } from '../operations/find-problems.js';
import { createConfigurationSwitch } from './switch-configuration.js';
import { NightlyExports } from '../operations/export/nightly-exports.js';
import { HindranceMemory } from '../operations/lateness.js';
import { StatusMemory } from '../operations/status-memory.js';
import { viewQuotas } from '../operations/status-view.js';
import { attendToStatements } from '../operations/statement/statement-desk.js';
import { watchReading } from '../operations/statement/watch-reading.js';

/** Rounds of pigeonholes that run at the same time. Each makes a few concurrent requests, and all share one store. */
const roundsAtOnce = 40;
const reconcileEveryMs = 60_000;
/**
 * Interval for asking the store's clock. A process that reads no lists has no other source for it, and the clocks of
 * two machines drift apart.
 */
const askClockEveryMs = 60_000;
const maintainEveryMs = 60 * 60_000;
const analyzeEveryMs = 5000;
const dropFoldersEveryMs = 2000;
/** Loading a file takes milliseconds. An operator who has saved a mistake should see it while at the terminal. */
const exportsEveryMs = 60_000;
const lookAtFileEveryMs = 10_000;
const lookForWorkersEveryMs = 10_000;
/** Maximum time for which a worker may poll another cluster's task queue without noticing it. */
const guardClusterEveryMs = 5000;
const lookForReadsEveryMs = 1000;
const attendToStatementsEveryMs = 1000;
const watchReadingEveryMs = 5000;
/**
 * Charts have one value per minute, so this interval is short enough. A crash loses nothing, because the next process
 * reads the totals from the ledger.
 */
const noteProgressEveryMs = 10_000;

/**
 * `worker` runs the workflows and `api` serves the HTTP API. `start` does both. Separate processes require an external
 * PostgreSQL and Temporal.
 */
export type ProcessRole = 'start' | 'worker' | 'api';

export interface ProcessOptions {
  readonly config: Config;
  readonly log: ProcessLog;
  /** True to make this configuration current again even if a newer one is current. */
  readonly acceptConfiguration: boolean;
  /** True to adopt a ledger that is bound to another Temporal cluster. */
  readonly adopt: boolean;
  readonly role: ProcessRole;
  /** Address at which a plain worker answers probes; null: none. */
  readonly probesAt: { readonly host: string; readonly port: number } | null;
  /** Sources of an embedded Temporal server. */
  readonly binarySources: BinarySources;
  /** Host and port of the Temporal SDK's metrics; null: none. */
  readonly temporalMetricsAddress: string | null;
  /** Receives lines for the operator about slow steps. */
  readonly onProgress: (line: string) => void;
}

interface RunningProcess {
  readonly api: ApiServer | undefined;
  /**
   * Returns the address of the page; on loopback, a new link with which one browser can sign in within ten minutes.
   * Undefined if there is no page.
   */
  readonly pageLink: (() => string) | undefined;
  readonly temporalAddress: string;
  /**
   * Resolves once this process, or another one that shares the ledger, has read a page. That may have been before the
   * API served: workflows of an earlier process read as soon as the worker runs.
   */
  readonly firstPage: Promise<void>;
  /** Never resolves; rejects when the process can no longer work. */
  readonly failed: Promise<never>;
  /** Stops API, worker, Temporal, store and lock in this order, within ten seconds. */
  stop(): Promise<void>;
}

/** Starts the parts of a process in the order of their dependencies; closes the open ones if a part fails. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const closers: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    // One after another, because each depends on those opened before it.
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  };
  try {
    return { ...(await open(options, closers)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(options: ProcessOptions, closers: (() => Promise<void>)[]): Promise<Omit<RunningProcess, 'stop'>> {
  const { config, log } = options;
  const works = options.role !== 'api';
  const serves = options.role !== 'worker'; // a plain worker answers only probes and metrics
  const listensAt = serves ? config.server : options.probesAt;
  const api = listensAt === null ? undefined : await startApi(listensAt);
  const closeApi = async (): Promise<void> => await api?.close();
  closers.push(closeApi); // closes the API if the start fails
  const probes = serves && config.server.probes !== undefined ? await startProbes(config.server.probes) : undefined;
  closers.push(async () => await probes?.close());
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined); // callers may ignore it

  options.onProgress(openingStore(config));
  const db = await openStore(options, closers);
  db.onFatal(fail);
  const ledger = await openLedger(db, keyPlaceOf(config), { onProgress: options.onProgress });
  const localToken = once(() => localTokenOf(config, log));
  if (serves) localToken(); // called early, so that commands find it, and a start that cannot store it fails immediately
  const embedded = config.store.kind === 'embedded';
  if (embedded) await endLeases(ledger);
  if (embedded) await freeDroppedFiles(ledger);
  const { address, client, native } = await openTemporal(options, closers, fail);
  const { namespace, taskQueue } = config.temporal;
  // An embedded ledger is adopted without `--adopt`: the folder's lock proves that no other process, and so no other
  // Temporal, uses it.
  const adopting = new ClusterGuard(ledger, client, { address, namespace, adopt: options.adopt || embedded });
  // With `--adopt`, an external ledger is bound only to the cluster that answers at the start. The operator has not
  // approved a cluster that answers later.
  const cluster = new ClusterGuard(ledger, client, { address, namespace, adopt: embedded });
  if (works) await adopting.check();
  else await cluster.look(); // `status` must work even if Temporal is down or is another cluster

  const owner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  const wakes = new Wakes(embedded ? null : (names) => notifyWakes(db, owner, names), log);
  closers.push(() => wakes.flush());
  const starter = createStarter(client, taskQueue, { ledger, wakes }, () => cluster.check());
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // each stay listens
  const cycleFailures = new CycleFailures(() => performance.now());
  let missingWorkers: string | null = null;
  const trouble = (): string | null => cluster.trouble ?? cycleFailures.present ?? missingWorkers;
  const meters = new ProcessMeters({ withNode: true });
  const { otlpUrl } = config;
  const tracer =
    otlpUrl === undefined
      ? noTracer
      : (await import('./tracing/open-tracer.js')).openTracer({ ...config, otlpUrl }, { owner, log }, closers);
  const hasFirstPage = createDeferred();
  const firstPage = new FirstPage(ledger, hasFirstPage.resolve);
  const shared: Shared = {
    ledger,
    gate: new ServiceGate(ledger, log, forecastNeeds, { onDue: (workspace) => void wakeReaders(workspace) }),
    accounts: new Accounts(),
    owner,
    orchestration: starter,
    wakes,
    rounds: new RoundQueue(roundsAtOnce),
    log,
    stopping: stopping.signal,
    meters,
    tracer,
    onRequest: (request) => {
      meters.requested(request);
      const { workspace, method, status, code, requestId, durationMs, kind } = request;
      const attributes = { workspace, 'http.response.status_code': status, code, 'request.id': requestId };
      tracer.ended(`service ${method}`, attributes, { durationMs, failure: kind });
    },
    onCycle: (cycle, failure) => cycleFailures.note(cycle, failure),
    onPage: () => firstPage.note(),
  };
  // The folder's lock proves that no other process runs a newer configuration, so an older file is accepted.
  const accept = options.acceptConfiguration || embedded;
  const first = await openEdition(config, shared, (document, text) =>
    useConfiguration(ledger, document, accept, { text, by: null }),
  );
  const editions = new Editions(first, (error) =>
    log.warn({ error: messageOf(error) }, 'could not close the resources of a replaced configuration'),
  );
  closers.push(() => editions.close());

  // Requests start only after this point, so `wakeReaders` may be declared here.
  const wakeReaders = (workspace: string): Promise<void> =>
    wakeWorkspace(editions.current, starter, workspace).catch((error: unknown) =>
      log.warn({ workspace, error: messageOf(error) }, 'could not wake the workflows that read the workspace'),
    );
  if (works && config.store.kind === 'postgres') {
    closers.push(
      listenForWakes(config.store.url.reveal(), owner, {
        onNames: (names) => names.forEach((name) => wakes.heard(name)),
        onConnected: () => wakes.missed(),
        onFailure: (error) =>
          log.warn({ error: messageOf(error) }, 'wakes of other processes are noticed late, until the store answers'),
      }),
    );
  }
  if (works) {
    const askBack = (): Promise<void> => editions.use((deps) => deps.gate.askBack(deps));
    closers.push(repeat(askBackEveryMs, askBack, 'could not check whether the service answers', log));
  }

  const reconcileNow = (): Promise<number> =>
    reconcile({ config: editions.current.config, ledger, client, cluster, starter, taskQueue, log });
  const file = new ConfigurationFile(() => reloadProcessConfig(config.file), ledger.clock.nowMs);
  const switching = createConfigurationSwitch(
    () => file.load(),
    editions,
    shared,
    async (before, now) => {
      await reconcileNow();
      await wakeEverything([before, now], ledger, starter);
    },
  );
  editions.catchUp = () => switching.catchUp();

  const worker = new GuardedWorker(cluster, {
    run: () => runWorker(editions, { native: native!, temporal: config.temporal }),
    stopping,
    onFailure: (error) => fail(error instanceof Error ? error : new Error(messageOf(error))),
    log,
  });
  // registered before the worker, so that its last run comes after the worker has ended
  closers.push(repeatToTheEnd(noteProgressEveryMs, () => noteProgress(ledger), 'storing the progress failed', log));
  if (works) {
    options.onProgress('starting the worker');
    await worker.follow();
    closers.push(async () => {
      const { inFlight } = worker;
      options.onProgress(
        inFlight === 0
          ? 'ending the worker, which has nothing in progress'
          : `ending the worker: up to 7 s for ${inFlight} ${inFlight === 1 ? 'read or delivery' : 'reads and deliveries'} in progress`,
      );
      await worker.stop();
    });
  } else {
    const workers = new WorkerWatch(client, taskQueue);
    const lookForWorkers = async (): Promise<void> => {
      if (cluster.trouble !== null) return;
      missingWorkers = await workers.look().catch((error: unknown) => unreachable(address, error, namespace).message);
    };
    await lookForWorkers();
    closers.push(repeat(lookForWorkersEveryMs, lookForWorkers, 'asking Temporal for workers failed', log));
  }
  const guardCluster = async (): Promise<void> => {
    const isBack = await cluster.look();
    if (works) await worker.follow();
    if (isBack) await reconcileNow();
  };
  closers.push(
    repeat(guardClusterEveryMs, guardCluster, 'could not compare the Temporal cluster with the one in the store', log),
  );

  if (works)
    closers.push(repeat(lookForReadsEveryMs, () => firstPage.look(), 'could not look for the first read', log));
  if (works) await reconcileNow();
  else await reconcileNow().catch((error: unknown) => log.warn({ error: messageOf(error) }, 'reconciling failed'));
  const tend = async (): Promise<void> => {
    // skipped if this process does not run the current configuration, because it would start workflows that are not
    // needed
    if (await switching.catchUp()) await reconcileNow();
    // Workflows sleep until a time on Temporal's clock. On a single machine, that is the clock that was set back.
    if (works && (await wasClockSetBack(ledger))) await wakeEverything([editions.current.config], ledger, starter);
  };
  closers.push(repeat(reconcileEveryMs, tend, 'reconciling failed', log));
  const requestStarter = leaveToReconciler(starter, log);
  const wakeImport = async (id: string, { isDropped }: { readonly isDropped: boolean }): Promise<void> => {
    const workflow = importing({ id, isDropped });
    if (!(await requestStarter.wakeWorkflow(workflow))) await requestStarter.start(workflow);
  };
  closers.push(repeat(lookAtFileEveryMs, () => file.look(), 'checking the configuration file failed', log));
  const dropFolders = new DropFolders({ editions, wake: (id) => wakeImport(id, { isDropped: true }) });
  if (works) {
    const lookIntoFolders = (): Promise<void> => dropFolders.look(performance.now());
    closers.push(repeat(dropFoldersEveryMs, lookIntoFolders, 'looking into the drop folders failed', log));
  }
  if (works) {
    const nightlyExports = new NightlyExports(editions);
    closers.push(repeat(exportsEveryMs, () => nightlyExports.look(), 'writing the nightly exports failed', log));
  }
  closers.push(repeat(askClockEveryMs, () => ledger.clock.ask(db), "reading the store's clock failed", log));
  await recordStart(ledger);
  const maintain = async (): Promise<void> => {
    await trimProgress(ledger);
    await trimIncidents(ledger);
    await trimStarts(ledger);
    await db.maintain();
  };
  closers.push(repeat(maintainEveryMs, maintain, 'maintaining the store failed', log));
  closers.push(repeat(analyzeEveryMs, () => db.analyzeGrown(), 'analyzing grown tables failed', log));

  const readySinceMs = performance.now();
  const upMs = () => performance.now() - readySinceMs;
  const hindrances = new HindranceMemory(() => performance.now());
  const forecast = rememberForecast(forecastNeeds);
  const quotas = () => viewQuotas(editions.current.config, ledger, ledger.clock.nowMs(), forecast);
  // The API and the alerts share what they read, so all of them need the same sources.
  const shown = {
    memory: new StatusMemory(),
    ledger,
    trouble,
    quotas,
    upMs,
    hindrances,
    unreadableFolders: () => dropFolders.unreadable,
    unusableFile: () => file.unusable,
  };
  const statusSources = () => ({
    ...shown,
    config: editions.current.config,
    configuration: editions.current.configuration,
  });
  const alerts = new AlertDesk({
    sources: statusSources,
    owner: shared.owner,
    isAlone: embedded,
    publicUrl: () => editions.current.config.server.publicUrl ?? (serves ? api?.url : undefined) ?? null,
    log,
  });
  alerts.start();
  closers.push(() => alerts.close());

  if (works) {
    const attend = (): Promise<void> =>
      attendToStatements({ ...statusSources(), sinks: editions.current.sinks, log }, starter);
    closers.push(repeat(attendToStatementsEveryMs, attend, 'making a statement failed', log));
    const watch = (): Promise<void> => watchReading(statusSources(), watchReadingEveryMs);
    closers.push(repeat(watchReadingEveryMs, watch, 'watching for interruptions of the reading failed', log));
  }

  const pageCodes = new PageCodes(ledger.clock.nowMs);
  const common: CommonSources = {
    ...shown,
    localToken,
    version: packageVersion(),
    meters,
    temporalMetrics: () => readTemporalMetrics(options.temporalMetricsAddress),
    // Null for a process that serves the API: it is ready even if Temporal is down, because `status` is needed most
    // then.
    health: () => readHealth({ ledger, work: serves ? null : { connection: client.connection, worker } }),
  };
  probes?.serve(common);
  if (serves) {
    const backup = embedded ? () => packStore(db, embeddedFolder(config)) : null;
    api?.serve(
      apiSources(common, {
        alerts,
        backup,
        pageCodes,
        editions,
        starter: requestStarter,
        switching,
        ledger,
        wake: (id) => wakeImport(id, { isDropped: false }),
        log,
      }),
    );
  } else if (api !== undefined && listensAt !== null) {
    api.serveProbes(probeSources(common, editions, listensAt));
  }
  if (serves && api !== undefined) closers.push(noteInstance(config, { url: api.url, ledger: ledger.id }, log));
  closers.push(closeApi); // closed first; closing it again later does nothing
  const pageLink = serves && api !== undefined ? () => pageLinkTo(api.url, config, pageCodes) : undefined;
  return { api, pageLink, temporalAddress: address, firstPage: hasFirstPage.promise, failed };
}

/**
 * Returns the token for commands of this user; null if it cannot be stored and `server.token` is set, as in a container
 * whose file system is read-only.
 * @throws {LocalTokenError}
 */
function localTokenOf(config: Config, log: ProcessLog): string | null {
  try {
    return keepLocalToken(config);
  } catch (error) {
    if (config.server.token === undefined) throw error;
    log.debug({ error: messageOf(error) }, 'the token for commands could not be stored, so they use server.token');
    return null;
  }
}

function once<Result>(work: () => Result): () => Result {
  let done: { readonly result: Result } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
}

/**
 * Returns the address of the page. It contains a sign-in code only on loopback, because a printed address may be
 * collected with logs.
 */
function pageLinkTo(url: string, { server }: Config, codes: PageCodes): string {
  return isLoopback(server.host)
    ? linkWith(url, codes.make({ kind: 'administrator', by: 'local' }))
    : `${server.publicUrl ?? url}/`;
}
