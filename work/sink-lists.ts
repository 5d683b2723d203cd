import type { SinkConfig } from '../config/config.js';
import { allSinks } from '../sinks/all-sinks.js';
import type { Join } from '../sinks/sink.js';
import { isDerived, type SentListName } from './derived-lists.js';

/**
 * Whether a sink is sent a list: what it can use as it is configured, or less where `lists` says so. One that can use
 * all is sent a derived list only where `lists` names it: what the service does not have is made for who asks for it.
 */
export function usesList(
  { type, settings, lists }: Pick<SinkConfig, 'type' | 'settings' | 'lists'>,
  list: SentListName,
): boolean {
  const usable = allSinks.get(type)?.lists(settings) ?? 'all';
  if (usable !== 'all') return usable.includes(list) && (lists?.includes(list) ?? true);
  return lists?.includes(list) ?? !isDerived(list);
}

/** What has to be read because the sink's mapping looks at it. */
export function joinsOf({ type, settings }: Pick<SinkConfig, 'type' | 'settings'>): readonly Join[] {
  return allSinks.get(type)?.joins?.(settings) ?? [];
}
