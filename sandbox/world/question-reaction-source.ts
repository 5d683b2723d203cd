import type { JsonObject } from '../json.js';
import { ID_STRIDE } from '../store/id-order.js';
import type { ItemSource } from '../store/item-table.js';
import { distinctIndex, instantInSession, isoInstant, placeInBlocks, sessionCopy } from './lookup.js';
import type { Lookup, ResponseFacts, ResponsePlan } from './lookup.js';
import { draw } from './random.js';

/** A vote on a question, or a rating of an answer to it. */
export interface ReactionFacts extends ResponseFacts {
  questionId: number;
  /** 1 to 5; of no meaning for a vote. */
  rate: number;
}

export interface ReactionLayout {
  list: 'votes' | 'answer_ratings';
  firstId: number;
  perSession: number;
  /** Where the generated questions stand: `perSession` of them for each session, in the order of the sessions. */
  questions: { firstId: number; perSession: number };
}

/** Votes and answer ratings: reactions of attendees to generated questions, nobody twice to the same one. */
export function createReactionSource(plan: ResponsePlan, layout: ReactionLayout): ItemSource<ReactionFacts> {
  const { seed, attendees, lookup } = plan;
  const { perSession, questions } = layout;
  const purpose = layout.list === 'votes' ? 30 : 40;
  const render = layout.list === 'votes' ? voteItem : ratingItem;
  return {
    firstId: layout.firstId,
    blocks: plan.sessions.map((session) => ({ sessionId: session.id, count: perSession })),
    facts(index) {
      const { session, turn } = placeInBlocks(plan.sessions, perSession, index);
      const question = ((index - turn) / perSession) * questions.perSession + (turn % questions.perSession);
      const start = draw(seed, purpose, question) % attendees.count;
      const person = distinctIndex(Math.floor(turn / questions.perSession), start, attendees.count);
      return {
        sessionId: session.id,
        attendeeId: attendees.firstId + person * ID_STRIDE,
        createdAtMs: instantInSession(seed, session, turn, perSession),
        questionId: questions.firstId + question * ID_STRIDE,
        rate: 1 + (draw(seed, purpose + 1, index) % 5),
      };
    },
    render: (id, facts) => render(id, facts, lookup),
    fields: ({ sessionId, attendeeId, questionId, rate }) => ({ sessionId, attendeeId, questionId, rate }),
  };
}

/** A vote shows no id of its own. */
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
