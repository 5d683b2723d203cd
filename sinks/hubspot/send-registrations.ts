import { groupBy } from '../../base/grouping.js';
import type { Failed } from '../records/reply.js';
import { type Fields, type Result, fieldsOf } from '../sink.js';
import { type BatchInput, readRecords, type RecordReply, runBatch, type Sending } from './batch.js';
import type { MarketingEvent, RegistrationStep, Pair } from './operation.js';
import { createHash } from 'node:crypto';
import { held, listOf, problemOf, type Reply, withCorrelationId } from './classify.js';

type Registration = Pair<RegistrationStep>;

/**
 * Registers people for the marketing event of their pigeonhole, records their attendance, or cancels their
 * registration. The event is written once, and again whenever its mapping returns other values.
 * @param memory the lane's memory, with HubSpot's id of the event and a digest of the details last written
 * @returns the changes to the lane's memory
 */
export async function sendRegistrations(
  pairs: readonly Registration[],
  memory: Fields,
  sending: Sending,
): Promise<Record<string, unknown>> {
  const remembered: Record<string, unknown> = {};
  const knownOf = (event: MarketingEvent): KnownEvent => knownEvent({ ...memory, ...remembered }[memoryKey(event)]);
  for (const { task, step } of pairs) {
    if (!task.isOpen(step.record)) continue;
    const known = knownOf(step.event);
    const isWritten = step.event.details === null || known.digest === digestOf(step.event);
    if (isWritten && (known.objectId !== null || step.eventId !== null)) continue;
    const ready = await makeReady(step, known, sending);
    const key = memoryKey(step.event);
    if (!('kind' in ready)) remembered[key] = ready;
    else {
      endEach(
        pairs.filter((pair) => memoryKey(pair.step.event) === key),
        ready,
      );
    }
  }
  const eventIdOf = ({ event, eventId, attendance }: RegistrationStep): string => {
    const { objectId } = knownOf(event); // null only if no event had to be found or written for the step
    // A cancellation uses the event for which the person was registered. All other steps use the present event.
    return (attendance === 'cancel' ? (eventId ?? objectId) : (objectId ?? eventId))!;
  };
  const open = pairs.filter(({ task, step }) => task.isOpen(step.record));
  const groups = groupBy(open, ({ step }) => JSON.stringify([eventIdOf(step), step.attendance, step.email === null]));
  for (const group of groups.values()) {
    const [{ step }] = group as [Registration];
    const eventId = eventIdOf(step);
    // If the event was deleted in HubSpot, the next attempt creates it again.
    if (await register(group, eventId, sending)) remembered[memoryKey(step.event)] = null;
  }
  return remembered;
}

/**
 * Finds the event's id if the lane does not know it, and writes the event if its details have changed.
 * @returns what the lane knows of the event then, or the result if the event could not be found or written
 */
async function makeReady(
  { event, eventId }: RegistrationStep,
  known: KnownEvent,
  sending: Sending,
): Promise<KnownEvent | Result> {
  let objectId = known.objectId ?? eventId;
  if (objectId === null) {
    const found = await findEvent(event, sending);
    if (found.kind === 'failed') return found.result;
    if (found.kind === 'found') objectId = found.all[0];
  }
  const digest = event.details === null ? known.digest : digestOf(event);
  if (objectId !== null && digest === known.digest) return { objectId, digest };
  const written = await writeEvent(event, objectId, sending);
  return typeof written === 'string' ? { objectId: written, digest } : written;
}

/**
 * Makes the call for people with the same event and the same attendance.
 * @returns whether the event may no longer exist in HubSpot
 */
