import { createHash } from 'node:crypto';
import { fieldsOf, type Result } from '../sink.js';
import { held, listOf, problemOf, withCorrelationId } from './classify-answer.js';
import type { Reply } from './client.js';
import type { MarketingEvent } from './operation.js';
import type { Sending } from './send-records.js';

/** What a lane knows of the marketing event of its pigeonhole. */
export interface KnownEvent {
  /** HubSpot's id. By the external ids only the app finds an event that created it; by this id every app does. */
  readonly objectId: string | null;
  /** Of the details that it was last written with; null: it is written again with the next registration. */
  readonly digest: string | null;
}

/** `none`: HubSpot said that the account has no such event; `unproven`: it did not say. */
export type FoundEvent =
  | { readonly kind: 'found'; readonly objectId: string; readonly all: readonly string[] }
  | { readonly kind: 'none' | 'unproven' }
  | { readonly kind: 'failed'; readonly result: Result };

export type WrittenEvent =
  | { readonly kind: 'written'; readonly objectId: string }
  | { readonly kind: 'failed'; readonly result: Result };

export function memoryKey({ externalAccountId, externalEventId }: MarketingEvent): string {
  return `marketing-event ${externalAccountId} ${externalEventId}`;
}

/** Reads what the lane remembers; a version before this one remembered the digest only. */
export function knownEvent(remembered: unknown): KnownEvent {
  if (typeof remembered === 'string') return { objectId: null, digest: remembered };
  const { objectId, digest } = fieldsOf(remembered);
  return {
    objectId: typeof objectId === 'string' ? objectId : null,
    digest: typeof digest === 'string' ? digest : null,
  };
}

/** Of what stands in the event only: no person's data. */
export function digestOf({ details }: MarketingEvent): string {
  return createHash('sha256').update(JSON.stringify(details)).digest('hex');
}

/**
 * Looks the event up among those of all apps: a private app may have created it before a service key replaced the app.
 * Where several fit, the one that was created first is taken.
 */
export async function findEvent(event: MarketingEvent, { client, budget }: Sending): Promise<FoundEvent> {
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

/** Changes the event by its id, or creates it. One that a person has removed in HubSpot is created again. */
export async function writeEvent(
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

/** Errors may stand inside a 200. */
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
