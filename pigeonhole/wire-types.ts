/**
 * The shapes of list items. They are permissive on purpose: unknown fields pass, enumerations are strings, and every field except the id may be missing or
 * null, because the specification shows only one example of each item. The check does not replace the item, so
 * `z.object` loses no fields; it takes a third of the time of `z.looseObject`. Source: docs/service-contract.md,
 * "Shapes".
 */
import { z } from 'zod';
import type { ServiceListName } from '../base/lists.js';

const text = z.string().nullish();
const flag = z.boolean().nullish();
const integer = z.int().nullish();
/**
 * Related links. Some links open admin and moderator pages without a login, so links are credentials rather than data.
 */
const links = z.object({}).nullish();

/** Observed values of `status`: new, upcoming, live, ended. An ended pigeonhole can become live again. */
const pigeonholeSchema = z.object({
  id: z.int(),
  name: text,
  description: text,
  passcode: text,
  startDate: text,
  endDate: text,
  status: text,
  timezone: text,
  attendeeProfiles: flag,
  registrants: flag,
  attendeeCodeRequired: flag,
  expectedParticipants: integer,
  links,
});

const subscriptionSchema = z.object({
  id: z.int(),
  name: text,
  startDate: text,
  endDate: text,
  timezone: text,
});

/** Declares only the fields that decisions depend on; the other fields of a session pass through. */
const sessionSchema = z.object({
  id: z.int(),
  name: text,
  type: text,
  description: text,
  location: text,
  startDate: text,
  endDate: text,
  createdAt: text,
  parentSessionId: integer,
  anonymousResponses: flag,
  questionFiltering: flag,
  answers: flag,
  answerRatings: flag,
  questionVotes: flag,
  links,
});

/** Profile fields are siblings of these, under the names that the pigeonhole's owner chose. */
const attendeeSchema = z.object({
  id: z.int(),
  registrantId: integer,
  attendeeCode: text,
  signInTime: text,
  consent: z.object({ obtained: flag, obtainedAt: text }).nullish(),
  linkedIn: z.object({ url: text, firstName: text, lastName: text, profileImageUrl: text }).nullish(),
  twitter: z.object({ screenName: text, profileImageUrl: text }).nullish(),
});

/** Copies of the session, the question and the attendee that each interaction carries. */
const sessionCopy = z.object({ id: integer, name: text, type: text }).nullish();
const questionCopy = z.object({ id: integer, content: text }).nullish();
const attendeeCopy = z.object({ id: integer, attendeeCode: text, anonymous: z.boolean().nullish() }).nullish();

/**
 * Has `attendeeId` but no anonymity flag: the code that stores and delivers items decides whether the id may be used.
 */
const qnaFields = { attendeeId: integer, createdAt: text, session: sessionCopy };

/** Also the shape of a vote on a question, whose `createdAt` is the time of the vote. */
const questionSchema = z.object({ ...qnaFields, question: z.object({ id: z.int(), content: text, status: text }) });

const answerRatingSchema = z.object({
  ...qnaFields,
  question: questionCopy,
  answerRating: z.object({ id: z.int(), rate: integer }),
});

/** A word-cloud answer. */
const answerSchema = z.object({ ...qnaFields, answer: z.object({ id: z.int(), content: text, status: text }) });

/** `attendee.id` is present even when `anonymous` is true. */
const pollVoteSchema = z.object({
  id: z.int(),
  createdAt: text,
  attendee: attendeeCopy,
  session: sessionCopy,
  question: questionCopy,
  option: z.object({ id: integer, content: text }).nullish(),
});

const quizVoteSchema = pollVoteSchema.extend({ timeTaken: integer });

/** The same questions as in `questions`, with the same ids, plus the anonymity flag. */
const qnaQuestionSchema = z.object({
  id: z.int(),
  content: text,
  status: text,
  createdAt: text,
  attendee: attendeeCopy,
  session: sessionCopy,
});

export type Pigeonhole = z.infer<typeof pigeonholeSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type Subscription = z.infer<typeof subscriptionSchema>;

/** Known session types: the first two from the specification, the others from an unofficial SDK. There may be more. */
export const knownSessionTypes = [
  'qna',
  'poll_word_cloud',
  'poll_multiple_choice',
  'poll_quiz',
  'poll_assessment',
  'poll_open_ended',
  'survey',
  'break',
  'regular',
  'chat',
] as const;

/** An element of a list exactly as the service sent it: an object whose fields have not been checked. */
export type WireItem = Readonly<Record<string, unknown>>;

/** The schema of each list's items. A vote has no id of its own, so `question.id` is required: it says which question got the vote. */
export const itemSchemas: Readonly<Record<ServiceListName, z.ZodType>> = {
  pigeonholes: pigeonholeSchema,
  subscriptions: subscriptionSchema,
  sessions: sessionSchema,
  attendees: attendeeSchema,
  questions: questionSchema,
  votes: questionSchema,
  answer_ratings: answerRatingSchema,
  answers: answerSchema,
  'poll-mcq-votes': pollVoteSchema,
  'poll-quiz-votes': quizVoteSchema,
  'qna-questions': qnaQuestionSchema,
};
