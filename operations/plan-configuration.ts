import { counted } from '../base/words.js';
import { isDeepStrictEqual } from 'node:util';
import type { Collaborators } from '../cycles/collaborators.js';
import type {
  CausedDeliveries,
  ConfigurationChange,
  ConfigurationPlan,
  ChangedKey,
  PlannedCandidate,
  SelectionChange,
} from './configuration-plan.js';
import type { Config } from '../config/config.js';
import { alertsSchema } from '../config/schema/operations.js';
import { formatProblem } from '../config/config-error.js';
import type { Environment } from '../config/environment.js';
import { Secret } from '../config/secret.js';
import { syncsTo, knownLanes, countChangesBehind } from '../delivering/lane-plans.js';
import { deadLetterGroups, waitsForAPerson } from '../delivering/dead-letters.js';
import { loadDraft } from './drafts/drafts.js';
import { loadCandidate } from './load-process-config.js';
import { documentOf } from './editions.js';
import { createSinks, destinationOf } from '../delivering/open-sinks.js';
import { openClients } from '../requests/clients.js';
import { allApprovals } from '../ledger/approvals.js';
import { planDeliveries, planKept, type Selections } from './plan-deliveries.js';
import { planWithholding } from './plan-withholding.js';
import { choose, shownPigeonholes, stillChosen } from '../reading/discover.js';
import type { Ledger } from '../ledger/ledger.js';
import { findPigeonholeNumber, selectionsOf } from '../ledger/pigeonholes.js';
import { formatDuration } from '../config/values.js';

type Current = Pick<Collaborators, 'config' | 'configuration' | 'ledger' | 'log'>;

/**
 * Returns what would change if a file replaced the current configuration, and the consequences. Changes nothing.
 * @param environment that of this process, unless a test passes another
 * @throws {ConfigError | ClientOptionsError} if the file cannot be used
 */
export async function planConfiguration(
  { config: before, configuration, ledger, log }: Current,
  { draft, ...candidate }: PlannedCandidate,
  environment?: Environment,
): Promise<ConfigurationPlan> {
  const now =
    draft === undefined
      ? await loadCandidate(before, candidate, environment)
      : await loadDraft({ config: before, ledger }, draft, environment);
  await tryToOpen(now, log);
  const selected = { before: await selectedNow(before, ledger), now: await selectedThen(before, now, ledger) };
  const changes = compareConfigurations(documentOf(before, ledger), documentOf(now, ledger), [
    ...(before.filledKeys ?? []),
    ...(now.filledKeys ?? []),
  ]);
  const changedSinks = new Map(
    changes.flatMap(({ what, kind, name, keys }): [string, string[]][] =>
      what === 'sink' && kind === 'changed' ? [[name, keys.map(({ key }) => key)]] : [],
    ),
  );
  const both = { before, now, selectedBefore: selected.before, selectedNow: selected.now, changedSinks };
  return {
    current: configuration,
    changes: await Promise.all(changes.map((change) => withNote(change, before, now, ledger))),
    pigeonholes: await compareSelections(ledger, { before, now }, selected),
    deliveries: [
      ...(await planDeliveries(ledger, both)),
      ...(await Promise.all([...changedSinks.keys()].map((name) => redriven(ledger, name, now)))).flat(),
    ],
    withholding: await planWithholding(ledger, both),
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
  ledger: Ledger,
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
    const rest =
      left === 0
        ? 'everything was delivered'
        : `up to ${counted(left, 'change')} ${left === 1 ? 'is' : 'are'} not delivered yet`;
    return { ...change, note: `archived with its watermark: ${rest}; if it returns, it continues where it was` };
  }
  if (change.kind === 'added' && (await knownLanes(ledger, [change.name])).length > 0) {
    return { ...change, note: 'known from before: it continues at its watermark' };
  }
  if (change.kind === 'changed' && (await approvalEnds(change.name, now, ledger))) {
    return { ...change, note: `the approval of sink ${change.name} ends: it will only observe` };
  }
  const unused = syncsTo(now, change.name).length === 0 && before.sinks[change.name] === undefined;
  return unused ? { ...change, note: 'no sync names it, so nothing is sent to it' } : change;
}

/** Says whether an approved sink will only observe, because an approval is for one destination. */
async function approvalEnds(sink: string, now: Config, ledger: Ledger): Promise<boolean> {
  if (now.sinks[sink]!.mode !== 'observe') return false;
  const approval = (await allApprovals(ledger)).find((each) => each.sink === sink);
  return approval !== undefined && approval.destination !== destinationOf(now, ledger, sink);
}

