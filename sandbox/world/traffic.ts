import { isJsonObject, type JsonObject } from '../json.js';
import type { ResponseListName, SpaceListName } from '../list-name.js';
import type { Conference } from './conference.js';
import { mutate } from './mutations.js';
import { addNewItem, idAtRandom, lateId } from './new-item.js';
import type { PigeonholeSpace, SessionNow } from './pigeonhole-space.js';
import { draw, fraction, pick, below } from './random.js';
import { COMPANIES, JOB_TITLES } from './word-pools.js';

/** Kinds of live events with their relative frequencies. */
const DEFAULT_WEIGHTS = {
  signIn: 18,
  question: 12,
  vote: 24,
  rating: 5,
  answer: 9,
  mcqVote: 9,
  quizVote: 6,
  moderation: 7,
  editQuestion: 2,
  withdrawal: 2,
  editProfile: 4,
  consent: 2,
  voteWithdrawal: 2,
  deletion: 1,
  reappearance: 1,
  move: 1,
  renameSession: 1,
} as const;

type EventKind = keyof typeof DEFAULT_WEIGHTS;

export const EVENT_KINDS = Object.keys(DEFAULT_WEIGHTS) as EventKind[];

/** The event that adds an item to a list of interactions; null: the event of another list adds it. */
const EVENT_OF_LIST = {
  questions: 'question',
  votes: 'vote',
  answer_ratings: 'rating',
  answers: 'answer',
  'poll-mcq-votes': 'mcqVote',
  'poll-quiz-votes': 'quizVote',
  'qna-questions': null, // a question is in both of its lists
} as const satisfies Readonly<Record<ResponseListName, EventKind | null>>;

type AddingEvent = Exclude<(typeof EVENT_OF_LIST)[ResponseListName], null>;

const LIST_OF_EVENT = Object.fromEntries(
  Object.entries(EVENT_OF_LIST).map(([list, event]) => [event, list]),
) as Readonly<Record<AddingEvent, ResponseListName>>;

const TICK_MS = 50;

interface TrafficOptions {
  conference: Conference;
  seed: number;
  /** Milliseconds since 1970. */
  now(): number;
  settings(): {
    withdrawal: 'status' | 'remove';
    lateRowShare: number;
    /** Relative frequencies that replace the defaults. */
    traffic: Partial<Record<EventKind, number>>;
  };
}

/**
 * Simulates the live activity of the audience as a sequence of events. The seed and the earlier events determine the
 * n-th event; only its time depends on the clock. While frozen, only `emit` causes events, so that a test can cause an
 * exact number.
 */
