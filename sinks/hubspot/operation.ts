import { type Fields, type Operation, fieldsOf, type SinkEnvironment, type Subject } from '../sink.js';
import type { WritePolicy } from '../mapping/expression-schema.js';
import { listOf } from './classify.js';

/** What one change makes HubSpot do: a step for each entry of `records` that is about its list. */
export interface HubSpotOperation extends Operation {
  readonly steps: readonly Step[];
  /** What was made of the item before: it stays, but for what a step changes. */
  readonly object: Fields | null;
}

export type Step = RecordStep | ForgetStep | LeaveStep | ArchiveStep | RegistrationStep | NoteStep;

/** The object of an item holds what was made of it by each entry of `records`, under the entry's name. */
interface OfRecord {
  /** The entry's name: its `object`, with a number where a list has several of the same. */
  readonly record: string;
}

/** A contact or a record of a custom object: written to where it is found, or created. */
export interface RecordStep extends OfRecord {
  readonly kind: 'record';
  readonly objectType: string;
  /** Its id, where it is known from before: it is not looked for then. */
  readonly id: string | null;
  /** In order: the first that finds a record is used. Without those for which the item has no value. */
  readonly match: readonly UniqueValue[];
  readonly create: boolean;
  readonly write: readonly PropertyWrite[];
  /** When each property was last written for this item, Unix time in ms by HubSpot's clock. */
  readonly writtenAtMs: Readonly<Record<string, number>>;
  /** When what each `if-newer` value that was written for this item tells of happened, Unix time in ms. */
  readonly tellsOfMs: Readonly<Record<string, number>>;
  /** When this sink first wrote to the record for this item. */
  readonly sinceMs: number | null;
  /** When what the values tell of happened: what `if-newer` compares. Unix time in ms. */
  readonly happenedAtMs: number;
  /** It did not exist before: this sink created it, for this item. */
  readonly created: boolean;
  /** The contact that a custom object belongs to; null: it belongs to none. */
  readonly contact: ContactReference | null;
  /** The contact that it belonged to when it was last written. */
  readonly contactId: string | null;
  /** Ids of the static lists that the contact is put into. */
  readonly lists: readonly string[];
  /** The lists that this item has put it into before. */
  readonly listsBefore: readonly string[];
}

export interface PropertyWrite {
  readonly name: string;
  /** Empty: the property is cleared. */
  readonly value: string;
  readonly policy: WritePolicy;
}

export interface UniqueValue {
  readonly property: string;
  readonly value: string;
}

/** Which contact: the first that is found, or one that is created with the first of these values. */
export interface ContactReference {
  readonly match: readonly UniqueValue[];
  readonly create: boolean;
  /** What a contact is given besides when it is created. One that exists keeps what it has. */
  readonly properties: Readonly<Record<string, string>>;
}

/** Takes back what was written to a record that belongs to others as well. */
export interface ForgetStep extends OfRecord {
  readonly kind: 'forget';
  readonly objectType: string;
  readonly id: string;
  readonly writtenAtMs: Readonly<Record<string, number>>;
  readonly sinceMs: number;
  /** Static lists that it leaves. */
  readonly lists: readonly string[];
}

/** Takes a contact out of the static lists that it was put into; everything else stays. */
export interface LeaveStep extends OfRecord {
  readonly kind: 'leave';
  readonly objectType: string;
  readonly id: string;
  readonly lists: readonly string[];
  /** What is known of the record afterwards. */
  readonly made: Fields;
}

/** Moves a record to HubSpot's recycling bin. */
export interface ArchiveStep extends OfRecord {
  readonly kind: 'archive';
  readonly objectType: string;
  readonly id: string;
}

export type Attendance = 'register' | 'attend' | 'cancel';

/** Someone's registration for, or attendance at, the marketing event of a pigeonhole. */
export interface RegistrationStep extends OfRecord {
  readonly kind: 'registration';
  readonly event: MarketingEvent;
  readonly attendance: Attendance;
  /** One of the two: a registration made before is changed by the contact's id, whatever the e-mail is now. */
  readonly email: string | null;
  readonly contactId: string | null;
  /** HubSpot's id of the event that the registration was made for; null: it was made before the id was stored, or never. */
  readonly eventId: string | null;
  /** Unix time in ms. */
  readonly happenedAtMs: number;
  /** `joinedAt` and `leftAt`, of `attend` only. */
  readonly presence: Readonly<Record<string, string>>;
  /** Tells another presence from this one, without holding it; null: there is none. */
  readonly presenceDigest: string | null;
  /** What a contact is given when HubSpot creates it for the registration. */
  readonly contactProperties: Readonly<Record<string, string>>;
}

/** As HubSpot takes it. What was only a cancelling names the event without describing it: `details` is null then. */
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
  /** Stands in the note's text, and in that of no other: by it a note whose answer was lost is found again. */
  readonly mark: string;
}

/**
 * Why what was made of an item has to go. `withdrawn`: it was deleted at the source, or its condition is false now.
 * `anonymous`: its person may be shown no more. `consent`: the person wants to be forgotten here.
 */
export type RemovalCause = 'withdrawn' | 'anonymous' | 'consent';

/**
 * What takes back what an entry of `records` has made of an item; undefined: it stays. Contacts belong to others as
 * well, so a withdrawal leaves them; what is ours alone (notes, registrations, records that we created) goes.
 * @param record the entry's name
 * @param made what the item's object says of it
 */
export function removalOf(
  record: string,
  made: unknown,
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

/** The static lists that an item has put its contact into. */
export function listIdsOf(made: unknown): string[] {
  return listOf(fieldsOf(made).lists).filter((each) => typeof each === 'string');
}

/** Takes away the contact that HubSpot has made for a canary's registration: nobody else has its e-mail. */
export function contactRemovalsOf(made: readonly (readonly [record: string, of: unknown])[]): Step[] {
  const own = new Set(made.map(([, of]) => fieldsOf(of).id));
  return made.flatMap(([record, of]): Step[] => {
    const { contactId } = fieldsOf(of);
    if (typeof contactId !== 'string' || own.has(contactId)) return [];
    own.add(contactId);
    return [{ kind: 'archive', record: `${record} contact`, objectType: 'contacts', id: contactId }];
  });
}

/** The marketing event of a pigeonhole, by ids that never change. */
export function eventName({ workspace, pigeonholeId }: Subject['change']): {
  externalAccountId: string;
  externalEventId: string;
} {
  return { externalAccountId: `pigeonpost-${workspace}`, externalEventId: String(pigeonholeId) };
}