/**
 * Counts the dead letters that `redriveDeadOfLane` sends again after a change of the sink. Dead letters that only an operator
 * can decide about are not among them.
 */
async function redriven(ledger: Ledger, sink: string, now: Config): Promise<CausedDeliveries[]> {
  const groups = await deadLetterGroups(ledger, { sink, sentBy: now });
  return groups
    .filter(({ cause }) => !waitsForAPerson.includes(cause))
    .map(({ list, cause: reason, changes }) => ({
      sink,
      list,
      cause: 'redriven',
      reason,
      changes,
      withheld: {},
      failed: 0,
      observed: now.sinks[sink]!.mode === 'observe',
      estimated: false,
    }));
}

async function leftBehind(ledger: Ledger, sink: string): Promise<number> {
  let left = 0;
  for (const { pigeonholeNumber, watermark, lists } of await knownLanes(ledger, [sink])) {
    for (const { changes } of await countChangesBehind(ledger, { pigeonholeNumber, watermark, lists })) left += changes;
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

/** Returns the pigeonholes that the syncs of the current configuration read. */
async function selectedNow(config: Config, ledger: Ledger): Promise<Selections> {
  const bySync = new Map<string, readonly number[]>();
  for (const [sync, { workspace }] of Object.entries(config.syncs)) {
    const rows = await selectionsOf(ledger, sync);
    bySync.set(
      sync,
      rows.filter((row) => row.workspace === workspace).map(({ pigeonholeId }) => pigeonholeId),
    );
  }
  return bySync;
}

/**
 * Returns the pigeonholes, among those seen in the service so far, that the syncs of another configuration would read.
 */
export async function selectedThen(before: Config, now: Config, ledger: Ledger): Promise<Selections> {
  const bySync = new Map<string, readonly number[]>();
  for (const [sync, { workspace, pigeonholes: choice }] of Object.entries(now.syncs)) {
    const shown = await shownPigeonholes(ledger, workspace);
    const byId = new Map(shown.map((pigeonhole) => [pigeonhole.id, pigeonhole]));
    const held = (await selectionsOf(ledger, sync)).filter((row) => row.workspace === workspace);
    const isSame = JSON.stringify(before.syncs[sync]?.pigeonholes) === JSON.stringify(choice);
    const kept = held
      .map(({ pigeonholeId }) => pigeonholeId)
      .filter((id) => isSame || stillChosen(choice, id, byId.get(id)));
    bySync.set(
      sync,
      [...new Set([...kept, ...choose(choice, shown)])].toSorted((a, b) => a - b),
    );
  }
  return bySync;
}

/** Compares the selections of two configurations by sync. */
async function compareSelections(
  ledger: Ledger,
  { before, now }: { before: Config; now: Config },
  then: { before: Selections; now: Selections },
): Promise<SelectionChange[]> {
  const changes: SelectionChange[] = [];
  for (const sync of new Set([...Object.keys(before.syncs), ...Object.keys(now.syncs)])) {
    const { workspace } = (now.syncs[sync] ?? before.syncs[sync])!;
    const [old, next] = [then.before.get(sync) ?? [], then.now.get(sync) ?? []];
    const added = next.filter((id) => !old.includes(id));
    const removed = old.filter((id) => !next.includes(id));
    if (added.length + removed.length === 0) continue;
    const pigeonholeNumbers = await Promise.all(added.map((id) => findPigeonholeNumber(ledger.db, workspace, id)));
    changes.push({
      sync,
      workspace,
      added,
      removed,
      unread: pigeonholeNumbers.filter((pigeonholeNumber) => pigeonholeNumber === undefined).length,
    });
  }
  return changes;
}

type Group = Readonly<Record<string, unknown>>;

/** The document has `alerts.when` only together with a receiver, and then with these values of keys that are not set. */
const defaultWhen = alertsSchema.unwrap().shape.when.parse(undefined);

/**
 * Compares two configurations, as the ledger stores them, key by key. Pure. Values are shown only for keys that cannot
 * hold a secret, so never for a sink's own settings.
 * @param filledKeys keys whose value came from the environment or a file in one of the two; their values are not shown
 */
export function compareConfigurations(
  before: unknown,
  now: unknown,
  filledKeys: readonly string[] = [],
): ConfigurationChange[] {
  const sections = [
    ['workspaces', 'workspace'],
    ['syncs', 'sync'],
    ['sinks', 'sink'],
    ['imports', 'drop folder'],
    ['exports', 'nightly export'],
    ['alerts', 'alerts'],
  ] as const;
  return sections.flatMap(([section, what]) => {
    const unset = section === 'alerts' ? { when: defaultWhen } : {};
    const old: Group = { ...unset, ...groupOf(groupOf(before)[section]) };
    const next: Group = { ...unset, ...groupOf(groupOf(now)[section]) };
    const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].toSorted();
    return names.flatMap((name): ConfigurationChange[] => {
      const change = { what, name, keys: [], note: null };
      if (old[name] === undefined) return [{ ...change, kind: 'added' }];
      if (next[name] === undefined) return [{ ...change, kind: 'removed' }];
      const isFilled = (key: string): boolean =>
        filledKeys.some((filled) => holds(`${section}.${name}.${key}`, filled)) ||
        (key === 'every.quiet' && isFilled('every.live')); // without a value in the file, it has the value of `every.live`
      const keys = withoutFollowing(changedKeys(old[name], next[name], []));
      return keys.length === 0
        ? []
        : [{ ...change, kind: 'changed', keys: unique(keys.map((path) => shown(what, path, isFilled))) }];
    });
  });
}

/**
 * Removes duplicates: the document stores an interval in two members, and both are the same key of the file. Removes
 * empty keys: the receivers of alerts are compared as one value.
 */
function unique(keys: readonly ChangedKey[]): ChangedKey[] {
  return keys.filter(({ key }, at) => key !== '' && keys.findIndex((other) => other.key === key) === at);
}

const keyNames: Readonly<Record<string, string>> = { everyMs: 'every', longestEnded: 'ended' };

interface Difference {
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

function changedKeys(from: unknown, to: unknown, path: readonly string[]): Difference[] {
  if (JSON.stringify(from) === JSON.stringify(to)) return []; // canonical documents: equal values are equal texts
  if (!isGroup(from) || !isGroup(to) || '$secret' in from || '$secret' in to) return [{ path, from, to }];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return names.flatMap((name) => changedKeys(from[name], to[name], [...path, name]));
}

/**
 * Leaves out `every.quiet` if it changed only because `every.live` changed: it has the same value unless the file sets
 * it.
 */
function withoutFollowing(differences: readonly Difference[]): readonly Difference[] {
  const of = (name: string) => differences.find(({ path }) => path.join('.') === `everyMs.${name}`);
  const live = of('live');
  const quiet = of('quiet');
  if (live === undefined || quiet === undefined || quiet.to !== live.to) return differences;
  return quiet.from === undefined || quiet.from === live.from
    ? differences.filter((each) => each !== quiet)
    : differences;
}

/** Returns the key as written in pigeonpost.yaml. */
function shown(
  what: ConfigurationChange['what'],
  { path, from, to }: Difference,
  isFilled: (key: string) => boolean,
): ChangedKey {
  const [first, ...rest] = path;
  const mayHoldSecrets = what === 'workspace' || what === 'alerts' || first === 'settings';
  const key = (first === 'settings' ? rest : path).map((step) => keyNames[step] ?? step).join('.');
  if (mayHoldSecrets || isFilled(key)) return { key };
  const text = (value: unknown): string => {
    if (value === undefined) return 'nothing';
    if (isGroup(value) && typeof value['forMs'] === 'number') return formatDuration(value['forMs']);
    const isDuration = typeof value === 'number' && (first === 'everyMs' || path.at(-1) === 'forMs');
    return isDuration ? formatDuration(value) : JSON.stringify(value);
  };
  return { key: key.replace(/\.forMs$/, ''), from: text(from), to: text(to) };
}

/** Whether a key of the document is, or contains, a key of the file. The document names drop folders by path and exports by sink, the file by position. */
function holds(key: string, filled: string): boolean {
  for (const list of ['imports', 'exports']) if (key.startsWith(`${list}.`)) return filled.startsWith(list);
  const whole = key.replaceAll(/Ms\b/g, '');
  return filled === whole || filled.startsWith(`${whole}.`) || filled.startsWith(`${whole}[`);
}

function groupOf(value: unknown): Group {
  return isGroup(value) ? value : {};
}

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
