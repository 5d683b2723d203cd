import type { JsonObject } from '../json.js';
import { ID_STRIDE } from '../store/id-order.js';
import type { ItemSource } from '../store/item-table.js';
import { distinctIndex, instantInSession, isoInstant, placeInBlocks, sessionCopy } from './lookup.js';
import type { Lookup, ResponseFacts, ResponsePlan } from './lookup.js';
import { draw, pick } from './random.js';
import { AWKWARD_QUESTIONS, QUESTION_FORMS, SUBJECTS } from './word-pools.js';

/** One question, which `questions` and `qna-questions` both show under the same id. */
export interface QuestionFacts extends ResponseFacts {
  content: string;
  status: QuestionStatus;
  anonymous: boolean;
}

/** Only `approved` is documented (and `allowed`, its name in `qna-questions`); the rest shows that the enum is open. */
export type QuestionStatus = 'approved' | 'pending' | 'rejected' | 'archived' | 'withdrawn';

/** The two lists name the same status differently where the specification shows it, and so here. */
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

/** Text of a question; one in twelve is awkward on purpose. */
export function questionText(drawn: number): string {
  const subject = pick(SUBJECTS, draw(drawn, 1));
  const form = drawn % 12 === 0 ? pick(AWKWARD_QUESTIONS, draw(drawn, 2)) : pick(QUESTION_FORMS, draw(drawn, 2));
  return form.replace('{}', subject);
}

/** Statuses as a moderator leaves them: most approved, some waiting, few anything else. */
function drawnStatus(drawn: number): QuestionStatus {
  const place = drawn % 40;
  if (place < 32) return 'approved';
  if (place < 37) return 'pending';
  if (place < 39) return 'rejected';
  return 'archived';
}

/**
 * The questions of a pigeonhole, as one of its two lists shows them. Both sources make the same facts from the
 * same plan, so the lists agree without either being stored.
 */
export function createQuestionSource(
  plan: ResponsePlan,
  layout: { firstId: number; perSession: number; list: 'questions' | 'qna-questions' },
): ItemSource<QuestionFacts> {
  const { seed, attendees, lookup } = plan;
  const { perSession } = layout;
  const render = layout.list === 'questions' ? questionItem : qnaQuestionItem;
  return {
    firstId: layout.firstId,
    blocks: plan.sessions.map((session) => ({ sessionId: session.id, count: perSession })),
    facts(index) {
      const { session, turn } = placeInBlocks(plan.sessions, perSession, index);
      const drawn = draw(seed, 20, index);
      const person = distinctIndex(turn, draw(seed, 21, session.id) % attendees.count, attendees.count);
      return {
        sessionId: session.id,
        attendeeId: attendees.firstId + person * ID_STRIDE,
        createdAtMs: instantInSession(seed, session, turn, perSession),
        content: questionText(drawn),
        status: drawnStatus(draw(seed, 22, index)),
        anonymous: session.anonymousResponses && draw(seed, 23, index) % 2 === 0,
      };
    },
    render: (id, facts) => render(id, facts, lookup),
    fields: (facts) => ({ sessionId: facts.sessionId, attendeeId: facts.attendeeId, status: facts.status }),
  };
}

function questionItem(id: number, facts: QuestionFacts, lookup: Lookup): JsonObject {
  return {
    attendeeId: facts.attendeeId,
    createdAt: isoInstant(facts.createdAtMs),
    session: sessionCopy(lookup, facts.sessionId),
    question: { id, content: facts.content, status: facts.status },
  };
}

/** An anonymous question keeps the asker's id and code beside the flag, as the real service does. */
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
