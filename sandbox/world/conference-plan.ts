import { draw, pick } from './random.js';
import { SESSION_TOPICS } from './word-pools.js';
import { zonedDate, zonedDateTime } from './zoned-time.js';
import type { JsonObject } from '../json.js';

/** Size of the conference. */
export interface ConferenceSize {
  seed: number;
  /** End of the generated past, in milliseconds since 1970. */
  nowMs: number;
  pigeonholes: number;
  /** Sessions of each pigeonhole. */
  sessions: number;
  /** Attendees of the first pigeonhole. Other live and ended ones have a tenth of that number, all others none. */
  attendees: number;
  /** Questions of each qna session. */
  questions: number;
  /** Votes on the questions of each qna session. */
  votes: number;
  /** People who respond in each poll, quiz and word cloud. */
  responses: number;
  registrants: boolean;
}

export interface PigeonholePlan {
  /** Number of pigeonholes that exist before this one. Determines the ids of its items. */
  place: number;
  facts: PigeonholeFacts;
  attendees: number;
  opensAtMs: number;
  closesAtMs: number;
  sessions: readonly SessionFacts[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TIMEZONES = ['Asia/Singapore', 'Europe/Berlin', 'America/New_York', 'Australia/Adelaide', 'Asia/Tokyo'] as const;
/** Assigned in rotation; `postponed` represents statuses that the specification does not list. */
const STATUSES = ['live', 'ended', 'upcoming', 'new', 'live', 'ended', 'postponed'] as const;

/**
 * Start and duration of a pigeonhole by status. The start is relative to `nowMs`; a pigeonhole of any other status
 * starts in a month.
 */
const CALENDAR: Record<string, { startsInDays: number; lastsDays: number }> = {
  live: { startsInDays: -1, lastsDays: 3 },
  ended: { startsInDays: -12, lastsDays: 2 },
  upcoming: { startsInDays: 7, lastsDays: 2 },
};

/** Every known type, two qna sessions that differ in anonymity, and a poll nested in the survey before it. */
const TYPES: readonly SessionType[] = [
  'qna',
  'qna',
  'poll_multiple_choice',
  'poll_quiz',
  'poll_word_cloud',
  'survey',
  'poll_multiple_choice',
  'poll_open_ended',
  'poll_assessment',
  'break',
  'regular',
  'chat',
];

/** Index of the nested poll in TYPES; it accepts anonymous votes, the poll before it does not. */
const NESTED_POLL = 6;

/** Ids of the first generated pigeonhole and session, and the distance between the session ids of two pigeonholes. */
export const FIRST_PIGEONHOLE_ID = 101;
const FIRST_SESSION_ID = 5001;
const SESSION_IDS_PER_PIGEONHOLE = 100_000;

/** Plans all generated pigeonholes. The same size produces the same plan. */
export function planConference(size: ConferenceSize): PigeonholePlan[] {
  return Array.from({ length: size.pigeonholes }, (_, place) => planPigeonhole(size, place));
}

function planPigeonhole(size: ConferenceSize, place: number): PigeonholePlan {
  const id = FIRST_PIGEONHOLE_ID + place;
  const status = STATUSES[place % STATUSES.length] ?? 'live';
  const timezone = TIMEZONES[place % TIMEZONES.length] ?? 'UTC';
  const calendar = CALENDAR[status] ?? { startsInDays: 30, lastsDays: 1 };
  const opensAtMs = size.nowMs + calendar.startsInDays * DAY_MS;
  const closesAtMs = opensAtMs + calendar.lastsDays * DAY_MS;
  const busy = status === 'live' || status === 'ended';
  return {
    place,
    facts: {
      id,
      name: `ACME Summit ${id}`,
      description: DEFAULT_DESCRIPTION,
      startDate: zonedDate(opensAtMs, timezone),
      endDate: zonedDate(closesAtMs - HOUR_MS, timezone),
      status,
      timezone,
      attendeeProfiles: true,
      registrants: size.registrants,
      attendeeCodeRequired: false,
    },
    attendees: !busy ? 0 : place === 0 ? size.attendees : Math.ceil(size.attendees / 10),
    opensAtMs,
    closesAtMs: Math.min(closesAtMs, size.nowMs),
    sessions: Array.from({ length: size.sessions }, (_unused, index) =>
      planSession(size, { pigeonholeId: id, place, index, status, timezone, opensAtMs }),
    ),
  };
}

interface SessionPlace {
  pigeonholeId: number;
  place: number;
  index: number;
  status: string;
  timezone: string;
  opensAtMs: number;
}

/** In a live pigeonhole, two of three sessions run at `nowMs` and end eight hours later; the others are over. */
function planSession(size: ConferenceSize, at: SessionPlace): SessionFacts {
  const type = TYPES[at.index % TYPES.length] ?? 'qna';
  const round = Math.floor(at.index / TYPES.length);
  const idAt = (index: number): number => FIRST_SESSION_ID + at.place * SESSION_IDS_PER_PIGEONHOLE + index * 10;
  const running = at.status === 'live' && at.index % 3 !== 2;
  const startsAtMs = running ? size.nowMs - HOUR_MS : at.opensAtMs + (at.index % 8) * 2 * HOUR_MS;
  return {
    id: idAt(at.index),
    pigeonholeId: at.pigeonholeId,
    name: `${pick(SESSION_TOPICS, draw(size.seed, 90 + at.place, at.index))} ${at.index + 1}`,
    type,
    timezone: at.timezone,
    startsAtMs,
    endsAtMs: running ? size.nowMs + 8 * HOUR_MS : startsAtMs + 90 * 60_000,
    createdAtMs: at.opensAtMs - 20 * DAY_MS + at.index * 1000,
    anonymousResponses: (at.index + round) % 2 === 1 || at.index % TYPES.length === NESTED_POLL,
    parentSessionId: at.index % TYPES.length === NESTED_POLL ? idAt(at.index - 1) : null,
  };
}

export interface PigeonholeFacts {
  id: number;
  name: string;
  description: string;
  startDate: string;
  endDate: string;
  status: string;
  timezone: string;
  attendeeProfiles: boolean;
  registrants: boolean;
  attendeeCodeRequired: boolean;
}

const PASSCODE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Returns a pigeonhole as the API shows it, without `expectedParticipants`, which only the single read adds. */
export function pigeonholeItem(facts: PigeonholeFacts, seed: number): JsonObject {
  const secret = draw(seed, 0x21, facts.id).toString(36);
  let passcode = '';
  for (let place = 0; place < 6; place += 1)
    passcode += PASSCODE_LETTERS[draw(seed, 0x22 + place, facts.id) % 32] ?? '';
  return {
    id: facts.id,
    name: facts.name,
    description: facts.description,
    passcode,
    startDate: facts.startDate,
    endDate: facts.endDate,
    status: facts.status,
    timezone: facts.timezone,
    attendeeProfiles: facts.attendeeProfiles,
    registrants: facts.registrants,
    attendeeCodeRequired: facts.attendeeCodeRequired,
    links: {
      admin: `https://admin.example.com/${facts.id}/${secret}`,
      audience: `https://audience.example.com/${passcode}`,
      projector: `https://projector.example.com/${facts.id}/${secret}`,
    },
  };
}

/** Description that the service sets if a create request has none. */
export const DEFAULT_DESCRIPTION = 'Welcome! Ask questions and vote on the ones you want answered.';

interface SessionFacts {
  id: number;
  pigeonholeId: number;
  name: string;
  type: SessionType;
  timezone: string;
  /** Null for sessions that were created without times. */
  startsAtMs: number | null;
  endsAtMs: number | null;
  createdAtMs: number;
  anonymousResponses: boolean;
  parentSessionId: number | null;
}

/** Returns a session as the API shows it, with documented defaults for all other fields. */
export function sessionItem(facts: SessionFacts, seed: number): JsonObject {
  const secret = draw(seed, 0x11, facts.id).toString(36);
  return {
    id: facts.id,
    name: facts.name,
    type: facts.type,
    description: '',
    redirectAttendeesTo: 'none',
    location: '',
    startDate: facts.startsAtMs === null ? null : zonedDateTime(facts.startsAtMs, facts.timezone),
    endDate: facts.endsAtMs === null ? null : zonedDateTime(facts.endsAtMs, facts.timezone),
    createdAt: new Date(facts.createdAtMs).toISOString(),
    sessionLabel: '',
    buttonText: '',
    anonymousResponses: facts.anonymousResponses,
    questionFiltering: false,
    comments: true,
    commentFiltering: false,
    answers: false,
    answerRatings: true,
    adminCollaboration: false,
    hideOtherAttendeesQuestions: false,
    questionVotes: true,
    questionsAvailableAfterEnd: true,
    tagsRequired: false,
    logoPosition: 'header',
    tags: '',
    displayQuestionsBy: 'top_voted',
    externalVideoReactions: false,
    parentSessionId: facts.parentSessionId,
    // In the real service, these links work for anyone, so they must be treated as credentials.
    links: {
      moderator: `https://admin.example.com/${facts.pigeonholeId}/sessions/${facts.id}/moderator/${secret}`,
      projector: `https://projector.example.com/${facts.pigeonholeId}/sessions/${facts.id}/${secret}`,
    },
  };
}

/** Session types in use (an unofficial SDK of 2021 names them; the specification shows only two). */
export const SESSION_TYPES = [
  'qna',
  'poll_multiple_choice',
  'poll_quiz',
  'poll_assessment',
  'poll_word_cloud',
  'poll_open_ended',
  'survey',
  'break',
  'regular',
  'chat',
] as const;

export type SessionType = (typeof SESSION_TYPES)[number];

export function isSessionType(value: unknown): value is SessionType {
  return typeof value === 'string' && (SESSION_TYPES as readonly string[]).includes(value);
}
