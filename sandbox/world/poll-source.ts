import type { JsonObject } from '../json.js';
import { LISTS, type PollListName } from '../list-name.js';
import type { ItemSource } from '../store/item-table.js';
import {
  createResponseSource,
  distinctIndex,
  isoInstant,
  sessionCopy,
  type ResponseFacts,
  type ResponsePlan,
} from './lookup.js';
import { draw, pick } from './random.js';
import { SUBJECTS, CLOUD_WORDS } from './word-pools.js';

/** A vote in a multiple-choice poll or a quiz. */
export interface PollVoteFacts extends ResponseFacts {
  /** Index of the question in the session, from 0. */
  question: number;
  /** Index of the option in the question, from 0. */
  option: number;
  anonymous: boolean;
  /** Time that the attendee needed, in seconds. Shown only in a quiz. */
  timeTaken: number;
}

/** Number of options of a poll question. */
export const POLL_OPTIONS = 4;

interface PollLayout {
  list: PollListName;
  firstId: number;
  perSession: number;
}

/** Creates the source of votes in polls and quizzes. Every voter of a session votes once on each question, in order. */
export function createPollVoteSource(plan: ResponsePlan, layout: PollLayout): ItemSource<PollVoteFacts> {
  const { seed, attendees, lookup } = plan;
  const { questions, isTimed, purpose } = LISTS[layout.list].poll;
  return createResponseSource<Omit<PollVoteFacts, keyof ResponseFacts>>(plan, layout, {
    person({ session, turn }) {
      const start = draw(seed, purpose, session.id) % attendees.count;
      return distinctIndex(Math.floor(turn / questions), start, attendees.count);
    },
    own: ({ session, turn, index }) => ({
      question: turn % questions,
      option: draw(seed, purpose + 1, index) % POLL_OPTIONS,
      anonymous: session.anonymousResponses && draw(seed, purpose + 2, index) % 2 === 0,
      timeTaken: 1 + (draw(seed, purpose + 3, index) % 30),
    }),
    render(id, facts) {
      const attendee: JsonObject = { id: facts.attendeeId, anonymous: facts.anonymous };
      const item: JsonObject = {
        id,
        createdAt: isoInstant(facts.createdAtMs),
        attendee,
        session: { id: facts.sessionId, name: lookup.session(facts.sessionId).name },
        ...pollQuestion(seed, facts),
      };
      if (isTimed) {
        attendee['attendeeCode'] = lookup.attendeeCode(facts.attendeeId);
        item['timeTaken'] = facts.timeTaken;
      }
      return item;
    },
  });
}

function pollQuestionId(sessionId: number, question: number): number {
  return sessionId * 100 + question;
}

function pollQuestion(seed: number, facts: PollVoteFacts): { question: JsonObject; option: JsonObject } {
  const questionId = pollQuestionId(facts.sessionId, facts.question);
  return {
    question: {
      id: questionId,
      content: `Which is closest to your view of ${pick(SUBJECTS, draw(seed, 61, questionId))}?`,
    },
    option: {
      id: questionId * 10 + facts.option,
      content: pick(['Strongly agree', 'Agree', 'Disagree', 'Not sure'], facts.option * 2 ** 30),
    },
  };
}

export interface CloudAnswerFacts extends ResponseFacts {
  content: string;
  status: string;
}

/** Statuses of word-cloud answers. Only `approved` is documented. */
export const CLOUD_STATUSES = ['approved', 'pending', 'filtered'] as const;

/** Creates the source of answers to word clouds. */
export function createCloudAnswerSource(
  plan: ResponsePlan,
  layout: { firstId: number; perSession: number },
): ItemSource<CloudAnswerFacts> {
  const { seed, attendees, lookup } = plan;
  return createResponseSource<Omit<CloudAnswerFacts, keyof ResponseFacts>>(plan, layout, {
    person: ({ session, turn }) => distinctIndex(turn, draw(seed, 50, session.id) % attendees.count, attendees.count),
    own({ index }) {
      const moderated = draw(seed, 51, index) % 20;
      return {
        content: pick(CLOUD_WORDS, draw(seed, 52, index)),
        status: moderated < 18 ? 'approved' : moderated === 18 ? 'pending' : 'filtered',
      };
    },
    render: (id, facts) => ({
      attendeeId: facts.attendeeId,
      createdAt: isoInstant(facts.createdAtMs),
      session: sessionCopy(lookup, facts.sessionId),
      answer: { id, content: facts.content, status: facts.status },
    }),
  });
}
