import { Secret } from '../../config/secret.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Change } from '../change.js';
import type { Fields, Subject } from '../sink.js';
import { xapiConfigSchema, type XapiConfig } from './config.js';

const createdAt = '2026-11-21T09:30:00Z';
const session = { id: 5001, name: 'Opening' };

/** An item of each list, as the service returns it. */
export const items = {
  attendees: { id: 7, attendeeCode: 'A-7', signInTime: '2026-11-21T08:00:00Z', Name: 'Ada Lovelace' },
  'qna-questions': {
    id: 9001,
    content: 'When is lunch?',
    status: 'allowed',
    createdAt,
    attendee: { id: 7, attendeeCode: 'A-7', anonymous: false },
    session,
  },
  votes: { attendeeId: 7, createdAt, session, question: { id: 9001, content: 'When is lunch?', status: 'approved' } },
  answer_ratings: {
    attendeeId: 7,
    createdAt,
    session,
    question: { id: 9001, content: 'When is lunch?' },
    answerRating: { id: 31, rate: 4 },
  },
  answers: { attendeeId: 7, createdAt, session, answer: { id: 41, content: 'hopeful', status: 'approved' } },
  'poll-mcq-votes': {
    id: 51,
    createdAt,
    attendee: { id: 7, anonymous: false },
    session,
    question: { id: 300, content: 'Tabs or spaces?' },
    option: { id: 3001, content: 'Spaces' },
  },
  'poll-quiz-votes': {
    id: 61,
    createdAt,
    timeTaken: 12,
    attendee: { id: 7, attendeeCode: 'A-7', anonymous: false },
    session,
    question: { id: 301, content: 'Which planet?' },
    option: { id: 3011, content: 'Mars' },
  },
} as const;

export const attendee: Fields = items.attendees;

/** Returns a change of an item with attendee, session and pigeonhole. */
export function subjectFor(
  list: string,
  data: Fields | null,
  fields: Partial<Change> = {},
  around: Partial<Subject> = {},
) {
  const kind = data === null ? 'deleted' : 'created';
  const change = sampleChange({ list, type: `${list}.${kind}`, key: `${list}-1`, data, ...fields });
  return subjectOf(change, {
    attendee: list === 'attendees' ? null : attendee,
    session,
    pigeonhole: { id: 101, name: 'ACME Summit' },
    ...around,
  });
}

/** Returns the configuration of an LRS on loopback. */
export function configurationFor(endpoint: string, keys: Readonly<Record<string, unknown>> = {}): XapiConfig {
  return xapiConfigSchema.parse({
    endpoint,
    username: 'lrs-key',
    password: new Secret('lrs-s3cret'),
    actor: { homePage: 'https://example.com', name: 'attendee.attendeeCode' },
    ...keys,
  });
}
