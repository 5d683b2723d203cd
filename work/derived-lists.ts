import { countedLists, engagementList } from '../ledger/engagement.js';
import { registrantsList } from '../ledger/registrant-item.js';
import type { ListName } from '../pigeonhole/lists.js';

/** A list that pigeonpost computes from other lists. The service does not offer it. */
export type DerivedListName = typeof engagementList | typeof registrantsList;

/** A list whose changes a sink can receive. */
export type SentListName = ListName | DerivedListName;

export const derivedLists: readonly DerivedListName[] = [registrantsList, engagementList];

/** The service's lists from which each derived list is computed. They are read wherever a sink wants the derived list. */
export const madeFrom: Readonly<Record<DerivedListName, readonly ListName[]>> = {
  registrants: ['attendees'],
  engagement: ['sessions', 'attendees', ...countedLists],
};

export function isDerived(list: SentListName): list is DerivedListName {
  return (derivedLists as readonly string[]).includes(list);
}
