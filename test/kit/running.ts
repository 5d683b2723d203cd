import { Accounts } from '../../sinks/network/accounts.js';
import { noTracer } from '../../base/tracer.js';
import { noMeters, noOrchestration } from '../../cycles/collaborators.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliverToSink } from '../../delivering/deliver-to-sink.js';
import { discoverWorkspace } from '../../reading/discover.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import type { AppliedConfiguration, Candidate, ConfigurationPlan } from '../../operations/configuration-plan.js';
import type { Database } from '../../ledger/drivers/database.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { useConfiguration } from '../../ledger/configurations.js';
import { selectedPigeonholes } from '../../ledger/pigeonholes.js';
import {
  applyConfiguration,
  type ConfigurationSwitch,
  createConfigurationSwitch,
} from '../../worker/switch-configuration.js';
import { Editions, openEdition, type Shared } from '../../operations/editions.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { planConfiguration } from '../../operations/plan-configuration.js';
import { settleByRounds } from './settling.js';
import { RoundQueue } from '../../cycles/round-queue.js';
import { Wakes } from '../../cycles/wakes.js';

/**
 * A process without Temporal whose configuration file a test can rewrite. Assembled like `start`, but the test runs the
 * cycles. Several can share a ledger, like a `start` and its `worker`s.
 */
export interface Running {
  readonly editions: Editions;
  readonly switching: ConfigurationSwitch;
  readonly ledger: Ledger;
  /** Numbers of the changed configurations, in order. Each would wake workflows. */
  readonly switches: number[];
  /** Rewrites the file of this process. */
  write(lines: readonly string[]): void;
  plan(candidate?: Candidate): Promise<ConfigurationPlan>;
  apply(): Promise<AppliedConfiguration>;
  /** Runs cycles until everything due now is read and delivered. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function openRunning(
  db: Database,
  folder: string,
  lines: readonly string[],
  environment: Readonly<Record<string, string>>,
  wakeWorkflows: () => Promise<void> = async () => undefined,
): Promise<Running> {
  const file = join(folder, 'pigeonpost.yaml');
  const write = (text: readonly string[]): void => writeFileSync(file, text.join('\n'));
  write(lines);
  const ledger = await openLedger(db, testKey);
  const nothing = (): void => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const shared: Shared = {
    ledger,
    gate: new ServiceGate(ledger, log, forecastNeeds),
    accounts: new Accounts(),
    owner: randomUUID(),
    orchestration: noOrchestration,
    wakes: new Wakes(null, log),
    rounds: new RoundQueue(4),
    log,
    stopping: new AbortController().signal,
    meters: noMeters,
    tracer: noTracer,
    onPage: nothing,
    onCycle: nothing,
  };
  const load = () => loadProcessConfig(file, environment);
  const first = await openEdition(await load(), shared, (document, text) =>
    useConfiguration(ledger, document, false, { text, by: null }),
  );
  const editions = new Editions(first, (error) => {
    throw error;
  });
  const switches: number[] = [];
  const switching = createConfigurationSwitch(load, editions, shared, async () => {
    await wakeWorkflows();
    switches.push(editions.current.configuration);
  });
  editions.catchUp = () => switching.catchUp();
  return {
    editions,
    switching,
    ledger,
    switches,
    write,
    plan: (candidate = {}) => planConfiguration(editions.current, candidate, environment),
    apply: () => applyConfiguration(editions.current, switching, null, environment),
    settle: () => settle(editions),
    close: () => editions.close(),
  };
}

async function settle(editions: Editions): Promise<void> {
  const never = new AbortController().signal;
  await settleByRounds(async () => {
    const { config, configuration, ledger } = editions.current;
    let isDue = false;
    let hasMoved = false;
    for (const workspace of Object.keys(config.workspaces)) {
      const turn = await editions.use((deps) => discoverWorkspace(deps, workspace, never));
      isDue ||= turn.state === 'working' && turn.nextDueInMs === 0;
    }
    for (const place of await selectedPigeonholes(ledger, Object.keys(config.syncs))) {
      const turn = await editions.use((deps) => readPigeonhole(deps, place, never));
      isDue ||= turn.state === 'working' && turn.nextDueInMs === 0;
      hasMoved ||= turn.created + turn.updated + turn.deleted > 0;
    }
    for (const sink of Object.keys(config.sinks)) {
      const turn = await editions.use((deps) => deliverToSink(deps, sink, never));
      isDue ||= turn.delivered > 0 || (turn.state === 'working' && turn.nextDueInMs === 0);
      hasMoved ||= turn.delivered > 0;
    }
    const isAnother = editions.current.configuration !== configuration; // it was applied in the meantime
    return { isDue: isDue || isAnother, hasMoved: hasMoved || isAnother };
  });
}
