import type { z } from 'zod';
import type { ListName } from './lists.js';
import { attendeeSchema, pigeonholeSchema, sessionSchema, subscriptionSchema } from './wire-entities.js';
import type { Attendee, Pigeonhole, Session, Subscription } from './wire-entities.js';
import {
  answerRatingSchema,
  answerSchema,
  pollVoteSchema,
  qnaQuestionSchema,
  questionSchema,
  quizVoteSchema,
  voteSchema,
} from './wire-interactions.js';
import type { Answer, AnswerRating, PollVote, QnaQuestion, Question, QuizVote, Vote } from './wire-interactions.js';

/** An element of a list exactly as the service gave it: an object, whose fields are only what they claim to be. */
export type WireItem = Readonly<Record<string, unknown>>;

/** The shape of a list's regular items. An item named in `Page.irregular` need not have it. */
export interface WireItems {
  pigeonholes: Pigeonhole;
  subscriptions: Subscription;
  sessions: Session;
  attendees: Attendee;
  questions: Question;
  votes: Vote;
  answer_ratings: AnswerRating;
  answers: Answer;
  'poll-mcq-votes': PollVote;
  'poll-quiz-votes': QuizVote;
  'qna-questions': QnaQuestion;
}

/** How a list's items are checked, and where the id lies that has to be there. */
interface ItemShape {
  readonly schema: z.ZodType;
  /** The object that holds the id within an item; null when the item itself does. */
  readonly idWithin: string | null;
}

/** One entry a list. A vote has no id of its own: `question.id` is the least that tells what was voted on. */
export const itemShapes: Readonly<Record<ListName, ItemShape>> = {
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
