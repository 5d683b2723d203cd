import type { JsonObject } from '../json.js';
import { draw } from './random.js';
import { zonedDateTime } from './zoned-time.js';

export interface SessionFacts {
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
