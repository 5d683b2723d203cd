import type { FieldsQuery } from '../api/fields.js';

type ListName = FieldsQuery['list'];

/** The lists that can be asked about. A record, so that a list that is added does not compile until it stands here. */
const lists: Readonly<Record<ListName, true>> = {
  attendees: true,
  sessions: true,
  'qna-questions': true,
  questions: true,
  votes: true,
  answers: true,
  answer_ratings: true,
  'poll-mcq-votes': true,
  'poll-quiz-votes': true,
  registrants: true,
  engagement: true,
  pigeonholes: true,
  subscriptions: true,
};

export const listNames = Object.keys(lists) as readonly ListName[];
