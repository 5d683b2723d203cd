import type { ReadyCheck } from './readiness.js';
import type { Config } from '../../config/config.js';
import type { SeenFields } from '../../ledger/seen-fields.js';
import { fieldNotes, mentionedLists, type SeenByList } from '../field-notes.js';
import { counted } from '../../base/words.js';

const about = { id: 'profile-fields', label: 'Profile fields' };
const maxFields = 8;

/**
 * Fields that the service itself gives, whatever the profile: they need not have been seen to be known. Source:
 * specification, "Attendee"; docs/registrants.md.
 */
const ownFields: Readonly<Record<string, readonly string[]>> = {
  attendees: ['id', 'registrantId', 'attendeeCode', 'signInTime', 'consent', 'linkedIn', 'twitter'],
  registrants: ['attendeeCode', 'registrantId', 'attendeeId', 'attendees', 'signedIn', 'signedInAt', 'consent'],
};

export interface KnownFields {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Profile fields of the pigeonhole, from attendees and imports. */
  readonly profile: readonly string[];
  /** Fields of stored items, for the lists that mappings mention. */
  readonly seen: SeenByList;
}

/**
 * Checks that the fields that mappings read exist in this event. Every event has its own profile fields, and nobody
 * notices a wrong name until the CRM stays empty. Pure.
 * @param config with only the sinks that receive data of this pigeonhole
 */
export function judgeFields(config: Config, known: KnownFields): ReadyCheck {
  const readsPeople = mentionedLists(config).some((list) => list in ownFields);
  if (known.profile.length === 0) {
    if (!readsPeople) return { ...about, state: 'ok', says: 'no mapping reads any' };
    return {
      ...about,
      state: 'warning',
      says: 'none is known yet, because nobody was imported and nobody has signed in: the mappings cannot be compared',
      todo: 'sign in once as a test, then run the check again',
    };
  }
  const names = known.profile.slice(0, maxFields).map((name) => JSON.stringify(name));
  const rest = known.profile.length - names.length;
  const told = `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  const notes = fieldNotes(config, withProfile(known));
  if (notes.length === 0) return { ...about, state: 'ok', says: `${told}; the mappings find all that they read` };
  return {
    ...about,
    state: 'warning',
    says: `${counted(notes.length, 'expression')} of mappings would find nothing: ${notes.join('; ')}`,
    todo: 'use the field name of this event; $field("one name", "another") reads the first that exists',
  };
}

/** Adds the profile fields to the seen ones: on the evening before the event nobody has signed in yet. */
function withProfile({ workspace, pigeonholeId, profile, seen }: KnownFields): SeenByList {
  const lists = new Map(seen);
  for (const [list, own] of Object.entries(ownFields)) {
    const stored = (seen.get(list) ?? []).filter((place) => place.pigeonholeId === pigeonholeId);
    const there = new Set(stored.flatMap(({ fields }) => fields.map(({ field }) => field)));
    const added = [...own, ...profile].filter((field) => !there.has(field));
    const place: SeenFields = {
      workspace,
      pigeonholeId,
      items: 0,
      fields: added.map((field) => ({ field, member: null, types: {}, filled: 0, values: null })),
    };
    lists.set(list, [...stored, place]);
  }
  return lists;
}
