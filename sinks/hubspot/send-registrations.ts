import { createHash } from 'node:crypto';
import type { Fields, Result } from '../sink.js';
import { type BatchInput, runBatch } from './batch.js';
import { said } from './client.js';
import type { MarketingEvent, RegistrationStep } from './operation.js';
import type { Sending } from './send-records.js';
import type { Task } from './task.js';

type Pair = { readonly task: Task; readonly step: RegistrationStep };

/**
 * Registers people for the marketing event of the pigeonhole, notes that they came, or cancels. The event is written
 * once, and again when its mapping gives something else.
 * @param memory of the lane: what the event was last written with
 * @returns what is to be remembered
 */
export async function sendRegistrations(
  pairs: readonly Pair[],
  memory: Fields,
  sending: Sending,
): Promise<Record<string, unknown>> {
  const remembered: Record<string, unknown> = {};
  const known = (event: MarketingEvent): boolean => {
    const key = memoryKey(event);
    const digest = key in remembered ? remembered[key] : memory[key];
    return event.details === null || digest === digestOf(event);
  };
  for (const pair of pairs) {
    if (!pair.task.isOpen || known(pair.step.event)) continue;
    const { details, ...name } = pair.step.event;
    const failure = await writeEvent({ ...details, ...name }, sending);
    if (failure === undefined) remembered[memoryKey(pair.step.event)] = digestOf(pair.step.event);
    else endAll(pairs, pair.step.event, failure);
  }
  const groups = new Map<string, Pair[]>();
  for (const pair of pairs.filter(({ task }) => task.isOpen)) {
    const { event, attendance, email } = pair.step;
    const key = JSON.stringify([event.externalAccountId, event.externalEventId, attendance, email === null]);
    groups.set(key, [...(groups.get(key) ?? []), pair]);
  }
  for (const group of groups.values()) {
    const { event } = group[0]!.step;
    // Forgotten: it was removed in HubSpot, and is written again with the next attempt.
    if (await register(group, sending)) remembered[memoryKey(event)] = null;
  }
  return remembered;
}

async function writeEvent(event: object, { client, asking }: Sending): Promise<Result | undefined> {
  const reply = await client.post(client.paths.marketingEvents('events/upsert'), { inputs: [event] }, asking);
  if (reply.kind === 'ok') return undefined;
  if (reply.kind === 'failed') return reply.result;
  const what = [reply.problem.code || reply.problem.category || `http-${reply.status}`, ...reply.problem.properties];
  return {
    kind: 'rejected',
    cause: ['hubspot', 'marketing-event', ...what].join(':'),
    detail: said(`HubSpot refused the marketing event: ${what.join(' ')}`, reply.correlationId),
  };
}

/** @returns whether the event is gone */
async function register(pairs: readonly Pair[], { client, asking }: Sending): Promise<boolean> {
  const { event, attendance, email } = pairs[0]!.step;
  // One person may hold several registrations of an event; the last one stands.
  const byPerson = new Map(pairs.map((pair) => [personOf(pair.step), pair]));
  const people = [...byPerson.values()];
  const query = new URLSearchParams({ externalAccountId: event.externalAccountId }).toString();
  const call = email === null ? 'create' : 'email-create';
  const replies = await runBatch(
    client,
    {
      path: `${client.paths.marketingEvents(`attendance/${encodeURIComponent(event.externalEventId)}/${attendance}/${call}`)}?${query}`,
      traced: false,
      silence: 'failed',
      notFoundIsOne: email === null, // the contact; an unknown e-mail is never missing
    },
    people.map(({ step }) => inputOf(step)),
    asking,
  );
  let gone = false;
  const replyOf = new Map(people.map(({ step }, index) => [personOf(step), replies[index]!]));
  for (const { task, step } of pairs) {
    const reply = replyOf.get(personOf(step))!;
    if (reply.kind === 'done') {
      const contactId = reply.result.vid ?? step.contactId;
      task.made(step.record, {
        attendance,
        ...(contactId != null && { contactId: String(contactId as string | number) }),
      });
    } else if (reply.kind === 'missing') {
      if (attendance === 'cancel') task.made(step.record, null); // nothing is left to be cancelled
      else {
        gone = true;
        task.made(step.record, null); // by e-mail the next time: the contact that the id was of may be gone
        task.end({ kind: 'retry', detail: 'HubSpot has no such marketing event or contact any more' });
      }
    } else task.endBy(reply);
  }
  return gone;
}

function inputOf(step: RegistrationStep): BatchInput {
  const at = { interactionDateTime: step.happenedAtMs };
  if (step.email === null) return { body: { vid: Number(step.contactId), ...at }, key: step.contactId! };
  return { body: { email: step.email, ...at }, key: step.email, keyProperty: 'email' };
}

function personOf({ email, contactId }: RegistrationStep): string {
  return email ?? `id ${contactId}`;
}

function endAll(pairs: readonly Pair[], event: MarketingEvent, failure: Result): void {
  for (const { task, step } of pairs) {
    if (memoryKey(step.event) === memoryKey(event)) task.end(failure);
  }
}

function memoryKey({ externalAccountId, externalEventId }: MarketingEvent): string {
  return `marketing-event ${externalAccountId} ${externalEventId}`;
}

/** Of what stands in the event alone: no person's data. */
function digestOf({ details }: MarketingEvent): string {
  return createHash('sha256').update(JSON.stringify(details)).digest('hex');
}
