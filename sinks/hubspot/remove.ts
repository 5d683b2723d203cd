import { fieldsOf, type SinkEnvironment, type Subject } from '../sink.js';
import { listOf } from './classify-answer.js';
import type { Step } from './operation.js';

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
