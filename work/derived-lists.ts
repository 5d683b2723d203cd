import { countedLists, engagementList } from '../ledger/engagement.js';
import { registrantsList } from '../ledger/registrant-item.js';
import type { ListName } from '../pigeonhole/lists.js';

/** A list that is made from others, and not read. */
export type DerivedListName = typeof engagementList | typeof registrantsList;

/** A list that a sink may be sent. */
export type SentListName = ListName | DerivedListName;

export const derivedLists: readonly DerivedListName[] = [registrantsList, engagementList];

/** What a derived list is made from of what is read: read wherever a sink wants it. */
export const madeFrom: Readonly<Record<DerivedListName, readonly ListName[]>> = {
  registrants: ['attendees'],
  engagement: ['sessions', 'attendees', ...countedLists],
};

export function isDerived(list: SentListName): list is DerivedListName {
  return (derivedLists as readonly string[]).includes(list);
}
