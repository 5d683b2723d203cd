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
import { MappingError } from '../mapping/mapping-error.js';
import { type Expression, mappingView, type MappingView } from '../mapping/expression.js';
import {
  happenedAtMs,
  isAnonymous,
  mayBeCreated,
  mayExistIn,
  mayHoldMore,
  type NamedRecord,
  namedRecords,
  withoutAnswer,
} from '../mapping/crm-records.js';
import { listOf } from './classify.js';
import { lifecycleStage } from './lifecycle-stage.js';
import {
  attendanceValue,
  emailValue,
  instantValue,
  listIdValue,
  noteText,
  propertyValue,
  requiredValue,
} from './property-value.js';
import {
  type ContactReference,
  type HubSpotOperation,
  type PropertyWrite,
  type Step,
  type UniqueValue,
  eventName,
  listIdsOf,
  newContactIds,
  newContacts,
  type RemovalCause,
  removalOf,
} from './operation.js';
import type { RecordKeys } from './config.js';

type Entry = NamedRecord<RecordKeys>;

/** Converts changes into operations. Pure: it uses only the configuration and the subject. */
export class Planner {
  readonly #entries: readonly Entry[];
  readonly #onForget: OnForget;

  constructor(records: readonly RecordKeys[], { name, onForget }: Pick<SinkEnvironment, 'name' | 'onForget'>) {
    this.#onForget = onForget;
    const kindOf = ({ from, object }: RecordKeys): string => JSON.stringify([from, object]);
    this.#entries = namedRecords(name, records, { kindOf, separator: ' ' });
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
   * Other records need no look-up, because their calls are harmless to repeat; the object says that HubSpot may have
   * them. If the mapping fails to return the contact, the notes cannot be looked up.
   */
  async planLookUp(subject: Subject): Promise<Planned<HubSpotOperation>> {
    const view = mappingView(subject);
    const steps: Step[] = [];
    const maybe: string[] = [];
    try {
      for (const { keys, name, path } of this.#entries.filter(({ keys }) => keys.from === subject.change.list)) {
        const made = fieldsOf(subject.object?.[name]);
        if (mayCreateContact(keys)) maybe.push(newContacts);
        if (keys.object !== 'notes') maybe.push(name);
        if (keys.object !== 'notes' || made.id !== undefined) continue;
        const sent = sentTo(made);
        const contact = 'sentTo' in sent ? noContact : await contactOf(keys, path, view);
        if (contact === null) {
          maybe.push(name); // nothing says any longer at which contact the note may be
          continue;
        }
        const note = { id: null, contact, properties: {}, mark: markOf(subject, name), ...sent };
        steps.push({ kind: 'note', record: name, ...note });
      }
    } catch (error) {
      if (!(error instanceof MappingError)) throw error;
      const detail = `a note may have been created and cannot be looked up (${error.message}): check the contact, and redrive the change if the note is missing`;
      return { kind: 'unplannable', cause: error.causeCode, detail };
    }
    if (steps.length + maybe.length === 0) return { kind: 'nothing', reason: 'no-record' };
    const object = withoutAnswer(subject.object, maybe);
    return { kind: 'send', operation: { changeId: subject.change.id, steps, object } };
  }

  #removeAll(subject: Subject, cause: RemovalCause): Planned<HubSpotOperation> {
    const { change, object } = subject;
    const made = Object.entries(object ?? {});
    if (made.length === 0) return { kind: 'nothing', reason: 'never-sent' };
    // The answer to a creation was lost, and a removal has no value by which the record could be found.
    const mayExist = mayExistIn(object).length > 0;
    if (cause === 'consent' && (this.#onForget === 'manual' || mayExist)) {
      const ids = made.map(([record, of]) => {
        const { id, contactId, ids } = fieldsOf(of);
        return [record, ...[id ?? contactId, ...listOf(ids)].filter((each) => typeof each === 'string')].join(' ');
      });
      const unknown = mayExist ? '; HubSpot may have created a record without answering, so search for the person' : '';
      return {
        kind: 'unplannable',
        cause: 'hubspot:forget-by-hand',
        detail: `a person must be forgotten: remove their data from HubSpot by hand (${ids.join(', ')})${unknown}`,
      };
    }
    const steps = made.flatMap(([record, of]) => removalOf({ record, made: of }, cause, subject, this.#onForget) ?? []);
    const removed = steps.flatMap((step) => (step.kind === 'archive' ? [step.id] : []));
    const contactIds = newContactIds(object).filter((id) => !removed.includes(id));
    if (cause === 'consent' && contactIds.length > 0) steps.push({ kind: 'by-hand', record: newContacts, contactIds });
    if (steps.length === 0) return { kind: 'nothing', reason: 'kept' };
    return { kind: 'send', operation: { changeId: change.id, steps, object } };
  }

  /** Plans an entry's step for the item, or returns the reason why there is none. */
  async #step(entry: Entry, subject: Subject, view: MappingView): Promise<Step | string> {
    const { keys, name, path } = entry;
    const made = fieldsOf(subject.object?.[name]);
    if (made.heldAt === subject.change.id) return 'done-before'; // this entry was written in an earlier attempt, in which another entry was held back
    const remove = (cause: RemovalCause, reason: string): Step | string =>
      removalOf({ record: name, made }, cause, subject, this.#onForget) ?? reason;
    if (keys.when !== undefined && !(await keys.when.holds(view, `${path}.when`))) {
      return remove('withdrawn', 'condition');
    }
    const losesPerson = isAnonymous(subject) && ['contacts', 'notes', 'marketing-event'].includes(keys.object);
    if (losesPerson && Object.keys(made).length > 0) return remove('anonymous', 'no-person');
    const planners: Readonly<Record<string, typeof recordStep>> = {
      'marketing-event': registrationStep,
      notes: noteStep,
    };
    const plan = planners[keys.object] ?? recordStep;
    const step = await plan({ ...entry, subject, view, made, remove });
    // No mapping finds the contact of an anonymous item, so the mapping is not wrong.
    return losesPerson && (step === 'no-match' || step === 'no-email') ? 'no-person' : step;
  }
}

/** An entry and the item that it is planned for. */
interface Planning extends Entry {
  readonly subject: Subject;
  readonly view: MappingView;
  /** The entry's part of the item's object. */
  readonly made: Fields;
  /** Returns the step that removes the entry's results; the reason if there are none to remove. */
  readonly remove: (cause: RemovalCause, reason: string) => Step | string;
}

async function recordStep({ keys, name, path, subject, view, made }: Planning): Promise<Step | string> {
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
  const write = Object.entries(keys.properties ?? {}).flatMap(
    ([property, { write: policy, isStated }]): PropertyWrite[] => {
      const value = values.get(property);
      const isMatch = isStated !== true && keys.match?.includes(property) === true;
      if (value != null) return [{ name: property, value, policy, ...(isMatch && { isMatch }) }];
      if (keys.match?.includes(property) || property === lifecycleStage) return [];
      // A missing value leaves the property unchanged, unless the person's identity is no longer visible and this sink
      // wrote the property.
      if (isAnonymous(subject) && property in writtenAtMs) return [{ name: property, value: null, policy: 'always' }];
      if (value === undefined || policy !== 'always') return [];
      return [{ name: property, value: null, policy }];
    },
  );
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
    happenedAtMs: happenedAtMs(subject),
    created: made.created === true,
    foundBy: typeof made.foundBy === 'string' ? made.foundBy : null,
    isMerged: made.isMerged === true,
    contact,
    contactId: typeof made.contactId === 'string' ? made.contactId : null,
    lists: await listsOf(keys, path, view),
    listsBefore: listIdsOf(made),
    isUnsure: mayHoldMore(subject.object, name),
    isCreating: mayBeCreated(subject.object, name),
  };
}

async function listsOf({ lists = [] }: RecordKeys, path: string, view: MappingView): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, expression] of lists.entries()) {
    const id = await expression.evaluate(view, `${path}.lists[${index}]`, listIdValue);
    if (id !== undefined && !ids.includes(id)) ids.push(id);
  }
  return ids;
}

