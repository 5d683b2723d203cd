import type { FieldsQuery } from '../api/fields.js';

type ListName = FieldsQuery['list'];

/** Lists that the page can show. A record, so that a new list does not compile until it is added here. */
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
