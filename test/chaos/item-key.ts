import { type ServiceListName, serviceTraits } from '../../base/lists.js';
import type { Item } from '../kit/compare-with-truth.js';

/** Returns the key of an item in a sink: its id, or null for votes, which show none. */
export function keyOf(list: string, item: Item): string | null {
  const { hasIds, idWithin } = serviceTraits[list as ServiceListName];
  if (!hasIds) return null;
  const holder = idWithin === null ? item : (item[idWithin] as Item | undefined);
  return String(holder?.['id']);
}
