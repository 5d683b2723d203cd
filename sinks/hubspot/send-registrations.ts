import { groupBy } from '../../base/group-by.js';
import { type Fields, type Result, fieldsOf } from '../sink.js';
import { type BatchInput, type RecordReply, runBatch, type Task } from './batch.js';
import type { MarketingEvent, RegistrationStep } from './operation.js';
import type { Sending } from './send-records.js';
import { createHash } from 'node:crypto';
import { held, listOf, problemOf, withCorrelationId } from './classify.js';
import type { Reply } from './client.js';

type Pair = { readonly task: Task; readonly step: RegistrationStep };

/**
 * Registers people for the marketing event of their pigeonhole, records their attendance, or cancels their
 * registration. The event is written once, and again whenever its mapping returns other values.
 * @param memory the lane's memory, with HubSpot's id of the event and a digest of the details last written
 * @returns the changes to the lane's memory
 */
export async function sendRegistrations(
  pairs: readonly Pair[],
  memory: Fields,
  sending: Sending,
): Promise<Record<string, unknown>> {
  const remembered: Record<string, unknown> = {};
  for (const { task, step } of pairs) {
    if (!task.isOpen(step.record)) continue;
    const key = memoryKey(step.event);
    const known = knownEvent(key in remembered ? remembered[key] : memory[key]);
    const isWritten = step.event.details === null || known.digest === digestOf(step.event);
    if (isWritten && (known.objectId !== null || step.eventId !== null)) continue;
    const ready = await makeReady(step, known, sending);
    if (ready.kind === 'ready') remembered[key] = ready.known;
    else endAll(pairs, step.event, ready.result);
  }
  const eventIdOf = ({ event, eventId, attendance }: RegistrationStep): string | null => {
    const key = memoryKey(event);
    const { objectId } = knownEvent(key in remembered ? remembered[key] : memory[key]);
    // A cancellation uses the event for which the person was registered. All other steps use the present event.
    return attendance === 'cancel' ? (eventId ?? objectId) : (objectId ?? eventId);
  };
  const open = pairs.filter(({ task, step }) => task.isOpen(step.record));
  const groups = groupBy(open, ({ step }) => JSON.stringify([eventIdOf(step), step.attendance, step.email === null]));
  for (const group of groups.values()) {
    const [{ step }] = group as [Pair];
    const eventId = eventIdOf(step);
    if (eventId === null) for (const pair of group) nothingToCancel(pair);
    // If the event was deleted in HubSpot, the next attempt creates it again.
    else if (await register(group, eventId, sending)) remembered[memoryKey(step.event)] = null;
  }
  return remembered;
}

/** Finds the event's id if the lane does not know it, and writes the event if its details have changed. */
async function makeReady(
  { event, eventId }: RegistrationStep,
  known: { readonly objectId: string | null; readonly digest: string | null },
  sending: Sending,
): Promise<{ kind: 'ready'; known: object } | { kind: 'failed'; result: Result }> {
  let objectId = known.objectId ?? eventId;
  if (objectId === null) {
    const found = await findEvent(event, sending);
    if (found.kind === 'failed') return found;
    if (found.kind === 'found') objectId = found.objectId;
    else if (event.details === null) {
      if (found.kind === 'unproven') return { kind: 'failed', result: cannotCancel };
      return { kind: 'ready', known: { objectId: null, digest: null } };
    }
  }
  const digest = event.details === null ? known.digest : digestOf(event);
  if (objectId !== null && digest === known.digest) return { kind: 'ready', known: { objectId, digest } };
  const written = await writeEvent(event, objectId, sending);
  if (written.kind === 'failed') return written;
  return { kind: 'ready', known: { objectId: written.objectId, digest } };
}

/**
 * Makes the call for people with the same event and the same attendance.
 * @returns whether the event may no longer exist in HubSpot
 */
