import type { SinkConfig } from '../config/config.js';
import { allSinks } from '../sinks/all-sinks.js';
import type { Join } from '../sinks/sink.js';
import { isDerived, type SentListName } from './derived-lists.js';

/**
 * Whether a sink receives a list: the lists its type can use with its settings, narrowed by the key `lists`. A sink that
 * can use every list receives a derived one only if `lists` names it.
 */
export function usesList(
  { type, settings, lists }: Pick<SinkConfig, 'type' | 'settings' | 'lists'>,
  list: SentListName,
): boolean {
  const usable = allSinks.get(type)?.lists(settings) ?? 'all';
  if (usable !== 'all') return usable.includes(list) && (lists?.includes(list) ?? true);
  return lists?.includes(list) ?? !isDerived(list);
}

/** Returns the lists that must be read because the sink's mapping joins them. */
export function joinsOf({ type, settings }: Pick<SinkConfig, 'type' | 'settings'>): readonly Join[] {
  return allSinks.get(type)?.joins?.(settings) ?? [];
}
