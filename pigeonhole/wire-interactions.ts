/**
 * Wire shapes of what an audience does: questions, votes, ratings, answers, poll votes. As permissive as
 * `wire-entities.ts`, and for the same reason; only the id that tells one item from another has to be there.
 * Source: docs/service-contract.md, "Shapes".
 */
import { z } from 'zod';

const text = z.string().nullish();
const integer = z.int().nullish();

/** Copies of the session and of the question that come with each interaction. */
const sessionCopy = z.object({ id: integer, name: text, type: text }).nullish();
const questionCopy = z.object({ id: integer, content: text }).nullish();
const attendeeCopy = z.object({ id: integer, attendeeCode: text, anonymous: z.boolean().nullish() }).nullish();

/** Carries `attendeeId` and no word about anonymity: whether it may be used is decided elsewhere. */
export const questionSchema = z.object({
  attendeeId: integer,
  createdAt: text,
  session: sessionCopy,
  question: z.object({ id: z.int(), content: text, status: text }),
});

/** One vote on a question. Same shape as a question; it has no id of its own, `createdAt` is the time of the vote. */
export const voteSchema = questionSchema;

export const answerRatingSchema = z.object({
  attendeeId: integer,
  createdAt: text,
  session: sessionCopy,
  question: questionCopy,
  answerRating: z.object({ id: z.int(), rate: integer }),
});

/** A word-cloud answer. */
export const answerSchema = z.object({
  attendeeId: integer,
  createdAt: text,
  session: sessionCopy,
  answer: z.object({ id: z.int(), content: text, status: text }),
});

/** `attendee.id` is there also when `anonymous` is true. */
export const pollVoteSchema = z.object({
  id: z.int(),
  createdAt: text,
  attendee: attendeeCopy,
  session: sessionCopy,
  question: questionCopy,
  option: z.object({ id: integer, content: text }).nullish(),
});

export const quizVoteSchema = z.object({
  id: z.int(),
  createdAt: text,
  timeTaken: integer,
  attendee: attendeeCopy,
  session: sessionCopy,
  question: questionCopy,
  option: z.object({ id: integer, content: text }).nullish(),
});

/** The same questions as in `questions`, by the same id, but flagged as anonymous or not. */
export const qnaQuestionSchema = z.object({
  id: z.int(),
  content: text,
  status: text,
  createdAt: text,
  attendee: attendeeCopy,
  session: sessionCopy,
});

export type Question = z.infer<typeof questionSchema>;
export type Vote = z.infer<typeof voteSchema>;
export type AnswerRating = z.infer<typeof answerRatingSchema>;
export type Answer = z.infer<typeof answerSchema>;
export type PollVote = z.infer<typeof pollVoteSchema>;
export type QuizVote = z.infer<typeof quizVoteSchema>;
export type QnaQuestion = z.infer<typeof qnaQuestionSchema>;