async function register(pairs: readonly Pair[], eventId: string, sending: Sending): Promise<boolean> {
  const { client, budget } = sending;
  const { attendance, email } = pairs[0]!.step;
  // If several items register a person for the event, the last one applies.
  const byPerson = new Map(pairs.map((pair) => [personOf(pair.step), pair]));
  const people = [...byPerson.values()];
  const call = email === null ? 'create' : 'email-create';
  const replies = await runBatch(
    client,
    {
      path: client.paths.marketingEvents(`${eventId}/attendance/${attendance}/${call}`),
      traced: false,
      silence: 'failed',
      notFound: email === null ? 'one' : 'all', // HubSpot creates a contact for an unknown e-mail, so a 404 means that the event is missing
    },
    people.map(({ step }) => inputOf(step)),
    budget,
  );
  let gone = false;
  const replyOf = new Map(people.map(({ step }, index) => [personOf(step), replies[index]!]));
  const cancelling: Pair[] = [];
  for (const pair of pairs) {
    const { task, step } = pair;
    const reply = replyOf.get(personOf(step))!;
    if (reply.kind === 'done') task.made(step.record, madeOf(step, reply, eventId));
    else if (reply.kind !== 'missing') task.endBy(reply, step.record);
    else if (attendance === 'cancel') cancelling.push(pair);
    else {
      gone = true;
      task.made(step.record, null); // the next attempt uses the e-mail, because the contact with the stored id may no longer exist
      task.end({ kind: 'retry', detail: 'HubSpot has no such marketing event or contact any more' }, step.record);
    }
  }
  if (cancelling.length > 0) await confirmGone(cancelling, eventId, sending);
  return gone;
}

