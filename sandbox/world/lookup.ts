import type { JsonObject } from '../json.js';
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

/** Returns the session of a list index and the index within it, for blocks of equal length. */
export function placeInBlocks(
  sessions: readonly ActiveSession[],
  perSession: number,
  index: number,
): { session: ActiveSession; turn: number } {
  const session = sessions[Math.floor(index / perSession)];
  if (session === undefined) throw new RangeError(`item ${index} lies beyond the generated sessions`);
  return { session, turn: index % perSession };
}

/** Returns the instant of the `turn`-th of `count` responses in a session. */
export function instantInSession(seed: number, session: ActiveSession, turn: number, count: number): number {
  return instantAt(draw(seed, 12, session.id), turn, count, session.fromMs, session.toMs);
}

export function isoInstant(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Returns the copy of a session that most lists contain. */
export function sessionCopy(lookup: Lookup, sessionId: number): JsonObject {
  const { id, name, type } = lookup.session(sessionId);
  return { id, name, type };
}
