import { createHash } from 'node:crypto';
import {
  fieldsOf,
  type Fields,
  type Planned,
  type SinkEnvironment,
  type Subject,
  forgetsPerson,
  type OnForget,
} from '../sink.js';
import { FailedMapping, MappingError } from '../mapping/mapping-error.js';
import { mappingView, type MappingView } from '../mapping/expression.js';
import { lifecycleStage } from './decide-writes.js';
import { noteText, looksLikeEmail, normalEmail, propertyValue, instantValue, listIdValue } from './property-value.js';
import {
  type Attendance,
  type ContactReference,
  type HubSpotOperation,
  type PropertyWrite,
  type Step,
  type UniqueValue,
  eventName,
  listIdsOf,
  type RemovalCause,
  removalOf,
} from './operation.js';
import { type RecordKeys, isDoneByPeople } from './config.js';

/** An entry of `records`, with its name and its path in the configuration. */
interface Entry {
  readonly keys: RecordKeys;
  readonly name: string;
  /** For messages, e.g. `crm.records[0]`. */
  readonly path: string;
}

/** Converts changes into operations. Pure: it uses only the configuration and the subject. */
export class Planner {
  readonly #entries: readonly Entry[];
  readonly #onForget: OnForget;

  constructor(records: readonly RecordKeys[], { name, onForget }: Pick<SinkEnvironment, 'name' | 'onForget'>) {
    this.#onForget = onForget;
    const taken = new Map<string, number>();
    this.#entries = records.map((keys, index) => {
      const kind = JSON.stringify([keys.from, keys.object]);
      const count = (taken.get(kind) ?? 0) + 1;
      taken.set(kind, count);
      return {
        keys,
        name: count === 1 ? keys.object : `${keys.object} ${count}`,
        path: `${name}.records[${index}]`,
      };
    });
  }

  /** @throws {MappingError} */
  async plan(subject: Subject): Promise<Planned<HubSpotOperation>> {
    const { change, object, removal } = subject;
    if (removal !== null || change.data === null) {
      const cause = forgetsPerson(removal) ? 'consent' : 'withdrawn';
      return this.#removeAll(subject, cause);
    }
    const view = mappingView(subject);
    const steps: Step[] = [];
    let reason = 'no-record';
    for (const entry of this.#entries.filter(({ keys }) => keys.from === change.list)) {
      const step = await this.#step(entry, subject, view);
      if (typeof step === 'string') reason = step;
      else steps.push(step);
    }
    if (steps.length === 0) return { kind: 'nothing', reason };
    return { kind: 'send', operation: { changeId: change.id, steps, object } };
  }

  /**
   * Plans a look-up of the notes that may have been created for an item, whatever their condition and text are now.
   * Other records need no look-up, because their calls are harmless to repeat. If the mapping fails to return the
   * contact, the notes cannot be looked up.
   */
  async planLookUp(subject: Subject): Promise<Planned<HubSpotOperation>> {
    const view = mappingView(subject);
    const steps: Step[] = [];
    try {
      for (const { keys, name, path } of this.#entries) {
        const wasMade = Object.keys(fieldsOf(subject.object?.[name])).length > 0;
        if (keys.from !== subject.change.list || keys.object !== 'notes' || wasMade) continue;
        const contact = await contactOf(keys, path, view);
        if (contact === null) continue;
        steps.push({ kind: 'note', record: name, id: null, contact, properties: {}, mark: markOf(subject, name) });
      }
    } catch (error) {
      if (!(error instanceof MappingError)) throw error;
      const detail = `a note may have been created and cannot be looked up (${error.message}): check the contact, and redrive the change if the note is missing`;
      return { kind: 'unplannable', cause: error.causeCode, detail };
    }
    if (steps.length === 0) return { kind: 'nothing', reason: 'no-record' };
    return { kind: 'send', operation: { changeId: subject.change.id, steps, object: subject.object } };
  }

  #removeAll(subject: Subject, cause: RemovalCause): Planned<HubSpotOperation> {
    const { change, object } = subject;
    const made = Object.entries(object ?? {});
    if (made.length === 0) return { kind: 'nothing', reason: 'never-sent' };
    if (cause === 'consent' && this.#onForget === 'manual') {
      const ids = made.map(([record, of]) => {
        const { id, contactId } = fieldsOf(of);
        return [record, ...[id ?? contactId].filter((each) => typeof each === 'string')].join(' ');
      });
      return {
        kind: 'unplannable',
        cause: 'hubspot:forget-by-hand',
        detail: `a person must be forgotten: remove their data from HubSpot by hand (${ids.join(', ')})`,
      };
    }
    const steps = made.flatMap(([record, of]) => removalOf({ record, made: of }, cause, subject, this.#onForget) ?? []);
    if (steps.length === 0) return { kind: 'nothing', reason: 'kept' };
    return { kind: 'send', operation: { changeId: change.id, steps, object } };
  }

  /** Plans an entry's step for the item, or returns the reason why there is none. */
  async #step(entry: Entry, subject: Subject, view: MappingView): Promise<Step | string> {
    const { keys, name, path } = entry;
    const made = fieldsOf(subject.object?.[name]);
    const wasMade = Object.keys(made).length > 0;
    if (made.heldAt === subject.change.id) return 'done-before'; // this entry was written in an earlier attempt, in which another entry was held back
    const remove = (cause: RemovalCause, reason: string): Step | string =>
      (wasMade ? removalOf({ record: name, made }, cause, subject, this.#onForget) : undefined) ?? reason;
    if (keys.when !== undefined && !(await keys.when.holds(view, `${path}.when`))) {
      return remove('withdrawn', 'condition');
    }
    const isOfPerson = ['contacts', 'notes', 'marketing-event'].includes(keys.object);
    if (isAnonymous(subject) && wasMade && isOfPerson) {
      return remove('anonymous', 'no-person');
    }
    const step = await this.#stepFor(entry, subject, view, made);
    // No mapping finds the contact of an anonymous item, so the mapping is not wrong.
    const lacksPerson = step === 'no-match' || step === 'no-email';
    return lacksPerson && isAnonymous(subject) && isOfPerson ? 'no-person' : step;
  }

  async #stepFor(entry: Entry, subject: Subject, view: MappingView, made: Fields): Promise<Step | string> {
    switch (entry.keys.object) {
      case 'marketing-event':
        return await this.#registration(entry, subject, view, made);
      case 'notes':
        return await this.#note(entry, subject, view, made);
      default:
        return await this.#record(entry, subject, view, made);
    }
  }

  async #record(
    { keys, name, path }: Entry,
    subject: Subject,
    view: MappingView,
    made: Fields,
  ): Promise<Step | string> {
    const writtenAtMs = fieldsOf(made.writtenAtMs) as Record<string, number>;
    const values = new Map<string, string | null>();
    for (const [property, { value }] of Object.entries(keys.properties ?? {})) {
      const key = `${path}.properties.${property}`;
      const isEmail = property === 'email' && keys.object === 'contacts';
      const found = await value.evaluate(view, key, isEmail ? emailValue : propertyValue);
      if (found !== undefined) values.set(property, found);
    }
    const match = (keys.match ?? []).flatMap((property): UniqueValue[] => {
      const value = values.get(property);
      return value == null ? [] : [{ property, value }];
    });
    const id = typeof made.id === 'string' ? made.id : null;
    if (id === null && match.length === 0) return 'no-match';
    const contact = await contactOf(keys, path, view);
    const write = Object.entries(keys.properties ?? {}).flatMap(([property, { write: policy }]): PropertyWrite[] => {
      const value = values.get(property);
      if (value != null) return [{ name: property, value, policy }];
      if (keys.match?.includes(property) || property === lifecycleStage) return [];
      // A missing value leaves the property unchanged, unless the person's identity is no longer visible and this sink
      // wrote the property.
      if (isAnonymous(subject) && property in writtenAtMs) return [{ name: property, value: '', policy: 'always' }];
      if (value === undefined || policy !== 'always') return [];
      return [{ name: property, value: '', policy }];
    });
    return {
      kind: 'record',
      record: name,
      objectType: keys.object,
      id,
      match,
      create: keys.create,
      write,
      writtenAtMs,
      tellsOfMs: fieldsOf(made.tellsOfMs) as Record<string, number>,
      sinceMs: typeof made.sinceMs === 'number' ? made.sinceMs : null,
      happenedAtMs: happenedAt(subject),
      created: made.created === true,
      contact,
      contactId: typeof made.contactId === 'string' ? made.contactId : null,
      lists: await this.#lists(keys, path, view),
      listsBefore: listIdsOf(made),
    };
  }

  async #lists({ lists = [] }: RecordKeys, path: string, view: MappingView): Promise<string[]> {
    const ids: string[] = [];
    for (const [index, expression] of lists.entries()) {
      const id = await expression.evaluate(view, `${path}.lists[${index}]`, listIdValue);
      if (id !== undefined && !ids.includes(id)) ids.push(id);
    }
    return ids;
  }

  async #registration(
    { keys, name, path }: Entry,
    subject: Subject,
    view: MappingView,
    made: Fields,
  ): Promise<Step | string> {
    const attendance = await keys.attendance!.evaluate(view, `${path}.attendance`, attendanceValue);
    if (attendance === undefined)
      return removalOf({ record: name, made }, 'withdrawn', subject, this.#onForget) ?? 'no-attendance';
    const presence = attendance === 'attend' ? await presenceOf(keys, path, view) : {};
    const presenceDigest = digestOfPresence(presence);
    if (made.attendance === attendance && (made.presence ?? null) === presenceDigest) return 'unchanged';
    if (attendance === 'cancel' && made.attendance === undefined) return 'not-registered';
    const contactId = typeof made.contactId === 'string' ? made.contactId : null;
    const email = contactId === null ? ((await keys.email!.evaluate(view, `${path}.email`, emailValue)) ?? null) : null;
    if (contactId === null && email === null) return 'no-email';
    const { name: eventTitle, organizer, ...others } = keys.event!;
    const details: Record<string, string> = {
      eventName: await eventTitle.evaluate(view, `${path}.event.name`, requiredValue),
      eventOrganizer: await organizer.evaluate(view, `${path}.event.organizer`, requiredValue),
    };
    const fields = { type: 'eventType', description: 'eventDescription', url: 'eventUrl' } as const;
    for (const [key, expression] of Object.entries(others)) {
      const value = await expression?.evaluate(view, `${path}.event.${key}`, propertyValue);
      if (value != null) details[fields[key as keyof typeof fields] ?? key] = value;
    }
    return {
      kind: 'registration',
      record: name,
      event: { ...eventName(subject.change), details },
      attendance,
      email,
      contactId,
      eventId: typeof made.eventId === 'string' ? made.eventId : null,
      happenedAtMs: happenedAt(subject),
      presence,
      presenceDigest,
      contactProperties: await contactPropertiesOf(keys, path, view),
    };
  }

  async #note({ keys, name, path }: Entry, subject: Subject, view: MappingView, made: Fields): Promise<Step | string> {
    const contact = await contactOf(keys, path, view);
    const id = typeof made.id === 'string' ? made.id : null;
    if (contact === null) return removalOf({ record: name, made }, 'anonymous', subject, this.#onForget) ?? 'no-match';
    const mark = markOf(subject, name);
    const properties: Record<string, string> = { hs_timestamp: new Date(happenedAt(subject)).toISOString() };
    for (const [property, { value }] of Object.entries(keys.properties ?? {})) {
      const found = await value.evaluate(view, `${path}.properties.${property}`, propertyValue);
      if (found != null) properties[property] = found;
    }
    const text = properties.hs_note_body;
    if (text === undefined) return removalOf({ record: name, made }, 'withdrawn', subject, this.#onForget) ?? 'no-text';
    properties.hs_note_body = noteText(text, mark);
    return { kind: 'note', record: name, id, contact, properties, mark };
  }
}

/** Returns the mark that identifies a note. It is part of the text of exactly one note. */
function markOf({ change: { workspace, pigeonholeId, list, key } }: Subject, record: string): string {
  const entry = record === 'notes' ? '' : ` ${record}`;
  return `[pigeonpost ${workspace}/${pigeonholeId}/${list}/${key}${entry}]`;
}

const attendances: readonly Attendance[] = ['register', 'attend', 'cancel'];

/** Returns the contact of a record; null if the entry names none, or the item has no value that could find it. */
async function contactOf(keys: RecordKeys, path: string, view: MappingView): Promise<ContactReference | null> {
  const by = keys.email === undefined ? keys.contact : { email: keys.email };
  const match: UniqueValue[] = [];
  for (const [property, expression] of Object.entries(by ?? {})) {
    const key = keys.email === undefined ? `${path}.contact.${property}` : `${path}.email`;
    const value = await expression.evaluate(view, key, property === 'email' ? emailValue : propertyValue);
    if (value != null) match.push({ property, value });
  }
  if (match.length === 0) return null;
  const { create } = keys;
  return { match, create, properties: create ? await contactPropertiesOf(keys, path, view) : {} };
}

/**
 * Returns the properties of a contact that is created for another record. The account's rules may require more than an
 * e-mail address.
 */
async function contactPropertiesOf(
  { contactProperties = {} }: RecordKeys,
  path: string,
  view: MappingView,
): Promise<Record<string, string>> {
  const properties: Record<string, string> = {};
  for (const [property, expression] of Object.entries(contactProperties)) {
    const value = await expression.evaluate(view, `${path}.contactProperties.${property}`, propertyValue);
    if (value != null) properties[property] = value;
  }
  return properties;
}

/** Returns the times at which the person joined and left, in HubSpot's form. */
async function presenceOf(keys: RecordKeys, path: string, view: MappingView): Promise<Record<string, string>> {
  const presence: Record<string, string> = {};
  for (const key of ['joinedAt', 'leftAt'] as const) {
    const value = await keys[key]?.evaluate(view, `${path}.${key}`, instantValue);
    if (value !== undefined) presence[key] = value;
  }
  return presence;
}

/** Returns a digest of the attendance times. The times are personal data, which the item's object must not contain. */
function digestOfPresence(presence: Readonly<Record<string, string>>): string | null {
  if (Object.keys(presence).length === 0) return null;
  return createHash('sha256').update(JSON.stringify(presence)).digest('base64url').slice(0, 16);
}

/**
 * Checks an e-mail address. An invalid one becomes a dead letter with the cause that HubSpot's own refusal has, so that
 * both are in one group.
 */
function emailValue(found: unknown, key: string): string | null | undefined {
  const value = propertyValue(found, key);
  if (typeof value !== 'string') return value;
  const email = normalEmail(value);
  if (!looksLikeEmail(email)) throw new NoEmailError(key);
  return email;
}

class NoEmailError extends FailedMapping {
  override readonly causeCode = 'hubspot:INVALID_EMAIL:email';

  constructor(key: string, where = '') {
    super(key, 'not-an-email', 'returned a text that is not an e-mail address', where);
  }

  override placed(where: string): NoEmailError {
    return new NoEmailError(this.key, where);
  }
}

function attendanceValue(found: unknown, key: string): Attendance | undefined {
  const value = propertyValue(found, key);
  if (value == null) return undefined;
  const attendance = attendances.find((each) => each === value);
  if (attendance === undefined) throw new FailedMapping(key, 'value', `returned none of ${attendances.join(', ')}`);
  return attendance;
}

function requiredValue(found: unknown, key: string): string {
  const value = propertyValue(found, key);
  if (value == null) throw new FailedMapping(key, 'nothing', 'returned nothing, but a value is required');
  return value;
}

/**
 * Whether the item is the action of a person whose identity is not visible. Such an item contains no id of the person.
 */
function isAnonymous({ change, attendee }: Subject): boolean {
  if (attendee !== null || !isDoneByPeople(change.list)) return false;
  return change.data?.attendeeId === undefined && fieldsOf(change.data?.attendee).id === undefined;
}

/**
 * Returns the event time of the item, Unix time in ms: the item's own time, otherwise the event's day, otherwise the
 * time at which pigeonpost found the change.
 */
function happenedAt({ change, pigeonhole }: Subject): number {
  const item = change.data ?? {};
  for (const found of [item.signInTime, item.signedInAt, item.createdAt, pigeonhole?.startDate]) {
    const time = typeof found === 'string' ? Date.parse(found) : Number.NaN;
    if (!Number.isNaN(time)) return time;
  }
  return Date.parse(change.timestamp);
}
