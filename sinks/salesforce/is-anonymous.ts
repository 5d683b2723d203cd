import type { ListName } from '../../config/schema/list-names.js';
import type { Subject } from '../sink.js';

/** Lists whose items are people themselves, or are done by nobody. */
const notDoneByPeople: ReadonlySet<string> = new Set<ListName>([
  'attendees',
  'registrants',
  'sessions',
  'pigeonholes',
  'subscriptions',
]);

/** Whether it is what someone did who may not be shown: such an item names nobody, and comes without their record. */
export function isAnonymous({ change, attendee }: Subject): boolean {
  if (attendee !== null || notDoneByPeople.has(change.list)) return false;
  const { attendeeId, attendee: person } = change.data ?? {};
  const named = typeof person === 'object' && person !== null && 'id' in person && person.id !== undefined;
  return attendeeId === undefined && !named;
}