async function registrationStep({ keys, name, path, subject, view, made, remove }: Planning): Promise<Step | string> {
  const attendance = await keys.attendance!.evaluate(view, `${path}.attendance`, attendanceValue);
  if (attendance === undefined) return remove('withdrawn', 'no-attendance');
  const { joinedAt, leftAt } = keys;
  const presence = attendance === 'attend' ? await valuesOf({ joinedAt, leftAt }, path, view, instantValue) : {};
  const presenceDigest = digestOfPresence(presence);
  const isUnchanged = made.attendance === attendance && (made.presence ?? null) === presenceDigest;
  if (isUnchanged && subject.again !== true) return 'unchanged';
  if (attendance === 'cancel' && made.attendance === undefined) return 'not-registered';
  const contactId = typeof made.contactId === 'string' ? made.contactId : null;
  const email = contactId === null ? ((await keys.email!.evaluate(view, `${path}.email`, emailValue)) ?? null) : null;
  if (contactId === null && email === null) return 'no-email';
  const { name: eventTitle, organizer, ...others } = keys.event!;
  const details: Record<string, string> = {
    eventName: await eventTitle.evaluate(view, `${path}.event.name`, requiredValue),
    eventOrganizer: await organizer.evaluate(view, `${path}.event.organizer`, requiredValue),
  };
  const names: Readonly<Record<string, string>> = {
    type: 'eventType',
    description: 'eventDescription',
    url: 'eventUrl',
  };
  const further = await valuesOf(others, `${path}.event`, view);
  for (const [key, value] of Object.entries(further)) details[names[key] ?? key] = value;
  return {
    kind: 'registration',
    record: name,
    event: { ...eventName(subject.change), details },
    attendance,
    email,
    contactId,
    eventId: typeof made.eventId === 'string' ? made.eventId : null,
    // Only a later interaction replaces a change that was made in HubSpot.
    happenedAtMs: Math.max(happenedAtMs(subject), typeof made.changedAtMs === 'number' ? made.changedAtMs + 1 : 0),
    presence,
    presenceDigest,
    contactProperties: await valuesOf(keys.contactProperties ?? {}, `${path}.contactProperties`, view),
  };
}

