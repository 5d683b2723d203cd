import { isJsonObject, type JsonObject } from '../json.js';
import { LISTS, type ListsWith, POLL_LISTS, type PollListName, type SpaceListName } from '../list-name.js';
import { createStoredTable, ItemTable, type AnyTable } from '../store/item-table.js';
import {
  codeOfIndex,
  attendeeIndexOfRegistrant,
  createAttendeeSource,
  profileOf,
  registrantCountOf,
  type AttendeeFacts,
  indexOfCode,
  registrantIndexOfAttendee,
} from './attendee-source.js';
import {
  createCloudAnswerSource,
  type CloudAnswerFacts,
  createPollVoteSource,
  type PollVoteFacts,
} from './poll-source.js';
import {
  type ConferenceSize,
  type PigeonholePlan,
  sessionItem,
  isSessionType,
  type SessionType,
} from './conference-plan.js';
import type { ActiveSession, Lookup, ResponsePlan } from './lookup.js';
import {
  createReactionSource,
  type ReactionFacts,
  createQuestionSource,
  type QuestionFacts,
} from './question-source.js';
import { childSeed } from './random.js';
import { ID_STRIDE } from '../store/id-order.js';

/** Distance between the ids of a list in two pigeonholes; the first pigeonholes stay below 2^31. */
const IDS_PER_PIGEONHOLE = 100_000_000;

/** The current fields of a session that other items need. */
export interface SessionNow {
  id: number;
  name: string;
  type: SessionType;
  anonymousResponses: boolean;
  /** Null if the session has no times. */
  startsAtMs: number | null;
  endsAtMs: number | null;
}

/** Everything inside one pigeonhole: a table for each of its lists. */
export class PigeonholeSpace {
  readonly id: number;
  readonly seed: number;
  readonly sessions: ItemTable<JsonObject>;
  readonly attendees: ItemTable<AttendeeFacts>;
  readonly registrants: ItemTable<JsonObject>;
  readonly questions: ItemTable<QuestionFacts>;
  readonly qnaQuestions: ItemTable<QuestionFacts>;
  readonly votes: ItemTable<ReactionFacts>;
  readonly ratings: ItemTable<ReactionFacts>;
  readonly answers: ItemTable<CloudAnswerFacts>;
  readonly pollVotes: Readonly<Record<PollListName, ItemTable<PollVoteFacts>>>;
  readonly desk = new RegistrantDesk(this);
  /** People with an index below this one were present from the start. */
  readonly generatedPeople: number;
  readonly firstRegistrantId: number;
  /** The organizer's estimate, which only the single read of a pigeonhole shows. */
  readonly expectedParticipants: number;
  /** Index of the next new person. */
  nextPersonIndex: number;
  #sessionsNow: { version: number; byId: Map<number, SessionNow> } | null = null;

