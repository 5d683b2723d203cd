import { isDeepStrictEqual } from 'node:util';
import type { Collaborators } from '../work/collaborators.js';
import type { Candidate, CausedDeliveries, ConfigurationChange, ConfigurationPlan } from './configuration-plan.js';
import type { Config, SinkConfig } from '../config/config.js';
import { formatProblem } from '../config/config-error.js';
import type { Environment } from '../config/environment.js';
import { Secret } from '../config/secret.js';
import { syncsTo, knownLanes, countChangesBehind } from '../delivering/lane-plans.js';
import { deadLetterGroups, waitsForAPerson } from '../delivering/dead-letters.js';
import { compareConfigurations } from './compare-configurations.js';
import { loadCandidate } from './load-process-config.js';
import { documentOf } from './editions.js';
import { createSinks } from '../work/open-sinks.js';
import { openClients } from '../work/open-clients.js';
import { planDeliveries, planKept } from './plan-deliveries.js';
import { compareSelections, selectedNow, selectedThen } from './plan-selections.js';

type Current = Pick<Collaborators, 'config' | 'configuration' | 'ledger' | 'log'>;

/**
 * Returns what would change if a file replaced the current configuration, and the consequences. Changes nothing.
 * @param environment that of this process, unless a test passes another
 * @throws {ConfigError | ClientOptionsError} if the file cannot be used
 */
export async function planConfiguration(
  current: Current,
  candidate: Candidate,
  environment?: Environment,
): Promise<ConfigurationPlan> {
  const config = await loadCandidate(current.config, candidate, environment);
  return await planFor(current, config);
}

/** Like `planConfiguration`, for a loaded configuration. @throws {ClientOptionsError} if a client rejects its options */
export async function planFor(
  { config: before, configuration, ledger, log }: Current,
  now: Config,
): Promise<ConfigurationPlan> {
  await tryToOpen(now, log);
  const selected = { before: await selectedNow(before, ledger), now: await selectedThen(before, now, ledger) };
  const changes = compareConfigurations(documentOf(before, ledger), documentOf(now, ledger), [
    ...(before.filledKeys ?? []),
    ...(now.filledKeys ?? []),
  ]);
  const changedSinks = new Set(
    changes.flatMap(({ what, kind, name }) => (what === 'sink' && kind === 'changed' ? [name] : [])),
  );
  const both = { before, now, selectedBefore: selected.before, selectedNow: selected.now, changedSinks };
  return {
    current: configuration,
    changes: await Promise.all(changes.map((change) => withNote(change, before, now, ledger))),
    pigeonholes: await compareSelections(ledger, { before, now }, selected),
    deliveries: [
      ...(await planDeliveries(ledger, both)),
      ...(await Promise.all([...changedSinks].map((name) => redriven(ledger, name, now.sinks[name]!)))).flat(),
    ],
    kept: await planKept(ledger, both),
    atNextStart: (['store', 'temporal', 'server'] as const).filter(
      (key) => !isDeepStrictEqual(revealed(before[key]), revealed(now[key])),
    ),
    warnings: now.warnings.map((problem) => formatProblem(now.file, problem)),
  };
}

async function tryToOpen(config: Config, log: Current['log']): Promise<void> {
  const clients = openClients(config, { log });
  try {
    const sinks = createSinks(config);
    await Promise.all([...sinks.values()].map((sink) => sink.close()));
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

async function withNote(
  change: ConfigurationChange,
  before: Config,
  now: Config,
  ledger: Current['ledger'],
): Promise<ConfigurationChange> {
  if (change.what === 'sync' && change.kind === 'removed') {
    return {
      ...change,
      note: 'its pigeonholes are no longer read for its sinks; if it returns, it continues where it was',
    };
  }
  if (change.what !== 'sink') return change;
  if (change.kind === 'removed') {
    const left = await leftBehind(ledger, change.name);
    const rest = left === 0 ? 'everything was delivered' : `up to ${left} changes are not delivered yet`;
    return { ...change, note: `archived with its watermark: ${rest}; if it returns, it continues where it was` };
  }
  if (change.kind === 'added' && (await knownLanes(ledger, [change.name])).length > 0) {
    return { ...change, note: 'known from before: it continues at its watermark' };
  }
  const unused = syncsTo(now, change.name).length === 0 && before.sinks[change.name] === undefined;
  return unused ? { ...change, note: 'no sync names it, so nothing is sent to it' } : change;
}

/**
 * Counts the dead letters that `redriveLane` sends again after a change of the sink. Dead letters that only an operator can
 * decide about are not among them.
 */
async function redriven(ledger: Current['ledger'], sink: string, { mode }: SinkConfig): Promise<CausedDeliveries[]> {
  const groups = await deadLetterGroups(ledger, { sink });
  return groups
    .filter(({ cause }) => !waitsForAPerson.includes(cause))
    .map(({ list, cause: reason, changes }) => ({
      sink,
      list,
      cause: 'redriven',
      reason,
      changes,
      withheld: {},
      observed: mode === 'observe',
      estimated: false,
    }));
}

async function leftBehind(ledger: Current['ledger'], sink: string): Promise<number> {
  let left = 0;
  for (const { ref, watermark, lists } of await knownLanes(ledger, [sink])) {
    for (const { changes } of await countChangesBehind(ledger, { ref, watermark, lists })) left += changes;
  }
  return left;
}

/** Returns a copy that contains the secrets as text, so that they can be compared. Do not store it. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.compared() };
  if (Array.isArray(value)) return value.map(revealed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, revealed(member)]),
  );
}
