import type { Config, SinkConfig } from '../config/config.js';
import { type DerivedListName, derivedLists, type ListName } from '../base/lists.js';
import { allSinks } from './all-sinks.js';
import type { Join } from './sink.js';

function isDerived(list: ListName): list is DerivedListName {
  return (derivedLists as readonly string[]).includes(list);
}

/** Returns the names of the sync's sinks that want a list. */
export function sinksWanting(config: Config, syncName: string, list: ListName): string[] {
  const sync = config.syncs[syncName]!;
  if (sync.lists !== 'auto' && !sync.lists.includes(list)) return [];
  return sync.sinks.filter((name) => usesList(config.sinks[name]!, list));
}

/**
 * Whether a sink receives a list. A sink receives the lists that its type can use with its settings, narrowed by the
 * key `lists`. A sink that can use every list receives a derived one only if `lists` names it.
 */
function usesList({ type, settings, lists }: Pick<SinkConfig, 'type' | 'settings' | 'lists'>, list: ListName): boolean {
  const usable = allSinks.get(type)?.lists(settings) ?? 'all';
  if (usable !== 'all') return usable.includes(list) && (lists?.includes(list) ?? true);
  return lists?.includes(list) ?? !isDerived(list);
}

/** Returns the lists that must be read because the sink's mapping joins them. */
export function joinsOf({ type, settings }: Pick<SinkConfig, 'type' | 'settings'>): readonly Join[] {
  return allSinks.get(type)?.joins?.(settings) ?? [];
}
