import type { ProcessMeters } from '../../api/metrics/serve-metrics.js';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Collaborators, type OpenSink, noMeters, noOrchestration } from '../../cycles/collaborators.js';
import type { Log } from '../../base/log.js';
import { noTracer } from '../../base/tracer.js';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { discoverWorkspace } from '../../reading/discover.js';
import type { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { KeptReaders } from './kept-readers.js';
import { type GateOptions, ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import type { PigeonholeName } from '../../cycles/cycle-results.js';
import type { Config } from '../../config/config.js';
import { normalizedConfig } from '../../config/normalized-config.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { selectedPigeonholes } from '../../ledger/pigeonholes.js';
import type { PigeonholeClient } from '../../pigeonhole/client.js';
import { adoptSyncs } from '../../operations/editions.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { createSinks, registerOpenSinks, sharedThroughLedger } from '../../delivering/open-sinks.js';
import { openClients } from '../../requests/clients.js';
import { settleByRounds } from './settling.js';
import { RoundQueue } from '../../cycles/round-queue.js';
import { Wakes } from '../../cycles/wakes.js';

/**
 * A pigeonpost without Temporal: the same configuration, ledger, client, sinks and activities, but a test runs each
 * cycle. Several can share a ledger, like several processes.
 */
export interface Scene {
  readonly deps: Collaborators;
  readonly folder: string;
  readonly ledger: Ledger;
  /** Returns the log as one text, to search for data that it must not contain. */
  logText(): string;
  /** Returns the results of the cycles as one text. Temporal stores them in histories. */
  historyText(): string;
  read(pigeonhole: PigeonholeName, signal?: AbortSignal): ReturnType<typeof readPigeonhole>;
  discover(): ReturnType<typeof discoverWorkspace>;
  /** Stores what the readers have only in memory, as at the end of a stay. */
  save(): Promise<void>;
  deliver(sink: string): ReturnType<typeof deliverToSink>;
  /** Runs cycles until everything due now is read and delivered. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface SceneOptions {
  readonly db: Database;
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** YAML of `sinks`, and their names; a file sink called `archive` by default. */
  readonly sinks?: Readonly<Record<string, string>>;
  /** Further YAML of the workspace, such as `subscriptionId: 7`. */
  readonly workspace?: string;
  /** YAML of the workspace's `quota`. */
  readonly quota?: string;
  /** Further YAML lines of the sync. */
  readonly sync?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Meters of the process; none by default. */
  readonly meters?: ProcessMeters;
  /** The clock of the gate, and the function that the gate calls when the service answers again. */
  readonly gate?: GateOptions;
  /** Replaces the client from the configuration. */
  readonly client?: PigeonholeClient;
  /** Replaces or extends the configured sinks. */
  readonly openSinks?: (made: ReadonlyMap<string, OpenSink>) => ReadonlyMap<string, OpenSink>;
}

export async function openScene(options: SceneOptions): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-scene-'));
  const config = await loadProcessConfig(writeConfig(folder, options), {
    SCENE_KEY: options.apiKey ?? 'sandbox-key',
    ...options.environment,
  });
  const ledger = await openLedger(options.db, testKey);
  const configuration = await useConfiguration(ledger, document(config, ledger), true);
  await adoptSyncs(config, ledger);
  const lines: string[] = [];
  const write =
    (level: string) =>
    (facts: object, event: string): void =>
      void lines.push(JSON.stringify({ level, event, ...facts }));
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const made = await registerOpenSinks(config, ledger, createSinks(config, sharedThroughLedger(ledger)));
  const clients =
    options.client === undefined
      ? openClients(config, {
          log,
          now: ledger.clock.nowMs,
          onRequest: (request) => options.meters?.requested(request),
        })
      : new Map([['acme', options.client]]);
  const stopping = new AbortController();
  const deps: Collaborators = {
    ledger,
    config,
    configuration,
    clients,
    gate: new ServiceGate(ledger, log, forecastNeeds, options.gate),
    sinks: options.openSinks?.(made) ?? made,
    owner: randomUUID(),
    orchestration: noOrchestration,
    wakes: new Wakes(null, log),
    rounds: new RoundQueue(4),
    log,
    stopping: stopping.signal,
    meters: options.meters ?? noMeters,
    tracer: noTracer,
    onPage: () => undefined,
    onCycle: () => undefined,
  };
  const never = new AbortController().signal;
  const results: string[] = [];
  const kept = async <Result>(turn: Promise<Result>): Promise<Result> => {
    const result = await turn;
    results.push(JSON.stringify(result));
    return result;
  };
  const readers = new KeptReaders(deps);
  const scene: Scene = {
    deps,
    folder,
    ledger,
    logText: () => lines.join('\n'),
    historyText: () => results.join('\n'),
    read: (pigeonhole, signal = never) => kept(readers.read(pigeonhole, signal)),
    save: () => readers.save(),
    discover: () => kept(discoverWorkspace(deps, 'acme', never)),
    deliver: (sink) => kept(deliverToSink(deps, sink, never)),
    settle: () => settle(scene),
    async close() {
      stopping.abort();
      for (const { sink } of deps.sinks.values()) await sink.close();
      for (const client of clients.values()) await client.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return scene;
}

function writeConfig(folder: string, { baseUrl, sinks, sync, workspace, quota = '{}' }: SceneOptions): string {
  const chosen = sinks ?? { archive: '{ type: file, folder: ./archive }' };
  const file = join(folder, 'pigeonpost.yaml');
  writeFileSync(
    file,
    [
      `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${SCENE_KEY}", quota: ${quota}${workspace === undefined ? '' : `, ${workspace}`} } }`,
      'syncs:',
      '  events:',
      '    workspace: acme',
      `    sinks: [${Object.keys(chosen).join(', ')}]`,
      ...(sync ?? '').split('\n').map((line) => `    ${line}`),
      'sinks:',
      ...Object.entries(chosen).map(([name, yaml]) => `  ${name}: ${yaml}`),
      `store: embedded:${folder}/data`,
    ].join('\n'),
  );
  return file;
}

function document(config: Config, ledger: Ledger): unknown {
  return normalizedConfig(config, (secret) => ledger.hash.fingerprint(secret));
}

async function settle(scene: Scene): Promise<void> {
  await settleByRounds(async () => {
    let isDue = (await scene.discover()).nextDueInMs === 0;
    let hasMoved = false;
    for (const { workspace, pigeonholeId } of await selectedPigeonholes(scene.ledger, ['events'])) {
      const turn = await scene.read({ workspace, pigeonholeId });
      isDue ||= turn.nextDueInMs === 0;
      hasMoved ||= turn.created + turn.updated + turn.deleted > 0;
    }
    for (const sink of scene.deps.sinks.keys()) {
      const turn = await scene.deliver(sink);
      isDue ||= turn.delivered > 0 || (turn.nextDueInMs === 0 && turn.state === 'working');
      hasMoved ||= turn.delivered > 0;
    }
    return { isDue, hasMoved };
  });
}
