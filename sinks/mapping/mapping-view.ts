import type { Change } from '../change.js';
import type { Fields, Subject } from '../sink.js';

/** The data that mappings and conditions use: the names are a contract with the authors of pigeonpost.yaml. */
export interface MappingView {
  readonly item: Fields | null;
  readonly previous: Fields | null;
  /** Profile fields are at its top level, with the service's names. For an attendee's own record: the record. */
  readonly attendee: Fields | null;
  readonly session: Fields | null;
  readonly pigeonhole: Fields | null;
  readonly change: Change;
}

export function mappingView({ change, previous, attendee, session, pigeonhole }: Subject): MappingView {
  const person = change.list === 'attendees' ? change.data : attendee;
  return { item: change.data, previous, attendee: person, session, pigeonhole, change };
}
