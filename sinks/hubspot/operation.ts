import { type Fields, type Operation, fieldsOf, type SinkEnvironment, type Subject } from '../sink.js';
import type { WritePolicy } from '../mapping/expression-schema.js';
import { listOf } from './classify.js';

/** The calls for one change: one step for each entry of `records` about its list. */
export interface HubSpotOperation extends Operation {
  readonly steps: readonly Step[];
  /** The item's object before: it stays, except for the changes of the steps. */
  readonly object: Fields | null;
}

export type Step = RecordStep | ForgetStep | LeaveStep | ArchiveStep | RegistrationStep | NoteStep;

/** The object of an item contains the results of each entry of `records`, under the entry's name. */
interface OfRecord {
  /** The entry's name: its `object`, with a number if a list has several of the same. */
  readonly record: string;
}

/** A contact or a record of a custom object: updated if it is found, otherwise created. */
export interface RecordStep extends OfRecord {
  readonly kind: 'record';
  readonly objectType: string;
  /** The known id; no search is needed then. */
  readonly id: string | null;
  /** Match values in order: the first one that finds a record is used. Values that the item lacks are left out. */
  readonly match: readonly UniqueValue[];
  readonly create: boolean;
  readonly write: readonly PropertyWrite[];
  /** Time of the last write of each property for this item, Unix time in ms by HubSpot's clock. */
  readonly writtenAtMs: Readonly<Record<string, number>>;
  /** Event time of each `if-newer` value written for this item, Unix time in ms. */
  readonly tellsOfMs: Readonly<Record<string, number>>;
  /** Time of this sink's first write to the record for this item. */
  readonly sinceMs: number | null;
  /** Event time of the values, which `if-newer` compares. Unix time in ms. */
  readonly happenedAtMs: number;
  /** Whether this sink created the record for this item. */
  readonly created: boolean;
  /** The contact of a custom object's record; null if there is none. */
  readonly contact: ContactReference | null;
  /** The record's contact at the last write. */
  readonly contactId: string | null;
  /** Ids of the static lists to add the contact to. */
  readonly lists: readonly string[];
  /** The lists that this item added the contact to before. */
  readonly listsBefore: readonly string[];
}

export interface PropertyWrite {
  readonly name: string;
  /** Empty clears the property. */
  readonly value: string;
  readonly policy: WritePolicy;
}

export interface UniqueValue {
  readonly property: string;
  readonly value: string;
}

/** The contact: the first one found, or one created with the first of these values. */
export interface ContactReference {
  readonly match: readonly UniqueValue[];
  readonly create: boolean;
  /** Other properties of a new contact. An existing contact keeps its values. */
  readonly properties: Readonly<Record<string, string>>;
}

/** Clears values in a record that others also use. */
export interface ForgetStep extends OfRecord {
  readonly kind: 'forget';
  readonly objectType: string;
  readonly id: string;
  readonly writtenAtMs: Readonly<Record<string, number>>;
  readonly sinceMs: number;
  /** Static lists to remove it from. */
  readonly lists: readonly string[];
}

/** Removes a contact from static lists; its properties stay. */
export interface LeaveStep extends OfRecord {
  readonly kind: 'leave';
  readonly objectType: string;
  readonly id: string;
  readonly lists: readonly string[];
  /** The item's object afterwards. */
  readonly made: Fields;
}

/** Moves a record to HubSpot's recycling bin. */
export interface ArchiveStep extends OfRecord {
  readonly kind: 'archive';
  readonly objectType: string;
  readonly id: string;
}

export type Attendance = 'register' | 'attend' | 'cancel';

