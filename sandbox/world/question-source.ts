import type { JsonObject } from '../json.js';
import { ID_STRIDE } from '../store/id-order.js';
import type { ItemSource } from '../store/item-table.js';
import {
  createResponseSource,
  distinctIndex,
  isoInstant,
  sessionCopy,
  type Lookup,
  type ResponseFacts,
  type ResponsePlace,
  type ResponsePlan,
} from './lookup.js';
import { draw, pick } from './random.js';
import { AWKWARD_QUESTIONS, QUESTION_FORMS, SUBJECTS } from './word-pools.js';

/** One question, which `questions` and `qna-questions` both show under the same id. */
export interface QuestionFacts extends ResponseFacts {
  content: string;
  status: QuestionStatus;
  anonymous: boolean;
}

/** Only `approved` (in `qna-questions`: `allowed`) is documented. The others simulate an open enum. */
export type QuestionStatus = 'approved' | 'pending' | 'rejected' | 'archived' | 'withdrawn';

/** Names of the statuses in `qna-questions`. The specification shows different names for the same status. */
const QNA_STATUS: Record<QuestionStatus, string> = {
  approved: 'allowed',
  pending: 'pending',
  rejected: 'dismissed',
  archived: 'archived',
  withdrawn: 'withdrawn',
};

export function qnaStatusOf(status: string): string {
  return Object.hasOwn(QNA_STATUS, status) ? QNA_STATUS[status as QuestionStatus] : status;
}

export function questionStatusOf(qnaStatus: string): string {
  return Object.entries(QNA_STATUS).find(([, name]) => name === qnaStatus)?.[0] ?? qnaStatus;
}

/** Returns the text of a question. One in twelve is deliberately difficult. */
export function questionText(drawn: number): string {
  const subject = pick(SUBJECTS, draw(drawn, 1));
  const form = drawn % 12 === 0 ? pick(AWKWARD_QUESTIONS, draw(drawn, 2)) : pick(QUESTION_FORMS, draw(drawn, 2));
  return form.replace('{}', subject);
}

/** Returns a status as after moderation: most are approved, some wait, few have another status. */
function drawnStatus(drawn: number): QuestionStatus {
  const place = drawn % 40;
  if (place < 32) return 'approved';
  if (place < 37) return 'pending';
  if (place < 39) return 'rejected';
  return 'archived';
}

/**
 * Creates the source of a pigeonhole's questions for one of the two lists. Both sources generate the same facts from
 * the same plan, so the lists agree although neither is stored.
 */
export function createQuestionSource(
  plan: ResponsePlan,
  layout: { firstId: number; perSession: number; list: 'questions' | 'qna-questions' },
): ItemSource<QuestionFacts> {
  const { seed, attendees, lookup } = plan;
  const render = layout.list === 'questions' ? questionItem : qnaQuestionItem;
  return createResponseSource<Omit<QuestionFacts, keyof ResponseFacts>>(plan, layout, {
    person: ({ session, turn }) => distinctIndex(turn, draw(seed, 21, session.id) % attendees.count, attendees.count),
    own: ({ session, index }) => ({
      content: questionText(draw(seed, 20, index)),
      status: drawnStatus(draw(seed, 22, index)),
      anonymous: session.anonymousResponses && draw(seed, 23, index) % 2 === 0,
    }),
    render: (id, facts) => render(id, facts, lookup),
  });
}

function questionItem(id: number, facts: QuestionFacts, lookup: Lookup): JsonObject {
  return {
    attendeeId: facts.attendeeId,
    createdAt: isoInstant(facts.createdAtMs),
    session: sessionCopy(lookup, facts.sessionId),
    question: { id, content: facts.content, status: facts.status },
  };
}

/** Renders a question. An anonymous one keeps the author's id and code beside the flag, as in the real service. */
function qnaQuestionItem(id: number, facts: QuestionFacts, lookup: Lookup): JsonObject {
  const { name } = lookup.session(facts.sessionId);
  return {
    id,
    content: facts.content,
    status: qnaStatusOf(facts.status),
    createdAt: isoInstant(facts.createdAtMs),
    attendee: {
      id: facts.attendeeId,
      attendeeCode: lookup.attendeeCode(facts.attendeeId),
      anonymous: facts.anonymous,
    },
    session: { id: facts.sessionId, name },
  };
}

/** A vote on a question, or a rating of an answer to it. */
export interface ReactionFacts extends ResponseFacts {
  questionId: number;
  /** 1 to 5; meaningless for a vote. */
  rate: number;
}

interface ReactionLayout {
  list: 'votes' | 'answer_ratings';
  firstId: number;
  perSession: number;
  /** Position of the generated questions: `perSession` for each session, in the order of the sessions. */
  questions: { firstId: number; perSession: number };
}

/** Creates the source of votes or answer ratings. No attendee reacts twice to the same generated question. */
export function createReactionSource(plan: ResponsePlan, layout: ReactionLayout): ItemSource<ReactionFacts> {
  const { seed, attendees, lookup } = plan;
  const { perSession, questions } = layout;
  const purpose = layout.list === 'votes' ? 30 : 40;
  const render = layout.list === 'votes' ? voteItem : ratingItem;
  const questionOf = ({ turn, index }: ResponsePlace): number =>
    ((index - turn) / perSession) * questions.perSession + (turn % questions.perSession);
  return createResponseSource<Omit<ReactionFacts, keyof ResponseFacts>>(plan, layout, {
    person(place) {
      const start = draw(seed, purpose, questionOf(place)) % attendees.count;
      return distinctIndex(Math.floor(place.turn / questions.perSession), start, attendees.count);
    },
    own: (place) => ({
      questionId: questions.firstId + questionOf(place) * ID_STRIDE,
      rate: 1 + (draw(seed, purpose + 1, place.index) % 5),
    }),
    render: (id, facts) => render(id, facts, lookup),
  });
}

/** Renders a vote, which shows no id. */
function voteItem(_id: number, facts: ReactionFacts, lookup: Lookup): JsonObject {
  const { content, status } = lookup.question(facts.questionId);
  return {
    attendeeId: facts.attendeeId,
    createdAt: isoInstant(facts.createdAtMs),
    session: sessionCopy(lookup, facts.sessionId),
    question: { id: facts.questionId, content, status },
  };
}

function ratingItem(id: number, facts: ReactionFacts, lookup: Lookup): JsonObject {
  return {
    attendeeId: facts.attendeeId,
    createdAt: isoInstant(facts.createdAtMs),
    session: sessionCopy(lookup, facts.sessionId),
    question: { id: facts.questionId, content: lookup.question(facts.questionId).content },
    answerRating: { id, rate: facts.rate },
  };
}
