import type { ChangedKey, ConfigurationChange } from '../api/configuration-plan.js';
import { formatDuration } from '../config/values.js';

type Group = Readonly<Record<string, unknown>>;

/**
 * What one configuration has that another had not, key by key. Pure. Takes the documents that the ledger stores.
 * Values are shown only of keys that cannot hold a secret, so not of a sink's own settings.
 */
export function compareConfigurations(before: unknown, now: unknown): ConfigurationChange[] {
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
      const keys = changedKeys(old[name], next[name], []);
      return keys.length === 0 ? [] : [{ ...change, kind: 'changed', keys: keys.map((path) => shown(what, path)) }];
    });
  });
}

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

/** The key as it stands in pigeonpost.yaml. */
function shown(what: ConfigurationChange['what'], { path, from, to }: Difference): ChangedKey {
  const [first, ...rest] = path;
  const mayHoldSecrets = what === 'workspace' || what === 'alerts' || first === 'settings';
  const key = (first === 'settings' ? rest : path).map((step) => (step === 'everyMs' ? 'every' : step)).join('.');
  if (mayHoldSecrets) return { key };
  const text = (value: unknown): string => {
    if (value === undefined) return 'nothing';
    if (isGroup(value) && typeof value['forMs'] === 'number') return formatDuration(value['forMs']);
    const isDuration = typeof value === 'number' && (first === 'everyMs' || path.at(-1) === 'forMs');
    return isDuration ? formatDuration(value) : JSON.stringify(value);
  };
  return { key: key.replace(/\.forMs$/, ''), from: text(from), to: text(to) };
}

function groupOf(value: unknown): Group {
  return isGroup(value) ? value : {};
}

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
