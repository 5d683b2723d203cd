import {
  defaultAttemptsMs,
  defaultChangesMs,
  type Config,
  type ImportFolder,
  type NightlyExport,
  type PigeonholeChoice,
  type Retention,
} from './config.js';
import { Secret } from './secret.js';

/** Data that JSON can carry without loss. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Returns the document that processes sharing a ledger compare: workspaces, syncs, sinks, drop folders, alerts and
 * retention, with all defaults. The order of keys and of unordered lists does not matter. Settings of a single process
 * (store, temporal, server, network) are left out. A secret appears as `{ "$secret": fingerprint }`, so that a new
 * secret makes a new configuration, but nobody can read it.
 * @param fingerprint a keyed hash, such as an HMAC with the ledger's key: a short secret could be guessed from a plain
 *   hash
 */
export function normalizedConfig(
  config: Pick<Config, 'workspaces' | 'syncs' | 'sinks'> &
    Partial<Pick<Config, 'imports' | 'exports' | 'alerts' | 'retention'>>,
  fingerprint: (secret: string) => string,
): Json {
  const syncs = mapValues(config.syncs, (sync) => ({
    ...sync,
    pigeonholes: normalizedChoice(sync.pigeonholes),
    lists: sync.lists === 'auto' ? 'auto' : sorted(sync.lists),
    drop: mapValues(sync.drop, (fields) => sorted(fields ?? [])),
    sinks: sorted(sync.sinks),
  }));
  const sinks = mapValues(config.sinks, (sink) => ({
    ...sink, // lists in `settings` are not sorted, because their order may matter: the first of two secrets signs
    lists: sink.lists && sorted(sink.lists),
    consent: sink.consent && { ...sink.consent, accept: sorted(sink.consent.accept) },
  }));
  // Left out if empty. For a file without imports, the document then equals the one that versions without imports
  // produced.
  const imports = config.imports?.length ? { imports: byFolder(config.imports) } : {};
  const nightly = config.exports?.length ? { exports: bySink(config.exports) } : {};
  const alerts = config.alerts === undefined ? {} : { alerts: config.alerts };
  const kept = config.retention === undefined || isDefault(config.retention) ? {} : { retention: config.retention };
  const { workspaces } = config;
  return canonical({ version: 1, workspaces, syncs, sinks, ...imports, ...nightly, ...alerts, ...kept }, fingerprint);
}

/** Whether the file sets no retention. It is then left out, so that the document equals that of versions without retention. */
function isDefault({ listsMs, changesMs, attemptsMs }: Retention): boolean {
  return Object.keys(listsMs).length === 0 && changesMs === defaultChangesMs && attemptsMs === defaultAttemptsMs;
}

/** Indexes the drop folders by path, so that the order of the list does not matter. */
function byFolder(imports: readonly ImportFolder[]): Record<string, Omit<ImportFolder, 'folder'>> {
  return Object.fromEntries(imports.map(({ folder, ...rest }) => [folder, rest]));
}

function bySink(exports: readonly NightlyExport[]): Record<string, Omit<NightlyExport, 'to'>> {
  return Object.fromEntries(exports.map(({ to, ...rest }) => [to, rest]));
}

function normalizedChoice(choice: PigeonholeChoice): PigeonholeChoice {
  if ('ids' in choice) return { ids: sorted(choice.ids) };
  return {
    ...choice,
    status: choice.status && sorted(choice.status),
    exclude: choice.exclude && sorted(choice.exclude),
  };
}

/**
 * Sorts keys, omits undefined and replaces secrets with fingerprints. A value that JSON cannot represent is a bug in a
 * sink's schema.
 */
function canonical(value: unknown, fingerprint: (secret: string) => string): Json {
  if (value instanceof Secret) return { $secret: fingerprint(value.compared()) };
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item) => canonical(item, fingerprint));
  if (value instanceof URL || value instanceof RegExp) return String(value);
  if (saysItself(value)) return canonical(value.toJSON(), fingerprint); // an expression is stored as its text
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    const inOrder = entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(inOrder.map(([key, item]) => [key, canonical(item, fingerprint)]));
  }
  throw new TypeError(
    `a setting of type ${typeof value} cannot be compared between processes; the sink's schema must return plain data`,
  );
}

function saysItself(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
}

function sorted<Item extends string | number>(items: readonly Item[]): Item[] {
  return [...items].sort((one, other) => (one < other ? -1 : 1));
}

function mapValues<Value, Result>(
  group: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(group).map(([name, value]) => [name, change(value)]));
}