function madeOf(step: RegistrationStep, reply: Extract<RecordReply, { kind: 'done' }>, eventId: string): Fields {
  const contactId = reply.result.vid ?? step.contactId;
  const { attendance } = step;
  return {
    attendance,
    eventId,
    ...(contactId != null && { contactId: String(contactId as string | number) }),
    ...(step.presenceDigest !== null && { presence: step.presenceDigest }),
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
async function confirmGone(pairs: readonly Pair[], eventId: string, sending: Sending): Promise<void> {
  const found = await findEvent(pairs[0]!.step.event, sending);
  if (found.kind === 'failed') return endEach(pairs, found.result);
  if (isGone(found, eventId)) return pairs.forEach(nothingToCancel);
  const { client, budget } = sending;
  const contacts = await runBatch(
    client,
    {
      path: client.paths.objects('contacts', 'batch/read'),
      fields: { properties: [], propertiesWithHistory: [] },
      traced: false,
      silence: 'missing',
    },
    pairs.map(({ step }) => ({ body: { id: step.contactId }, key: step.contactId ?? '' })),
    budget,
  );
  pairs.forEach((pair, index) => {
    const contact = contacts[index]!;
    if (contact.kind === 'missing' && pair.step.contactId !== null) nothingToCancel(pair);
    else if (contact.kind === 'failed') pair.task.end(contact.result, pair.step.record);
    else pair.task.end(cannotCancel, pair.step.record);
  });
}

function isGone(found: FoundEvent, eventId: string): boolean {
  return found.kind === 'none' || (found.kind === 'found' && !found.all.includes(eventId));
}

function nothingToCancel({ task, step }: Pair): void {
  task.made(step.record, null);
  task.note('the marketing event or the contact is gone from HubSpot: nothing is left to be cancelled');
}

function inputOf(step: RegistrationStep): BatchInput {
  const { presence: properties, contactProperties } = step;
  const about = { interactionDateTime: step.happenedAtMs, properties };
  if (step.email === null) return { body: { vid: Number(step.contactId), ...about }, key: step.contactId! };
  return { body: { email: step.email, ...about, contactProperties }, key: step.email, keyProperty: 'email' };
}

function personOf({ email, contactId }: RegistrationStep): string {
  return email ?? `id ${contactId}`;
}

function endAll(pairs: readonly Pair[], event: MarketingEvent, failure: Result): void {
  endEach(
    pairs.filter(({ step }) => memoryKey(step.event) === memoryKey(event)),
    failure,
  );
}

function endEach(pairs: readonly Pair[], failure: Result): void {
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
  | { readonly kind: 'found'; readonly objectId: string; readonly all: readonly string[] }
  | { readonly kind: 'none' | 'unproven' }
  | { readonly kind: 'failed'; readonly result: Result };

type WrittenEvent =
  | { readonly kind: 'written'; readonly objectId: string }
  | { readonly kind: 'failed'; readonly result: Result };

export function memoryKey({ externalAccountId, externalEventId }: MarketingEvent): string {
  return `marketing-event ${externalAccountId} ${externalEventId}`;
}

/** Reads the event from the lane's memory. An earlier version of pigeonpost stored only the digest. */
function knownEvent(remembered: unknown): KnownEvent {
  if (typeof remembered === 'string') return { objectId: null, digest: remembered };
  const { objectId, digest } = fieldsOf(remembered);
  return {
    objectId: typeof objectId === 'string' ? objectId : null,
    digest: typeof digest === 'string' ? digest : null,
  };
}

/** Returns a digest of the event's details, which contain no personal data. */
export function digestOf({ details }: MarketingEvent): string {
  return createHash('sha256').update(JSON.stringify(details)).digest('hex');
}

/**
 * Finds the event among the events of all apps, because a private app may have created it before a service key replaced
 * the app. If several match, the oldest is used.
 */
async function findEvent(event: MarketingEvent, { client, budget }: Sending): Promise<FoundEvent> {
  const path = client.paths.marketingEvents(`${encodeURIComponent(event.externalEventId)}/identifiers`);
  const reply = await client.get(path, budget);
  if (reply.kind === 'failed') return { kind: 'failed', result: reply.result };
  if (reply.kind === 'refused' || !Array.isArray(reply.body.results)) return { kind: 'unproven' };
  const all = reply.body.results
    .map(fieldsOf)
    .filter(({ externalAccountId }) => externalAccountId === event.externalAccountId)
    .flatMap(({ objectId }) => (typeof objectId === 'string' ? [objectId] : []))
    .toSorted((a, b) => Number(a) - Number(b));
  return all.length === 0 ? { kind: 'none' } : { kind: 'found', objectId: all[0]!, all };
}

/** Updates the event by id, or creates it. An event that was deleted in HubSpot is created again. */
async function writeEvent(
  { details, ...name }: MarketingEvent,
  objectId: string | null,
  { client, budget }: Sending,
): Promise<WrittenEvent> {
  const described = { ...details, customProperties: [] };
  if (objectId !== null) {
    const reply = await client.patch(client.paths.marketingEvents(objectId), described, budget);
    if (reply.kind === 'ok') return { kind: 'written', objectId };
    if (reply.kind === 'failed') return reply;
    if (reply.status !== 404) return { kind: 'failed', result: refused(reply) };
  }
  const inputs = [{ ...described, ...name }];
  const reply = await client.post(client.paths.marketingEvents('events/upsert'), { inputs }, budget);
  if (reply.kind === 'failed') return reply;
  if (reply.kind === 'refused') return { kind: 'failed', result: refused(reply) };
  return createdEvent(reply);
}

/** Reads the answer to the creation of an event. An answer with HTTP 200 can contain errors. */
function createdEvent({ body }: Extract<Reply, { kind: 'ok' }>): WrittenEvent {
  const [error] = listOf(body.errors);
  if (error !== undefined) {
    const { code, category, properties } = problemOf(error);
    return { kind: 'failed', result: rejectedEvent([code || category || 'error', ...properties], undefined) };
  }
  const { objectId } = fieldsOf(listOf(body.results)[0]);
  if (typeof objectId === 'string') return { kind: 'written', objectId };
  return {
    kind: 'failed',
    result: { kind: 'retry', detail: 'HubSpot answered without the id of the marketing event' },
  };
}

function refused({ status, problem, correlationId }: Extract<Reply, { kind: 'refused' }>): Result {
  if (status === 404) {
    return held(
      withCorrelationId(
        'HubSpot has no marketing events at this address (HTTP 404): check "apiVersion"',
        correlationId,
      ),
    );
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