/** A person's registration for, or attendance at, the marketing event of a pigeonhole. */
export interface RegistrationStep extends OfRecord {
  readonly kind: 'registration';
  readonly event: MarketingEvent;
  readonly attendance: Attendance;
  /** One of the two: an existing registration is changed by the contact's id, whatever the e-mail is now. */
  readonly email: string | null;
  readonly contactId: string | null;
  /**
   * HubSpot's id of the registration's event; null: there was no registration, or it was made before the id was
   * stored.
   */
  readonly eventId: string | null;
  /** Unix time in ms. */
  readonly happenedAtMs: number;
  /** `joinedAt` and `leftAt`, only for `attend`. */
  readonly presence: Readonly<Record<string, string>>;
  /** A digest that shows a change without containing the times; null if there are none. */
  readonly presenceDigest: string | null;
  /** Properties of a contact that HubSpot creates for the registration. */
  readonly contactProperties: Readonly<Record<string, string>>;
}

/** The event in HubSpot's form. A cancellation names the event without describing it: `details` is null. */
export interface MarketingEvent {
  readonly externalAccountId: string;
  readonly externalEventId: string;
  readonly details: Readonly<Record<string, string>> | null;
}

/** A note on a contact's timeline. */
export interface NoteStep extends OfRecord {
  readonly kind: 'note';
  readonly id: string | null;
  readonly contact: ContactReference;
  readonly properties: Readonly<Record<string, string>>;
  /** A mark that is unique to this note's text, and finds the note if the answer was lost. */
  readonly mark: string;
}

/**
 * The reason to remove an item's results. `withdrawn`: the item was deleted in the service, or its condition is now
 * false. `anonymous`: the identity of its person is no longer visible. `consent`: the person is to be forgotten here.
 */
export type RemovalCause = 'withdrawn' | 'anonymous' | 'consent';

/**
 * Returns the step that removes an entry's results for an item; undefined: they stay. Others also use contacts, so a
 * withdrawal leaves them; what belongs to this sink alone (notes, registrations, records that it created) is removed.
 * @param record the entry's name
 * @param made the entry's part of the item's object
 */
export function removalOf(
  { record, made }: { readonly record: string; readonly made: unknown },
  cause: RemovalCause,
  { change }: Pick<Subject, 'change'>,
  onForget: NonNullable<SinkEnvironment['onForget']>,
): Step | undefined {
  const objectType = record.replace(/ \d+$/, '');
  const { id, contactId, eventId, attendance, created, writtenAtMs, sinceMs } = fieldsOf(made);
  const lists = listIdsOf(made);
  if (objectType === 'marketing-event') {
    if (typeof contactId !== 'string' || attendance === 'cancel') return undefined;
    return {
      kind: 'registration',
      record,
      event: { ...eventName(change), details: null },
      attendance: 'cancel',
      email: null,
      contactId,
      eventId: typeof eventId === 'string' ? eventId : null,
      happenedAtMs: Date.parse(change.timestamp),
      presence: {},
      presenceDigest: null,
      contactProperties: {},
    };
  }
  if (typeof id !== 'string') return undefined;
  const archive: Step = { kind: 'archive', record, objectType, id };
  if (objectType === 'notes') return archive;
  if (cause === 'withdrawn' && objectType === 'contacts') {
    const { lists: _, ...rest } = fieldsOf(made);
    return lists.length === 0 ? undefined : { kind: 'leave', record, objectType, id, lists, made: rest };
  }
  if (cause === 'withdrawn') return created === true ? archive : undefined;
  if (cause === 'consent' && onForget === 'delete') return archive;
  return {
    kind: 'forget',
    record,
    objectType,
    id,
    writtenAtMs: fieldsOf(writtenAtMs) as Record<string, number>,
    sinceMs: typeof sinceMs === 'number' ? sinceMs : 0,
    lists,
  };
}

/** Returns the static lists that an item added its contact to. */
export function listIdsOf(made: unknown): string[] {
  return listOf(fieldsOf(made).lists).filter((each) => typeof each === 'string');
}

/** Identifies the marketing event of a pigeonhole by ids that never change. */
export function eventName({ workspace, pigeonholeId }: Subject['change']): {
  externalAccountId: string;
  externalEventId: string;
} {
  return { externalAccountId: `pigeonpost-${workspace}`, externalEventId: String(pigeonholeId) };
}
