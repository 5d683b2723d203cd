import { type RecordOperation, RecordTask } from '../records/record-task.js';
import { type Fields, fieldsOf, type OnForget, type Subject } from '../sink.js';
import type { ValueWrite } from '../records/decide-values.js';
import { notFound, type RecordReply } from './batch.js';
import { listOf } from './classify.js';

export type HubSpotOperation = RecordOperation<Step>;

export type Step = RecordStep | ForgetStep | LeaveStep | ArchiveStep | RegistrationStep | NoteStep | ByHandStep;

/**
 * Names the entry of `records` to which a step belongs. The object of an item contains the result of each entry under
 * the entry's name.
 */
interface OfRecord {
  /** The entry's name: its `object`, with a number if several entries of one list have the same `object`. */
  readonly record: string;
}

/** Updates a contact or a record of a custom object, or creates it if it is not found. */
export interface RecordStep extends OfRecord {
  readonly kind: 'record';
  readonly objectType: string;
  /** The record's id, if an earlier attempt or change found it. No search is needed then. */
  readonly id: string | null;
  /**
   * The values to search by, in order. The first one that finds a record decides. Values that the item does not have
   * are left out.
   */
  readonly match: readonly UniqueValue[];
  readonly create: boolean;
  readonly write: readonly PropertyWrite[];
  /** Time of the last write of each property for this item, Unix time in ms by HubSpot's clock. */
  readonly writtenAtMs: Readonly<Record<string, number>>;
  /** Event time of each `if-newer` value written for this item, Unix time in ms. */
  readonly tellsOfMs: Readonly<Record<string, number>>;
  /** Time of this sink's first write to the record for this item, Unix time in ms. */
  readonly sinceMs: number | null;
  /** Event time of the values, which `if-newer` compares. Unix time in ms. */
  readonly happenedAtMs: number;
  /** Whether this sink created the record for this item. */
  readonly created: boolean;
  /** The property by which the record was found; null if this sink created it, or did not search for it. */
  readonly foundBy: string | null;
  /**
   * Whether another record was merged into this one, to which the item belonged. It then keeps its own values of the
   * match properties.
   */
  readonly isMerged: boolean;
  /** The contact of a custom object's record; null if there is none. */
  readonly contact: ContactReference | null;
  /** The id of the contact that was associated with the record at the last write. */
  readonly contactId: string | null;
  /** Ids of the static lists to add the contact to. */
  readonly lists: readonly string[];
  /** The static lists to which this item has added the contact before. */
  readonly listsBefore: readonly string[];
  /** Whether an earlier attempt may have written the record without an answer. */
  readonly isUnsure: boolean;
  /** Whether that attempt was to create it. */
  readonly isCreating: boolean;
}

export interface PropertyWrite extends ValueWrite {
  readonly value: string | null;
  /**
   * True for a property of `match` whose policy the mapping does not state. It is not written to a record that was found
   * by it: the record may have the value as an additional one, such as a second e-mail address.
   */
  readonly isMatch?: true;
}

export interface UniqueValue {
  readonly property: string;
  readonly value: string;
}

/**
 * Identifies the contact of another record: the first one that these values find, or a new one with the first of these
 * values.
 */
export interface ContactReference {
  readonly match: readonly UniqueValue[];
  readonly create: boolean;
  /**
   * Other properties of a new contact, because the account's rules may require more than an e-mail address. An existing
   * contact keeps its values.
   */
  readonly properties: Readonly<Record<string, string>>;
}

/** Clears this sink's values in a record that other systems also use. */
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
  /** The entry's part of the item's object after this step. */
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
  /**
   * Exactly one of `email` and `contactId` is set. A change to an existing registration uses the contact's id, because
   * the person's e-mail address may have changed.
   */
  readonly email: string | null;
  readonly contactId: string | null;
  /** HubSpot's id of the marketing event for which the person is registered; null if there was no registration. */
  readonly eventId: string | null;
  /** Unix time in ms. */
  readonly happenedAtMs: number;
  /** `joinedAt` and `leftAt`, only for `attend`. */
  readonly presence: Readonly<Record<string, string>>;
  /**
   * A digest of `presence`, which shows whether the times have changed without containing them; null if there are no
   * times.
   */
  readonly presenceDigest: string | null;
  /** Properties of a contact that HubSpot creates for the registration. */
  readonly contactProperties: Readonly<Record<string, string>>;
}

/** The event in HubSpot's form. `details` is null in a cancellation, which only names the event. */
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
  /** The contact to which an attempt without an answer sent the note, whatever the mapping returns now. */
  readonly sentTo?: string;
  readonly properties: Readonly<Record<string, string>>;
  /** A mark in the note's text that no other note has. It finds the note if HubSpot's answer was lost. */
  readonly mark: string;
}