export class Traffic {
  readonly #options: TrafficOptions;
  readonly #pending = new Map<number, number[]>();
  #emitted = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  get emitted(): number {
    return this.#emitted;
  }

  get frozen(): boolean {
    return this.#timer === null;
  }

  /** Starts or continues at this rate, in events per second; 0 freezes it. */
  thaw(eventsPerSecond: number): void {
    this.freeze();
    if (eventsPerSecond <= 0) return;
    const startedAtMs = performance.now();
    let done = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAtMs) / 1000) * eventsPerSecond);
      if (due > done) this.emit(due - done);
      done = due;
    }, TICK_MS);
  }

  freeze(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /**
   * Emits the next events immediately. `kind` selects their kind; the seed and the number of earlier events still
   * determine the rest.
   */
  emit(count: number, kind?: EventKind): void {
    for (let event = 0; event < count; event += 1) {
      const drawn = draw(this.#options.seed, 0x7aff, this.#emitted);
      this.#emitted += 1;
      const live = this.#liveSpaces();
      if (live.length === 0) continue;
      const space = pick(live, draw(drawn, 30));
      const happening = { conference: this.#options.conference, space, drawn, nowMs: this.#options.now() };
      this.#happen(kind ?? this.#drawnKind(draw(drawn, 31)), happening);
    }
  }

  #liveSpaces(): PigeonholeSpace[] {
    const { conference } = this.#options;
    return conference.spaces().filter((space) => conference.pigeonholes.item(space.id)?.['status'] === 'live');
  }

  #happen(kind: EventKind, happening: Happening): void {
    const { space, drawn, nowMs } = happening;
    switch (kind) {
      case 'signIn':
        return this.#signIn(happening);
      case 'moderation':
        return this.#moderate(happening);
      case 'withdrawal':
        return this.#options.settings().withdrawal === 'status'
          ? patchQuestion(happening, () => ({ status: 'withdrawn' }))
          : deleteFrom('questions', happening, 36);
      case 'editQuestion':
        return patchQuestion(happening, (item) => ({ content: `${contentOf(item)} (edited)` }));
      case 'editProfile': {
        const item = { Company: pick(COMPANIES, draw(drawn, 32)), 'Job title': pick(JOB_TITLES, draw(drawn, 33)) };
        return patchAttendee(happening, () => item);
      }
      case 'consent':
        return patchAttendee(happening, (item) => ({ consent: otherConsent(item, nowMs) }));
      case 'voteWithdrawal':
        return deleteFrom('votes', happening);
      case 'deletion':
        return deleteAnything(happening);
      case 'reappearance':
        return bringBack(happening);
      case 'move':
        return moveToAnotherSession(happening);
      case 'renameSession':
        return renameSession(happening);
      default: {
        const list = LIST_OF_EVENT[kind];
        const id = addNewItem({ space, list, drawn, nowMs, id: this.#lateId(space, list, drawn) });
        if (kind === 'question' && id !== undefined) this.#noteIfPending(space, id);
      }
    }
  }

  #drawnKind(drawn: number): EventKind {
    const weights: Record<EventKind, number> = { ...DEFAULT_WEIGHTS, ...this.#options.settings().traffic };
    const total = EVENT_KINDS.reduce((sum, kind) => sum + weights[kind], 0);
    let place = fraction(drawn) * total;
    for (const kind of EVENT_KINDS) {
      if (place < weights[kind]) return kind;
      place -= weights[kind];
    }
    return 'vote';
  }

  #lateId(space: PigeonholeSpace, list: SpaceListName, drawn: number): number | undefined {
    const late = fraction(draw(drawn, 34)) < this.#options.settings().lateRowShare;
    return late ? lateId(space.table(list)) : undefined;
  }

  /** Signs a person in. Half of them are registrants, as long as some have not signed in. */
  #signIn({ space, drawn, nowMs }: Happening): void {
    const expected = draw(drawn, 35) % 2 === 0 ? space.desk.longestAwaiting() : undefined;
    if (expected !== undefined) space.desk.signIn(expected, nowMs);
    else addNewItem({ space, list: 'attendees', drawn, nowMs, id: this.#lateId(space, 'attendees', drawn) });
  }

  #noteIfPending(space: PigeonholeSpace, questionId: number): void {
    if (space.qnaQuestions.item(questionId)?.['status'] !== 'pending') return;
    const waiting = this.#pending.get(space.id) ?? [];
    waiting.push(questionId);
    this.#pending.set(space.id, waiting);
  }

  /** Approves the question that has waited longest. If none is waiting, archives or restores a question. */
  #moderate(happening: Happening): void {
    const waiting = this.#pending.get(happening.space.id)?.shift();
    if (waiting !== undefined && happening.space.qnaQuestions.has(waiting)) {
      patchItem('qna-questions', happening, waiting, { status: 'allowed' });
    } else patchQuestion(happening, ({ status }) => ({ status: status === 'allowed' ? 'archived' : 'allowed' }));
  }
}

type Patch = (item: JsonObject) => JsonObject;

function patchQuestion(happening: Happening, patchOf: Patch): void {
  patchAtRandom('qna-questions', happening, draw(happening.drawn, 36), patchOf);
}

function patchAttendee(happening: Happening, patchOf: Patch): void {
  patchAtRandom('attendees', happening, draw(happening.drawn, 37), patchOf);
}

/** Patches a random item of a list. No effect if the list is empty. */
function patchAtRandom(list: SpaceListName, happening: Happening, drawn: number, patchOf: Patch): void {
  const table = happening.space.table(list);
  const id = idAtRandom(table.order(null, 'byId'), drawn);
  const item = id === undefined ? undefined : table.item(id);
  if (id !== undefined && item !== undefined) patchItem(list, happening, id, patchOf(item));
}

