import type { ServiceListName } from '../base/lists.js';

/** The type of a documented field. `day`: `YYYY-MM-DD`; `moment`: an instant in ISO 8601. */
export type FieldKind = 'text' | 'number' | 'flag' | 'moment' | 'day';

type DocumentedFields = Readonly<Record<string, FieldKind>>;

const session = { 'session.id': 'number', 'session.name': 'text', 'session.type': 'text' } as const;
const question = { 'question.id': 'number', 'question.content': 'text' } as const;
const shortSession = { 'session.id': 'number', 'session.name': 'text' } as const;
const attendeeOf = {
  'attendee.id': 'number',
  'attendee.attendeeCode': 'text',
  'attendee.anonymous': 'flag',
} as const;
const pollVote = {
  id: 'number',
  createdAt: 'moment',
  ...attendeeOf,
  ...shortSession,
  ...question,
  'option.id': 'number',
  'option.content': 'text',
} as const;
const askedQuestion = {
  attendeeId: 'number',
  createdAt: 'moment',
  ...session,
  ...question,
  'question.status': 'text',
} as const;

/**
 * The fields of each list that the service documents, members as `question.content`, in the order in which people see
 * them. Any item may lack any of them and have others, such as the profile fields of attendees. `links` and passcodes are
 * never stored. Source: specification, "Resources and their fields".
 */
export const documentedFields: Readonly<Record<ServiceListName, DocumentedFields>> = {
  sessions: {
    id: 'number',
    name: 'text',
    type: 'text',
    startDate: 'moment',
    endDate: 'moment',
    location: 'text',
    description: 'text',
    sessionLabel: 'text',
    tags: 'text',
    parentSessionId: 'number',
    createdAt: 'moment',
    anonymousResponses: 'flag',
    questionFiltering: 'flag',
    questionVotes: 'flag',
    comments: 'flag',
    commentFiltering: 'flag',
    answers: 'flag',
    answerRatings: 'flag',
    adminCollaboration: 'flag',
    hideOtherAttendeesQuestions: 'flag',
    questionsAvailableAfterEnd: 'flag',
    tagsRequired: 'flag',
    externalVideoReactions: 'flag',
    displayQuestionsBy: 'text',
    logoPosition: 'text',
    redirectAttendeesTo: 'text',
    buttonText: 'text',
  },
  attendees: {
    id: 'number',
    attendeeCode: 'text',
    registrantId: 'number',
    signInTime: 'moment',
    'consent.obtained': 'flag',
    'consent.obtainedAt': 'moment',
    'linkedIn.url': 'text',
    'linkedIn.firstName': 'text',
    'linkedIn.lastName': 'text',
    'linkedIn.profileImageUrl': 'text',
    'twitter.screenName': 'text',
    'twitter.profileImageUrl': 'text',
  },
  questions: askedQuestion,
  votes: askedQuestion,
  answer_ratings: {
    attendeeId: 'number',
    createdAt: 'moment',
    ...session,
    ...question,
    'answerRating.id': 'number',
    'answerRating.rate': 'number',
  },
  answers: {
    attendeeId: 'number',
    createdAt: 'moment',
    ...session,
    'answer.id': 'number',
    'answer.content': 'text',
    'answer.status': 'text',
  },
  'poll-mcq-votes': pollVote,
  'poll-quiz-votes': { ...pollVote, timeTaken: 'number' },
  'qna-questions': {
    id: 'number',
    content: 'text',
    status: 'text',
    createdAt: 'moment',
    ...attendeeOf,
    ...shortSession,
  },
  pigeonholes: {
    id: 'number',
    name: 'text',
    status: 'text',
    startDate: 'day',
    endDate: 'day',
    timezone: 'text',
    description: 'text',
    expectedParticipants: 'number',
    attendeeProfiles: 'flag',
    registrants: 'flag',
    attendeeCodeRequired: 'flag',
  },
  subscriptions: { id: 'number', name: 'text', startDate: 'moment', endDate: 'moment', timezone: 'text' },
};
