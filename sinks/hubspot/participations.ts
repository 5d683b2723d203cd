import { fieldsOf, type Result } from '../sink.js';
import type { Sending } from './batch.js';
import { listOf, type Reply } from './classify.js';
import type { Attendance } from './operation.js';

/** A contact's participation in a marketing event, as HubSpot shows it. */
export interface Participation {
  /** E.g. REGISTERED, ATTENDED, CANCELLED, NO_SHOW or EMPTY. */
  readonly state: string;
  /** Time of the latest interaction, Unix time in ms. */
  readonly occurredAtMs: number;
}

/** A contact whose participation is wanted. */
interface WantedParticipation {
  readonly contactId: string;
  /** Whether this state is the expected one. Only other states are read again, to be certain. */
  readonly isExpected: (state: string | null) => boolean;
}

/** The participations of an event that were read so far. */
interface Whole {
  readonly byContact: Map<string, Participation>;
  /** The cursor of the next page; null if all pages were read. */
  after: string | undefined | null;
  readonly startedAtMs: number;
  /** Ids of the contacts whose participation was returned. */
  readonly used: Set<string>;
}

/** Number of participations on a page. */
const PAGE = 100;
/** Up to this number of participations, each is read in a call of its own. */
const FEW = 5;
/** Maximum time for which the participations of an event are kept, so that an audit that waits can continue. */
const KEPT_FOR_MS = 30 * 60_000;

/**
 * Reads the participations in marketing events. HubSpot has no batch read for them, so the first of many wanted ones
 * reads all participations of the event. Each is believed once: an audit that asks for it again reads it again. Keeps ids
 * and states only.
 */
export class Participations {
  readonly #events = new Map<string, Whole>();

  /**
   * Returns the participations by the contact's id, null if there is none, or the result that says why they could not be
   * read. Reading a large event can end early with `retry`; the next call continues.
   */
  async read(
    eventId: string,
    wanted: readonly WantedParticipation[],
    sending: Sending,
  ): Promise<ReadonlyMap<string, Participation | null> | Result> {
    const found = new Map<string, Participation | null>();
    let unsure = wanted;
    if (wanted.length > FEW) {
      const whole = await this.#readAll(eventId, wanted, sending);
      if ('kind' in whole) return whole;
      for (const { contactId } of wanted) found.set(contactId, whole.byContact.get(contactId) ?? null);
      unsure = wanted.filter(
        ({ contactId, isExpected }) => whole.used.has(contactId) || !isExpected(found.get(contactId)?.state ?? null),
      );
      for (const { contactId } of wanted) whole.used.add(contactId);
    }
    for (const { contactId } of unsure) {
      const one = await readOne(eventId, contactId, sending);
      if (one !== null && 'kind' in one) return one;
      found.set(contactId, one);
    }
    return found;
  }

  async #readAll(eventId: string, wanted: readonly WantedParticipation[], sending: Sending): Promise<Whole | Result> {
    const nowMs = sending.now();
    for (const [id, { startedAtMs }] of this.#events) {
      if (nowMs - startedAtMs > KEPT_FOR_MS) this.#events.delete(id);
    }
    const known = this.#events.get(eventId);
    const isUsedUp = wanted.filter(({ contactId }) => known?.used.has(contactId)).length > FEW;
    const whole: Whole =
      known === undefined || isUsedUp
        ? { byContact: new Map(), after: undefined, startedAtMs: nowMs, used: new Set() }
        : known;
    this.#events.set(eventId, whole);
    while (whole.after !== null) {
      const query = whole.after === undefined ? '' : `&after=${encodeURIComponent(whole.after)}`;
      const page = await readPage(eventId, `limit=${PAGE}${query}`, sending);
      if (page !== null && 'kind' in page) return page;
      whole.after = page?.after ?? null;
      if (page === null) break;
      for (const [contactId, participation] of page.participations) whole.byContact.set(contactId, participation);
    }
    return whole;
  }
}

/** Returns the state of a registration that an item's object would have after a change in HubSpot. */
export function attendedAs(state: string | null): Attendance | undefined {
  if (state === 'ATTENDED') return 'attend';
  if (state === 'CANCELLED') return 'cancel';
  return state === 'REGISTERED' || state === 'NO_SHOW' ? 'register' : undefined;
}

async function readOne(eventId: string, contactId: string, sending: Sending): Promise<Participation | Result | null> {
  const page = await readPage(eventId, `limit=${PAGE}&contactIdentifier=${encodeURIComponent(contactId)}`, sending);
  if (page === null || 'kind' in page) return page;
  return page.participations.find(([id]) => id === contactId)?.[1] ?? null;
}

/** Returns a page of an event's participations; null if the event does not exist. */
async function readPage(
  eventId: string,
  query: string,
  { client, budget }: Sending,
): Promise<{ participations: [contactId: string, Participation][]; after: string | null } | Result | null> {
  const path = client.path('marketingEvents', `participations/${eventId}/breakdown?${query}`);
  const reply: Reply = await client.get(path, budget);
  if (reply.kind === 'failed') return reply.result;
  if (reply.kind === 'refused') {
    if (reply.status === 404) return null;
    const detail = `HubSpot refused to show the participants of a marketing event (HTTP ${reply.status})`;
    return { kind: 'rejected', cause: 'hubspot:not-readable', detail };
  }
  const participations = listOf(reply.body.results)
    .map(fieldsOf)
    .flatMap(({ associations, properties }): [string, Participation][] => {
      const { contactId } = fieldsOf(fieldsOf(associations).contact);
      const { attendanceState, occurredAt } = fieldsOf(properties);
      if (contactId == null) return [];
      const participation = { state: String(attendanceState), occurredAtMs: Number(occurredAt) };
      return [[String(contactId as string | number), participation]];
    });
  const { after } = fieldsOf(fieldsOf(reply.body.paging).next);
  return { participations, after: typeof after === 'string' ? after : null };
}