  constructor(size: ConferenceSize, plan: PigeonholePlan) {
    this.id = plan.facts.id;
    this.seed = childSeed(size.seed, plan.facts.id);
    const seed = this.seed;
    const first = (list: ListsWith<'firstId', number>): number => LISTS[list].firstId + plan.place * IDS_PER_PIGEONHOLE;
    this.generatedPeople = plan.attendees;
    this.firstRegistrantId = first('registrants');
    this.expectedParticipants = Math.max(plan.attendees, 100);
    this.nextPersonIndex = plan.attendees;

    this.sessions = createStoredTable(plan.sessions[0]?.id ?? 1 + plan.place * IDS_PER_PIGEONHOLE, seed);
    for (const session of plan.sessions) this.sessions.insert(sessionItem(session, seed), session.id);

    this.attendees = new ItemTable(
      createAttendeeSource({
        seed,
        count: plan.attendees,
        firstId: first('attendees'),
        firstRegistrantId: first('registrants'),
        opensAtMs: plan.opensAtMs,
        closesAtMs: plan.closesAtMs,
      }),
      seed,
    );
    this.registrants = new ItemTable<JsonObject>(
      {
        firstId: first('registrants'),
        blocks: [{ sessionId: null, count: registrantCountOf(plan.attendees) }],
        facts: (index) => registrantProfile(seed, attendeeIndexOfRegistrant(index)),
        render: (id, profile) => ({ id, ...profile }),
      },
      seed,
    );

    const responses = (types: readonly SessionType[]): ResponsePlan => ({
      seed,
      sessions: plan.attendees === 0 ? [] : activeSessions(plan, types),
      attendees: { firstId: first('attendees'), count: plan.attendees },
      lookup: this.#lookup(),
    });
    const qna = responses(['qna']);
    const questions = { firstId: first('questions'), perSession: size.questions };
    this.questions = new ItemTable(createQuestionSource(qna, { ...questions, list: 'questions' }), seed);
    this.qnaQuestions = new ItemTable(createQuestionSource(qna, { ...questions, list: 'qna-questions' }), seed);
    const votes = Math.min(size.votes, size.questions * plan.attendees);
    const ratings = Math.min(size.questions, votes);
    this.votes = new ItemTable(
      createReactionSource(qna, { list: 'votes', firstId: first('votes'), perSession: votes, questions }),
      seed,
    );
    this.ratings = new ItemTable(
      createReactionSource(qna, {
        list: 'answer_ratings',
        firstId: first('answer_ratings'),
        perSession: ratings,
        questions,
      }),
      seed,
    );
    const people = Math.min(size.responses, plan.attendees);
    this.answers = new ItemTable(
      createCloudAnswerSource(responses(['poll_word_cloud']), { firstId: first('answers'), perSession: people }),
      seed,
    );
    const pollVotes = (list: PollListName): ItemTable<PollVoteFacts> => {
      const { poll, filledBy } = LISTS[list];
      const layout = { list, firstId: first(list), perSession: people * poll.questions };
      return new ItemTable(createPollVoteSource(responses([filledBy]), layout), seed);
    };
    this.pollVotes = Object.fromEntries(POLL_LISTS.map((list) => [list, pollVotes(list)])) as typeof this.pollVotes;
  }

  table(list: SpaceListName): AnyTable {
    return {
      sessions: this.sessions,
      attendees: this.attendees,
      registrants: this.registrants,
      questions: this.questions,
      'qna-questions': this.qnaQuestions,
      votes: this.votes,
      answer_ratings: this.ratings,
      answers: this.answers,
      ...this.pollVotes,
    }[list];
  }

  /** Returns the current sessions in the order of their ids. */
  sessionsNow(): ReadonlyMap<number, SessionNow> {
    if (this.#sessionsNow?.version === this.sessions.version) return this.#sessionsNow.byId;
    const byId = new Map<number, SessionNow>();
    const order = this.sessions.order(null, 'byId');
    for (let rank = 0; rank < order.size; rank += 1) {
      const id = order.idAt(rank);
      const item = id === undefined ? undefined : this.sessions.item(id);
      if (id !== undefined && item !== undefined) byId.set(id, sessionNow(id, item));
    }
    this.#sessionsNow = { version: this.sessions.version, byId };
    return byId;
  }

  #lookup(): Lookup {
    return {
      session: (id) => this.sessionsNow().get(id) ?? sessionNow(id, this.sessions.itemOrRemoved(id) ?? {}),
      question: (id) => {
        const question = this.questions.itemOrRemoved(id)?.['question'];
        const { content, status } = isJsonObject(question) ? question : {};
        return {
          content: typeof content === 'string' ? content : '',
          status: typeof status === 'string' ? status : 'withdrawn',
        };
      },
      attendeeCode: (id) => {
        const code = this.attendees.facts(id)?.attendeeCode ?? this.attendees.itemOrRemoved(id)?.['attendeeCode'];
        return typeof code === 'string' ? code : '';
      },
    };
  }
}