async function register(pairs: readonly Registration[], eventId: string, sending: Sending): Promise<boolean> {
  const { attendance, email } = pairs[0]!.step;
  // If several items register a person for the event, the last one applies.
  const byPerson = new Map(pairs.map((pair) => [personOf(pair.step), pair]));
  const people = [...byPerson.values()];
  const call = email === null ? 'create' : 'email-create';
  const path = sending.client.path('marketingEvents', `${eventId}/attendance/${attendance}/${call}`);
  // HubSpot creates a contact for an unknown e-mail, so a 404 means that the event is missing.
  const notFound = email === null ? 'one' : 'all';
  const inputs = people.map(({ step }) => inputOf(step));
  const replies = await runBatch(sending, { path, notFound }, inputs);
  let gone = false;
  const replyOf = new Map(people.map(({ step }, index) => [personOf(step), replies[index]!]));
  const cancelling: Registration[] = [];
  for (const pair of pairs) {
    const { task, step } = pair;
    const reply = replyOf.get(personOf(step))!;
    if (email !== null) noteContact(pair, reply);
    if (reply.kind === 'done') task.made(step.record, madeOf(step, reply.result.vid, eventId));
    else if (reply.kind !== 'missing') {
      if (reply.kind === 'failed' && reply.processed === 'maybe' && attendance !== 'cancel') {
        task.made(step.record, { ...task.has(step.record), mayExist: true });
      }
      task.endBy(reply, step.record);
    } else if (attendance === 'cancel') cancelling.push(pair);
    else {
      gone = true;
      task.made(step.record, null); // the next attempt uses the e-mail, because the contact with the stored id may no longer exist
      task.end({ kind: 'retry', detail: 'HubSpot has no such marketing event or contact any more' }, step.record);
    }
  }
  if (cancelling.length > 0) await confirmGone(cancelling, eventId, sending);
  return gone;
}

/** Notes the contact of a person who was registered by e-mail. HubSpot does not say whether it created the contact. */
function noteContact({ task }: Registration, reply: RecordReply): void {
  const { vid } = reply.kind === 'done' ? reply.result : {};
  const id = vid == null ? null : String(vid as string | number);
  const mayExist = reply.kind === 'done' || (reply.kind === 'failed' && reply.processed === 'maybe');
  if (mayExist && (id === null || !task.writesContact(id))) task.mayHaveCreated(id);
}

function madeOf({ attendance, contactId, presenceDigest }: RegistrationStep, vid: unknown, eventId: string): Fields {
  const id = vid ?? contactId;
  return {
    attendance,
    eventId,
    ...(id != null && { contactId: String(id as string | number) }),
    ...(presenceDigest !== null && { presence: presenceDigest }),
  };
}

const cannotCancel: Result = {
  kind: 'rejected',
  cause: 'hubspot:cancel-not-confirmed',
  about: 'record',
  detail:
    'HubSpot found neither the registration nor proof that it is gone. Cancel it by hand in the marketing event, then discard the dead letter',
};

/**
 * Decides the results of registrations whose cancellation HubSpot answered with 404. A 404 alone proves nothing,
 * because HubSpot also sends it for an event of another app. Nothing is left to cancel if HubSpot lists the account's
 * events without this event, or finds none of the contacts. In all other cases, the operator has to decide, because a
 * withdrawal of consent must not be reported as done when it is not.
 */
async function confirmGone(pairs: readonly Registration[], eventId: string, sending: Sending): Promise<void> {
  const found = await findEvent(pairs[0]!.step.event, sending);
  if (found.kind === 'failed') return endEach(pairs, found.result);
  const isGone = found.kind === 'none' || (found.kind === 'found' && !found.all.includes(eventId));
  if (isGone) return pairs.forEach(nothingToCancel);
  const known = pairs.filter(({ step }) => step.contactId !== null);
  const contacts = await readRecords(
    sending,
    'contacts',
    known.map(({ step }) => step.contactId!),
  );
  const contactOf = new Map(known.map((pair, index) => [pair, contacts[index]!]));
  for (const pair of pairs) {
    const contact = contactOf.get(pair);
    if (contact?.kind === 'missing') nothingToCancel(pair);
    else pair.task.end(contact?.kind === 'failed' ? contact.result : cannotCancel, pair.step.record);
  }
}

function nothingToCancel({ task, step }: Registration): void {
  task.made(step.record, null);
  task.note('the marketing event or the contact is gone from HubSpot: nothing is left to be cancelled');
}

export function inputOf(step: RegistrationStep): BatchInput {
  const { presence: properties, contactProperties } = step;
  const about = { interactionDateTime: step.happenedAtMs, properties };
  if (step.email === null) return { body: { vid: Number(step.contactId), ...about }, key: step.contactId! };
  return { body: { email: step.email, ...about, contactProperties }, key: step.email, keyProperty: 'email' };
}

function personOf({ email, contactId }: RegistrationStep): string {
  return email ?? `id ${contactId}`;
}

function endEach(pairs: readonly Registration[], failure: Result): void {
  for (const { task, step } of pairs) task.end(failure, step.record);
}