function patchItem(list: SpaceListName, { conference, space, nowMs }: Happening, id: number, item: JsonObject): void {
  mutate(conference, { op: 'patch', list, pigeonholeId: space.id, id, item }, nowMs);
}

function contentOf(item: JsonObject): string {
  return typeof item['content'] === 'string' ? item['content'] : '';
}

/** Returns the opposite consent: given becomes refused, and anything else becomes given. */
function otherConsent({ consent }: JsonObject, nowMs: number): JsonObject {
  if (isJsonObject(consent) && consent['obtained'] === true) return { obtained: false, obtainedAt: null };
  return { obtained: true, obtainedAt: new Date(nowMs).toISOString() };
}

/** Place of an event, and the seed of its random choices. */
interface Happening {
  readonly conference: Conference;
  readonly space: PigeonholeSpace;
  readonly drawn: number;
  readonly nowMs: number;
}

/** Whether a deletion may affect a list. A question leaves both of its lists; votes have an event of their own. */
const LOSES_ITEMS = {
  questions: true,
  answers: true,
  answer_ratings: true,
  'poll-mcq-votes': true,
  'poll-quiz-votes': true,
  attendees: true,
  'qna-questions': false,
  votes: false,
  sessions: false,
  registrants: false,
} as const satisfies Readonly<Record<SpaceListName, boolean>>;

const DELETABLE = (Object.keys(LOSES_ITEMS) as SpaceListName[]).filter((list) => LOSES_ITEMS[list]);

/** Removes a random item from a list. No effect if the list is empty. */
function deleteFrom(list: SpaceListName, { conference, space, drawn, nowMs }: Happening, purpose = 40): void {
  const id = idAtRandom(space.table(list).order(null, 'byId'), draw(drawn, purpose));
  if (id !== undefined) mutate(conference, { op: 'delete', list, pigeonholeId: space.id, id }, nowMs);
}

/** Removes one item from a random list. */
function deleteAnything(happening: Happening): void {
  deleteFrom(pick(DELETABLE, draw(happening.drawn, 41)), happening);
}

/** Restores a deleted item unchanged. If none is deleted, deletes one. */
function bringBack(happening: Happening): void {
  const { conference, space, drawn, nowMs } = happening;
  const gone = conference.absences.openIn(space.id);
  if (gone.length === 0) return deleteAnything(happening);
  const { list, id } = pick(gone, draw(drawn, 42));
  mutate(conference, { op: 'restore', list, pigeonholeId: space.id, id }, nowMs);
}

/** Moves a question, or occasionally an answer, to another session of the same kind. No effect if there is only one. */
function moveToAnotherSession(happening: Happening): void {
  const { space, drawn } = happening;
  const answers = sessionsOf(space, 'poll_word_cloud');
  const list = draw(drawn, 43) % 3 === 0 && answers.length > 1 ? 'answers' : 'questions';
  const sessions = list === 'answers' ? answers : sessionsOf(space, 'qna');
  const id = idAtRandom(space.table(list).order(null, 'byId'), draw(drawn, 44));
  if (id === undefined) return;
  const from = space.table(list).fields(id)?.sessionId;
  const others = sessions.filter((session) => session.id !== from);
  const to = others[below(draw(drawn, 45), others.length)];
  if (to === undefined) return;
  patchItem(list, happening, id, { session: { id: to.id, name: to.name, type: to.type } });
}

/** Renames a session. The name is part of the session, and every item created in it contains a copy. */
function renameSession(happening: Happening): void {
  const { space, drawn } = happening;
  const id = idAtRandom(space.sessions.order(null, 'byId'), draw(drawn, 46));
  if (id === undefined) return;
  const name = `${nameOf(space.sessions.item(id))} (room ${1 + (draw(drawn, 47) % 90)})`;
  patchItem('sessions', happening, id, { name });
}

function sessionsOf(space: PigeonholeSpace, type: SessionNow['type']): SessionNow[] {
  return [...space.sessionsNow().values()].filter((session) => session.type === type);
}

/** Drops the room that an earlier event added to the name. */
function nameOf(session: JsonObject | undefined): string {
  const name = isJsonObject(session) ? session['name'] : undefined;
  return typeof name === 'string' ? name.replace(/ \(room \d+\)$/, '') : '';
}
