import type { JsonObject } from '../json.js';
import { ID_STRIDE } from '../store/id-order.js';
import type { ItemSource } from '../store/item-table.js';
import { instantAt } from './attendee-source.js';
import { draw } from './random.js';
import type { SessionType } from './conference-plan.js';

/**
 * Values that an item copies from other entities. They are looked up at every rendering, so that copies follow their
 * originals.
 */
export interface Lookup {
  session(id: number): { id: number; name: string; type: string };
  question(id: number): { content: string; status: string };
  attendeeCode(attendeeId: number): string;
}

/** A generated session with the period of its generated responses. */
export interface ActiveSession {
  id: number;
  type: SessionType;
  anonymousResponses: boolean;
  fromMs: number;
  toMs: number;
}

/** Context shared by the generators of a pigeonhole's responses. */
export interface ResponsePlan {
  seed: number;
  sessions: readonly ActiveSession[];
  attendees: { firstId: number; count: number };
  lookup: Lookup;
}

/** Data that every response has: attendee, session and time. */
export interface ResponseFacts {
  sessionId: number;
  attendeeId: number;
  createdAtMs: number;
}

const STEP = 7919;

/** Returns the `turn`-th person of a sequence that visits everyone once before it repeats. */
export function distinctIndex(turn: number, start: number, count: number): number {
  return (start + turn * (count % STEP === 0 ? 1 : STEP)) % count;
}

/** A generated response: its session, its number within the session, and its index in the whole list. */
export interface ResponsePlace {
  session: ActiveSession;
  turn: number;
  index: number;
}

/** Creates the source of a list of responses, with the same number in each session. */
export function createResponseSource<Own extends object>(
  { seed, sessions, attendees }: ResponsePlan,
  { firstId, perSession }: { firstId: number; perSession: number },
  {
    person,
    own,
    render,
  }: {
    /** Returns the index of the attendee. */
    person: (place: ResponsePlace) => number;
    /** Returns the facts that only this list has. */
    own: (place: ResponsePlace) => Own;
    render: (id: number, facts: ResponseFacts & Own) => JsonObject;
  },
): ItemSource<ResponseFacts & Own> {
  return {
    firstId,
    blocks: sessions.map((session) => ({ sessionId: session.id, count: perSession })),
    facts(index) {
      const session = sessions[Math.floor(index / perSession)];
      if (session === undefined) throw new RangeError(`item ${index} lies beyond the generated sessions`);
      const turn = index % perSession;
      const place = { session, turn, index };
      return {
        sessionId: session.id,
        attendeeId: attendees.firstId + person(place) * ID_STRIDE,
        createdAtMs: instantAt(draw(seed, 12, session.id), turn, perSession, session.fromMs, session.toMs),
        ...own(place),
      };
    },
    render,
  };
}

export function isoInstant(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Returns the copy of a session that most lists contain. */
export function sessionCopy(lookup: Lookup, sessionId: number): JsonObject {
  const { id, name, type } = lookup.session(sessionId);
  return { id, name, type };
}
