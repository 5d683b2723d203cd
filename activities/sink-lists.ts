import type { SinkConfig } from '../config/config.js';
import type { ListName } from '../pigeonhole/lists.js';
import { allSinks } from '../sinks/all-sinks.js';
import type { Join } from '../sinks/sink.js';

/** Whether a sink is sent a list: what it can use as it is configured, or less where `lists` says so. */
export function usesList(
  { type, settings, lists }: Pick<SinkConfig, 'type' | 'settings' | 'lists'>,
  list: ListName,
): boolean {
  const usable = allSinks.get(type)?.lists(settings) ?? 'all';
  return (usable === 'all' || usable.includes(list)) && (lists?.includes(list) ?? true);
}

/** What has to be read because the sink's mapping looks at it. */
export function joinsOf({ type, settings }: Pick<SinkConfig, 'type' | 'settings'>): readonly Join[] {
  return allSinks.get(type)?.joins?.(settings) ?? [];
}