async function noteStep({ keys, name, path, subject, view, made, remove }: Planning): Promise<Step | string> {
  const contact = await contactOf(keys, path, view);
  const id = typeof made.id === 'string' ? made.id : null;
  if (contact === null) return remove('anonymous', 'no-match');
  const mark = markOf(subject, name);
  const expressions = Object.entries(keys.properties ?? {}).map(([property, { value }]) => [property, value] as const);
  const given = await valuesOf(Object.fromEntries(expressions), `${path}.properties`, view);
  if (given.hs_note_body === undefined) return remove('withdrawn', 'no-text');
  const hs_timestamp = new Date(happenedAtMs(subject)).toISOString();
  const properties = { hs_timestamp, ...given, hs_note_body: noteText(given.hs_note_body, mark) };
  return { kind: 'note', record: name, id, contact, properties, mark, ...sentTo(made) };
}

/** Whether the entry may create a contact for its record. A registration creates one for its address. */
function mayCreateContact({ object, create, email, contact }: RecordKeys): boolean {
  if (object === 'marketing-event') return true;
  return object !== 'contacts' && create && (email !== undefined || contact !== undefined);
}

/** The contact of a note that is looked up at the contact to which it was sent. */
const noContact: ContactReference = { match: [], create: false, properties: {} };

function sentTo({ mayExist, contactId }: Fields): { sentTo?: string } {
  return mayExist === true && typeof contactId === 'string' ? { sentTo: contactId } : {};
}

/** Returns the mark that identifies a note. It is part of the text of exactly one note. */
function markOf({ change: { workspace, pigeonholeId, list, key } }: Subject, record: string): string {
  const entry = record === 'notes' ? '' : ` ${record}`;
  return `[pigeonpost ${workspace}/${pigeonholeId}/${list}/${key}${entry}]`;
}

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
  const { create, contactProperties = {} } = keys;
  const properties = create ? await valuesOf(contactProperties, `${path}.contactProperties`, view) : {};
  return { match, create, properties };
}

/** Evaluates expressions, by name. Leaves out names without a value. */
async function valuesOf(
  expressions: Readonly<Record<string, Expression | undefined>>,
  path: string,
  view: MappingView,
  read: (found: unknown, key: string) => string | null | undefined = propertyValue,
): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, expression] of Object.entries(expressions)) {
    const value = await expression?.evaluate(view, `${path}.${name}`, read);
    if (value != null) values[name] = value;
  }
  return values;
}

/** Returns a digest of the attendance times. The times are personal data, which the item's object must not contain. */
function digestOfPresence(presence: Readonly<Record<string, string>>): string | null {
  if (Object.keys(presence).length === 0) return null;
  return createHash('sha256').update(JSON.stringify(presence)).digest('base64url').slice(0, 16);
}