/** Returns a registrant's code and profile fields. */
export function registrantProfile(seed: number, personIndex: number): JsonObject {
  const { first: _first, last: _last, ...profile } = profileOf(seed, personIndex);
  return { attendeeCode: codeOfIndex(personIndex), ...profile };
}

/** Returns started sessions of some types, with the part of their time in the generated past. */
function activeSessions(plan: PigeonholePlan, types: readonly SessionType[]): ActiveSession[] {
  const active: ActiveSession[] = [];
  for (const { id, type, anonymousResponses, startsAtMs, endsAtMs } of plan.sessions) {
    if (!types.includes(type) || startsAtMs === null || endsAtMs === null || startsAtMs >= plan.closesAtMs) continue;
    active.push({ id, type, anonymousResponses, fromMs: startsAtMs, toMs: Math.min(endsAtMs, plan.closesAtMs) });
  }
  return active;
}

function sessionNow(id: number, item: JsonObject): SessionNow {
  const { name, type, anonymousResponses, startDate, endDate } = item;
  return {
    id,
    name: typeof name === 'string' ? name : '',
    type: isSessionType(type) ? type : 'regular',
    anonymousResponses: anonymousResponses === true,
    startsAtMs: typeof startDate === 'string' ? Date.parse(startDate) : null,
    endsAtMs: typeof endDate === 'string' ? Date.parse(endDate) : null,
  };
}

/**
 * The registrants of a pigeonhole: generated ones, whose codes can be computed, and those created through the API.
 * Keeps track of the latter until they sign in.
 */
class RegistrantDesk {
  readonly #space: PigeonholeSpace;
  readonly #idByCode = new Map<string, number>();
  readonly #awaiting = new Set<number>();

  constructor(space: PigeonholeSpace) {
    this.#space = space;
  }

  /** Returns the id of the registrant with a code; undefined if the code is free. */
  idOf(code: string): number | undefined {
    const created = this.#idByCode.get(code);
    if (created !== undefined) return created;
    const person = indexOfCode(code);
    if (person === null || person >= this.#space.generatedPeople) return undefined;
    const index = registrantIndexOfAttendee(person);
    const id = index === null ? undefined : this.#space.firstRegistrantId + index * ID_STRIDE;
    return id !== undefined && this.#space.registrants.has(id) ? id : undefined;
  }

  /** Creates a registrant and returns its id. The caller must check that the code is free. */
  register(profile: JsonObject & { attendeeCode: string }): number {
    const id = this.#space.registrants.freeId();
    this.#space.registrants.insert({ id, ...profile }, id);
    this.#idByCode.set(profile.attendeeCode, id);
    this.#awaiting.add(id);
    return id;
  }

  /** Overwrites the profile of the registrant with this code. */
  replace(profile: JsonObject & { attendeeCode: string }): void {
    const id = this.idOf(profile.attendeeCode);
    if (id !== undefined) this.#space.registrants.insert({ id, ...profile }, id);
  }

  /** Returns the oldest created registrant who has not signed in; undefined if there is none. */
  longestAwaiting(): number | undefined {
    return this.#awaiting.values().next().value;
  }

  /**
   * Signs a registrant in as an attendee with the same code and profile, and returns the attendee's id; undefined if
   * the registrant does not exist. Signing in twice creates two attendees, as with two devices.
   */
  signIn(registrantId: number, nowMs: number): number | undefined {
    const registrant = this.#space.registrants.item(registrantId);
    if (registrant === undefined) return undefined;
    this.#awaiting.delete(registrantId);
    const { id: _id, attendeeCode, ...profile } = registrant;
    const attendeeId = this.#space.attendees.add({
      index: this.#space.nextPersonIndex++,
      registrantId,
      attendeeCode: typeof attendeeCode === 'string' ? attendeeCode : '',
      signedInAtMs: nowMs,
    });
    this.#space.attendees.patch(attendeeId, profile);
    return attendeeId;
  }
}