/** The part of the lane's memory about its pigeonhole's marketing event. */
interface KnownEvent {
  /**
   * HubSpot's id of the event. Every app can find an event by this id, but only the app that created the event can find
   * it by the external ids.
   */
  readonly objectId: string | null;
  /** Digest of the details last written. If null, the next registration writes the event again. */
  readonly digest: string | null;
}

/**
 * `none`: HubSpot confirmed that the account has no such event. `unproven`: HubSpot did not say whether the event
 * exists.
 */
type FoundEvent =
  /** The ids of all events that match, the oldest first. */
  | { readonly kind: 'found'; readonly all: readonly [string, ...string[]] }
  | { readonly kind: 'none' | 'unproven' }
  | Failed;

function memoryKey({ externalAccountId, externalEventId }: MarketingEvent): string {
  return `marketing-event ${externalAccountId} ${externalEventId}`;
}

/** Reads the event from the lane's memory. */
function knownEvent(remembered: unknown): KnownEvent {
  const { objectId, digest } = fieldsOf(remembered);
  return {
    objectId: typeof objectId === 'string' ? objectId : null,
    digest: typeof digest === 'string' ? digest : null,
  };
}

/** Returns a digest of the event's details, which contain no personal data. */
function digestOf({ details }: MarketingEvent): string {
  return createHash('sha256').update(JSON.stringify(details)).digest('hex');
}

/**
 * Finds the event among the events of all apps, because a private app may have created it before a service key replaced
 * the app. If several match, the oldest is used.
 */
async function findEvent(event: MarketingEvent, { client, budget }: Sending): Promise<FoundEvent> {
  const path = client.path('marketingEvents', `${encodeURIComponent(event.externalEventId)}/identifiers`);
  const reply = await client.get(path, budget);
  if (reply.kind === 'failed') return reply;
  if (reply.kind === 'refused' || !Array.isArray(reply.body.results)) return { kind: 'unproven' };
  const [oldest, ...others] = reply.body.results
    .map(fieldsOf)
    .filter(({ externalAccountId }) => externalAccountId === event.externalAccountId)
    .flatMap(({ objectId }) => (typeof objectId === 'string' ? [objectId] : []))
    .toSorted((a, b) => Number(a) - Number(b));
  return oldest === undefined ? { kind: 'none' } : { kind: 'found', all: [oldest, ...others] };
}

/**
 * Updates the event by id, or creates it. An event that was deleted in HubSpot is created again.
 * @returns the event's id, or the result that says why it was not written
 */
async function writeEvent(
  { details, ...name }: MarketingEvent,
  objectId: string | null,
  { client, budget }: Sending,
): Promise<string | Result> {
  const described = { ...details, customProperties: [] };
  if (objectId !== null) {
    const reply = await client.call('PATCH', client.path('marketingEvents', objectId), described, budget);
    if (reply.kind === 'ok') return objectId;
    if (reply.kind === 'failed') return reply.result;
    if (reply.status !== 404) return refused(reply);
  }
  const inputs = [{ ...described, ...name }];
  const reply = await client.call('POST', client.path('marketingEvents', 'events/upsert'), { inputs }, budget);
  if (reply.kind === 'failed') return reply.result;
  if (reply.kind === 'refused') return refused(reply);
  const [error] = listOf(reply.body.errors); // an answer with HTTP 200 can contain errors
  if (error !== undefined) {
    const { code, category, properties } = problemOf(error);
    return rejectedEvent([code || category || 'error', ...properties], undefined);
  }
  const { objectId: created } = fieldsOf(listOf(reply.body.results)[0]);
  if (typeof created === 'string') return created;
  return { kind: 'retry', detail: 'HubSpot answered without the id of the marketing event' };
}

function refused({ status, problem, correlationId }: Extract<Reply, { kind: 'refused' }>): Result {
  if (status === 404) {
    return held('HubSpot has no marketing events at this address (HTTP 404): check "apiVersion"', correlationId);
  }
  return rejectedEvent([problem.code || problem.category || `http-${status}`, ...problem.properties], correlationId);
}

function rejectedEvent(what: readonly string[], correlationId: string | undefined): Result {
  return {
    kind: 'rejected',
    cause: ['hubspot', 'marketing-event', ...what].join(':'),
    detail: withCorrelationId(`HubSpot refused the marketing event: ${what.join(' ')}`, correlationId),
  };
}