/** Names contacts that only an operator can clear, because they may have existed before. Makes no call. */
export interface ByHandStep extends OfRecord {
  readonly kind: 'by-hand';
  readonly contactIds: readonly string[];
}

/**
 * The part of an item's object about contacts that may have been created for its other records: their `ids`, and
 * `mayExist` if the answer to a creation was lost. No entry of `records` has this name.
 */
export const newContacts = 'new contacts';

/** Returns the ids of the contacts that may have been created for an item's other records. */
export function newContactIds(object: Fields | null): string[] {
  return listOf(fieldsOf(object?.[newContacts]).ids).filter((each) => typeof each === 'string');
}

/**
 * The reason to remove an item's results. `withdrawn`: the item was deleted in the service, or its condition is now
 * false. `anonymous`: the identity of its person is no longer visible. `consent`: the person must be forgotten in
 * HubSpot.
 */
export type RemovalCause = 'withdrawn' | 'anonymous' | 'consent';

/**
 * Returns the step that removes an entry's results for an item; undefined if they stay. A withdrawn item does not
 * remove contacts, because other systems also use them. It removes only what belongs to this sink: notes, registrations
 * and records that the sink created.
 * @param record the entry's name
 * @param made the entry's part of the item's object
 */
export function removalOf(
  { record, made }: { readonly record: string; readonly made: unknown },
  cause: RemovalCause,
  { change }: { readonly change: Omit<Subject['change'], 'data'> },
  onForget: OnForget,
): Step | undefined {
  const objectType = record.replace(/ \d+$/, '');
  const { id, contactId, eventId, attendance, created, writtenAtMs, sinceMs } = fieldsOf(made);
  const lists = listIdsOf(made);
  if (objectType === 'marketing-event') {
    if (typeof contactId !== 'string' || typeof eventId !== 'string' || attendance === 'cancel') return undefined;
    return {
      kind: 'registration',
      record,
      event: { ...eventName(change), details: null },
      attendance: 'cancel',
      email: null,
      contactId,
      eventId,
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

/** Returns the static lists to which an item has added its contact. */
export function listIdsOf(made: unknown): string[] {
  return listOf(fieldsOf(made).lists).filter((each) => typeof each === 'string');
}

/** Returns the ids that identify a pigeonhole's marketing event. They never change. */
export function eventName({
  workspace,
  pigeonholeId,
}: Pick<Subject['change'], 'workspace' | 'pigeonholeId'>): Omit<MarketingEvent, 'details'> {
  return { externalAccountId: `pigeonpost-${workspace}`, externalEventId: String(pigeonholeId) };
}

/** An operation in progress. */
export class Task extends RecordTask<Step> {
  constructor(operation: HubSpotOperation) {
    super(operation, { accepted: 'HubSpot accepted it', failureEnds: 'operation' });
  }

  /** Whether an entry for contacts writes this contact, so that a removal clears it. */
  writesContact(id: string): boolean {
    return Object.entries(this.object).some(
      ([record, made]) => /^contacts(?: \d+)?$/.test(record) && fieldsOf(made).id === id,
    );
  }

  /**
   * Notes a contact that may have been created for a note, a registration or a record of a custom object.
   * @param id null: the answer to the creation was lost
   */
  mayHaveCreated(id: string | null, mayExist = id === null): void {
    const ids = [...newContactIds({ [newContacts]: this.has(newContacts) }), ...(id === null ? [] : [id])];
    this.made(newContacts, { ids: [...new Set(ids)], ...(mayExist && { mayExist }) });
  }

  /**
   * Ends a step with a record's reply. A caller for which `missing` is not an error must handle that reply itself.
   */
  endBy(reply: Exclude<RecordReply, { kind: 'done' }>, record: string): void {
    switch (reply.kind) {
      case 'missing':
        return this.end(notFound, record);
      case 'rejected':
        return this.end(reply, record);
      case 'failed':
        return this.end(reply.result, record);
    }
  }
}

/** A task with one of its steps. */
export interface Pair<S extends Step = Step> {
  readonly task: Task;
  readonly step: S;
}

/** Returns the entries of an operation of which HubSpot may have more than the object names, if the operation was sent. */
export function unansweredOf({ steps }: HubSpotOperation): string[] {
  const records = steps.flatMap(({ kind, record }) => (kind === 'record' || kind === 'registration' ? [record] : []));
  return steps.some(mayCreateContact) ? [...records, newContacts] : records;
}

function mayCreateContact(step: Step): boolean {
  if (step.kind === 'registration') return step.email !== null;
  return (step.kind === 'note' || step.kind === 'record') && step.contact?.create === true;
}
