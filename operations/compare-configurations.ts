import type { ChangedKey, ConfigurationChange } from './configuration-plan.js';
import { formatDuration } from '../config/values.js';

type Group = Readonly<Record<string, unknown>>;

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
    ['alerts', 'alerts'],
  ] as const;
  return sections.flatMap(([section, what]) => {
    const old = groupOf(groupOf(before)[section]);
    const next = groupOf(groupOf(now)[section]);
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

/** Removes duplicates: the document stores an interval in two members, and both are the same key of the file. */
function unique(keys: readonly ChangedKey[]): ChangedKey[] {
  return keys.filter(({ key }, at) => keys.findIndex((other) => other.key === key) === at);
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

/** Leaves out `every.quiet` if it changed only because it has the value of `every.live`, as it does unless the file sets it. */
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

/** Whether a key of the document is, or contains, a key of the file. The document names drop folders by path, the file by position. */
function holds(key: string, filled: string): boolean {
  if (key.startsWith('imports.')) return filled.startsWith('imports');
  const whole = key.replaceAll(/Ms\b/g, '');
  return filled === whole || filled.startsWith(`${whole}.`) || filled.startsWith(`${whole}[`);
}

function groupOf(value: unknown): Group {
  return isGroup(value) ? value : {};
}

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
