/**
 * The service's types: the shapes of list items, and the bodies of requests that create something. Item shapes are
 * permissive on purpose: unknown fields pass, enumerations are strings, and every field except the id may be missing or
 * null, because the specification shows only one example of each item. The check does not replace the item, so
 * `z.object` loses no fields; it takes a third of the time of `z.looseObject`. Source: docs/service-contract.md,
 * "Shapes".
 */
import { z } from 'zod';
import type { ServiceListName } from '../base/list-names.js';

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
const questionSchema = z.object({
  attendeeId: integer,
  createdAt: text,
  session: sessionCopy,
  question: z.object({ id: z.int(), content: text, status: text }),
});

/**
 * A vote on a question, which has the same shape as a question. It has no id of its own, and `createdAt` is the time of
 * the vote.
 */
const voteSchema = questionSchema;

const answerRatingSchema = z.object({
  attendeeId: integer,
  createdAt: text,
  session: sessionCopy,
  question: questionCopy,
  answerRating: z.object({ id: z.int(), rate: integer }),
});

/** A word-cloud answer. */
const answerSchema = z.object({
  attendeeId: integer,
  createdAt: text,
  session: sessionCopy,
  answer: z.object({ id: z.int(), content: text, status: text }),
});

/** `attendee.id` is present even when `anonymous` is true. */
const pollVoteSchema = z.object({
  id: z.int(),
  createdAt: text,
  attendee: attendeeCopy,
  session: sessionCopy,
  question: questionCopy,
  option: z.object({ id: integer, content: text }).nullish(),
});

const quizVoteSchema = z.object({
  id: z.int(),
  createdAt: text,
  timeTaken: integer,
  attendee: attendeeCopy,
  session: sessionCopy,
  question: questionCopy,
  option: z.object({ id: integer, content: text }).nullish(),
});

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

/** The schema of a list's items, and the location of the required id. */
interface ItemShape {
  readonly schema: z.ZodType;
  /** The object that holds the id within an item; null when the item itself does. */
  readonly idWithin: string | null;
}

/** One entry per list. A vote has no id of its own, so `question.id` is required: it says which question got the vote. */
export const itemShapes: Readonly<Record<ServiceListName, ItemShape>> = {
  pigeonholes: { schema: pigeonholeSchema, idWithin: null },
  subscriptions: { schema: subscriptionSchema, idWithin: null },
  sessions: { schema: sessionSchema, idWithin: null },
  attendees: { schema: attendeeSchema, idWithin: null },
  questions: { schema: questionSchema, idWithin: 'question' },
  votes: { schema: voteSchema, idWithin: 'question' },
  answer_ratings: { schema: answerRatingSchema, idWithin: 'answerRating' },
  answers: { schema: answerSchema, idWithin: 'answer' },
  'poll-mcq-votes': { schema: pollVoteSchema, idWithin: null },
  'poll-quiz-votes': { schema: quizVoteSchema, idWithin: null },
  'qna-questions': { schema: qnaQuestionSchema, idWithin: null },
};

/**
 * The body of a request that creates a pigeonhole. The service ignores properties that it does not know, so further
 * fields may be given; they are sent unchanged. Source: docs/service-contract.md, "Creating".
 */
export interface NewPigeonhole {
  readonly name: string;
  /** YYYY-MM-DD. */
  readonly startDate: string;
  /** YYYY-MM-DD. */
  readonly endDate: string;
  /** IANA time-zone name. */
  readonly timezone: string;
  /** Required in a Team workspace. The name of this field is not documented; it is our assumption. */
  readonly subscriptionId?: number;
  readonly [field: string]: unknown;
}

export interface NewSession {
  readonly name: string;
  /** See `knownSessionTypes`. */
  readonly type: string;
  /** ISO 8601 in UTC. Type qna requires it together with `endDate`. */
  readonly startDate?: string;
  readonly endDate?: string;
  readonly [field: string]: unknown;
}

/** A registrant to create: the code, and one text for each enabled profile field of the pigeonhole, under the field's name. */
export interface NewRegistrant {
  readonly attendeeCode: string;
  readonly [profileField: string]: string;
}

/** Registrants as JSON text. A caller that stores them as text need not parse and serialize them again. */
export interface PrintedRegistrants {
  /** The elements of a JSON array of `NewRegistrant`, without the brackets. */
  readonly elements: string;
}
