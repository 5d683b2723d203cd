import type { Change } from '../change.js';
import type { Fields, Subject } from '../sink.js';

/** What mappings and conditions see: the names are a contract with whoever writes pigeonpost.yaml. */
export interface MappingView {
  readonly item: Fields | null;
  readonly previous: Fields | null;
  /** Profile fields stand at its top level, as the service names them. Of an attendee's own record: the record. */
  readonly attendee: Fields | null;
  readonly session: Fields | null;
  readonly pigeonhole: Fields | null;
  readonly change: Change;
}

export function mappingView({ change, previous, attendee, session, pigeonhole }: Subject): MappingView {
  const person = change.list === 'attendees' ? change.data : attendee;
  return { item: change.data, previous, attendee: person, session, pigeonhole, change };
}
