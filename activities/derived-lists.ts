import { countedLists, engagementList } from '../ledger/engagement.js';
import type { ListName } from '../pigeonhole/lists.js';

/** A list that is made from others, and not read. */
export type DerivedListName = typeof engagementList;

/** A list that a sink may be sent. */
export type SentListName = ListName | DerivedListName;

export const derivedLists: readonly DerivedListName[] = [engagementList];

/** What a derived list is made from: read wherever a sink wants it. */
export const madeFrom: Readonly<Record<DerivedListName, readonly ListName[]>> = {
  engagement: ['sessions', 'attendees', ...countedLists],
};

export function isDerived(list: SentListName): list is DerivedListName {
  return (derivedLists as readonly string[]).includes(list);
}
