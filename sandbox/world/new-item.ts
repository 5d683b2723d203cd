import { LISTS, type ResponseListName, type SpaceListName } from '../list-name.js';
import type { IdOrder } from '../store/id-order.js';
import type { AnyTable } from '../store/item-table.js';
import { codeOfIndex } from './attendee-source.js';
import { CLOUD_WORDS } from './word-pools.js';
import { registrantProfile, type PigeonholeSpace, type SessionNow } from './pigeonhole-space.js';
import { POLL_OPTIONS, type PollVoteFacts } from './poll-source.js';
import { questionText, type QuestionStatus } from './question-source.js';
import { below, draw, pick } from './random.js';
import { sessionItem } from './conference-plan.js';

interface NewItem {
  space: PigeonholeSpace;
  list: SpaceListName;
  /** Seed of every random choice for the item. */
  drawn: number;
  nowMs: number;
  /** Session of the item; by default a session that suits the list, preferably one that is running. */
  sessionId?: number | undefined;
  /** Id of the item; by default the list's next id. */
  id?: number | undefined;
  /** Status of a question; by default half of the questions wait for a moderator. */
  status?: QuestionStatus;
}

/**
 * Adds a plausible item to a list and returns its id; undefined if a required session, attendee or question is missing.
 * A question appears in both of its lists.
 */
export function addNewItem(item: NewItem): number | undefined {
  const { space, list, nowMs, id } = item;
  switch (list) {
    case 'attendees': {
      const index = space.nextPersonIndex++;
      return space.attendees.add(
        { index, registrantId: null, attendeeCode: codeOfIndex(index), signedInAtMs: nowMs },
        id,
      );
    }
    case 'registrants': {
      const profile = registrantProfile(space.seed, space.nextPersonIndex++);
      const registrantId = id ?? space.registrants.freeId();
      return space.registrants.insert({ id: registrantId, ...profile }, registrantId);
    }
    case 'sessions': {
      const sessionId = id ?? space.sessions.freeId();
      const facts = {
        id: sessionId,
        pigeonholeId: space.id,
        name: `Session ${sessionId}`,
        type: 'qna',
        timezone: 'UTC',
      } as const;
      const times = { startsAtMs: nowMs, endsAtMs: nowMs + 3_600_000, createdAtMs: nowMs };
      const session = sessionItem({ ...facts, ...times, anonymousResponses: true, parentSessionId: null }, space.seed);
      return space.sessions.insert(session, sessionId);
    }
    default:
      return addResponse(item, list);
  }
}

function addResponse(item: NewItem, list: ResponseListName): number | undefined {
  const { space, drawn, nowMs, id } = item;
  const session = chooseSession(item);
  const attendeeId = idAtRandom(space.attendees.order(null, 'byId'), draw(drawn, 1));
  if (session === undefined || attendeeId === undefined) return undefined;
  const who = { sessionId: session.id, attendeeId, createdAtMs: nowMs };
  const anonymous = session.anonymousResponses && draw(drawn, 2) % 2 === 0;
  switch (list) {
    case 'questions':
    case 'qna-questions': {
      const status = item.status ?? (draw(drawn, 3) % 2 === 0 ? 'pending' : 'approved');
      const facts = { ...who, content: questionText(draw(drawn, 4)), status, anonymous };
      const questionId = space.questions.add(facts, id);
      return space.qnaQuestions.add(facts, questionId);
    }
    case 'votes':
    case 'answer_ratings': {
      const questionId = idAtRandom(space.questions.order(session.id, 'byId'), draw(drawn, 5));
      if (questionId === undefined) return undefined;
      const facts = { ...who, questionId, rate: 1 + (draw(drawn, 6) % 5) };
      return list === 'votes' ? space.votes.add(facts, id) : space.ratings.add(facts, id);
    }
    case 'answers':
      return space.answers.add({ ...who, content: pick(CLOUD_WORDS, draw(drawn, 7)), status: 'approved' }, id);
    default: {
      const facts: PollVoteFacts = {
        ...who,
        question: draw(drawn, 8) % LISTS[list].poll.questions,
        option: draw(drawn, 9) % POLL_OPTIONS,
        anonymous,
        timeTaken: 1 + (draw(drawn, 10) % 30),
      };
      return space.pollVotes[list].add(facts, id);
    }
  }
}

function chooseSession({ space, list, drawn, nowMs, sessionId }: NewItem): SessionNow | undefined {
  const sessions = space.sessionsNow();
  if (sessionId !== undefined) return sessions.get(sessionId);
  const suitable = [...sessions.values()].filter(({ type }) => type === LISTS[list].filledBy);
  const running = suitable.filter(({ startsAtMs, endsAtMs }) => (startsAtMs ?? 0) <= nowMs && nowMs < (endsAtMs ?? 0));
  const choice = running.length > 0 ? running : suitable;
  return choice[below(draw(drawn, 11), choice.length)];
}

/** Returns an id of an order, chosen by a drawn number; undefined if the order is empty. */
export function idAtRandom(order: IdOrder, drawn: number): number | undefined {
  return order.idAt(below(drawn, order.size));
}

/** Returns an id just below the newest one of a table, as for a row that commits late. */
export function lateId(table: AnyTable): number {
  const order = table.order(null, 'byId');
  const newest = order.idAt(order.size - 1);
  return newest === undefined ? table.freeId() : table.freeId(newest);
}
