import { isJsonObject, type JsonObject } from '../json.js';
import type { SpaceListName } from '../list-name.js';
import type { Conference } from './conference.js';
import {
  bringBack,
  deleteAnything,
  deleteFrom,
  type Happening,
  moveToAnotherSession,
  renameSession,
} from './departures.js';
import { mutate } from './mutations.js';
import { addNewItem, idAtRandom, lateId } from './new-item.js';
import type { PigeonholeSpace } from './pigeonhole-space.js';
import { draw, fraction, pick } from './random.js';
import { COMPANIES, JOB_TITLES } from './word-pools.js';

/** Kinds of live events with their relative frequencies. */
export const DEFAULT_WEIGHTS = {
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

export type EventKind = keyof typeof DEFAULT_WEIGHTS;

export const EVENT_KINDS = Object.keys(DEFAULT_WEIGHTS) as EventKind[];

const LIST_OF_EVENT: Partial<Record<EventKind, SpaceListName>> = {
  question: 'questions',
  vote: 'votes',
  rating: 'answer_ratings',
  answer: 'answers',
  mcqVote: 'poll-mcq-votes',
  quizVote: 'poll-quiz-votes',
};

const TICK_MS = 50;

export interface TrafficOptions {
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
      this.#happen(pick(live, draw(drawn, 30)), kind ?? this.#drawnKind(draw(drawn, 31)), drawn);
    }
  }

  #liveSpaces(): PigeonholeSpace[] {
    const { conference } = this.#options;
    return conference.spaces().filter((space) => conference.pigeonholes.item(space.id)?.['status'] === 'live');
  }

  #happen(space: PigeonholeSpace, kind: EventKind, drawn: number): void {
    const nowMs = this.#options.now();
    switch (kind) {
      case 'signIn':
        return this.#signIn(space, drawn, nowMs);
      case 'moderation':
        return this.#moderate(space, drawn, nowMs);
      case 'editQuestion':
        return this.#patchQuestion(space, drawn, (item) => ({ content: `${contentOf(item)} (edited)` }), nowMs);
      case 'withdrawal':
        return this.#withdraw(space, drawn, nowMs);
      case 'editProfile':
        return this.#patchAttendee(
          space,
          drawn,
          () => ({ Company: pick(COMPANIES, draw(drawn, 32)), 'Job title': pick(JOB_TITLES, draw(drawn, 33)) }),
          nowMs,
        );
      case 'consent':
        return this.#patchAttendee(space, drawn, (item) => ({ consent: otherConsent(item, nowMs) }), nowMs);
      case 'voteWithdrawal':
        return deleteFrom('votes', this.#happening(space, drawn, nowMs));
      case 'deletion':
        return deleteAnything(this.#happening(space, drawn, nowMs));
      case 'reappearance':
        return bringBack(this.#happening(space, drawn, nowMs));
      case 'move':
        return moveToAnotherSession(this.#happening(space, drawn, nowMs));
      case 'renameSession':
        return renameSession(this.#happening(space, drawn, nowMs));
      default: {
        const list = LIST_OF_EVENT[kind];
        if (list === undefined) return;
        const id = addNewItem({ space, list, drawn, nowMs, id: this.#lateId(space, list, drawn) });
        if (kind === 'question' && id !== undefined) this.#noteIfPending(space, id);
      }
    }
  }

  #happening(space: PigeonholeSpace, drawn: number, nowMs: number): Happening {
    return { conference: this.#options.conference, space, drawn, nowMs };
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
  #signIn(space: PigeonholeSpace, drawn: number, nowMs: number): void {
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
  #moderate(space: PigeonholeSpace, drawn: number, nowMs: number): void {
    const waiting = this.#pending.get(space.id)?.shift();
    if (waiting !== undefined && space.qnaQuestions.has(waiting)) {
      this.#mutateQuestion(space, waiting, { status: 'allowed' }, nowMs);
      return;
    }
    this.#patchQuestion(
      space,
      drawn,
      ({ status }) => ({ status: status === 'allowed' ? 'archived' : 'allowed' }),
      nowMs,
    );
  }

  #withdraw(space: PigeonholeSpace, drawn: number, nowMs: number): void {
    if (this.#options.settings().withdrawal === 'status') {
      this.#patchQuestion(space, drawn, () => ({ status: 'withdrawn' }), nowMs);
      return;
    }
    const id = idAtRandom(space.questions.order(null, 'byId'), draw(drawn, 36));
    if (id === undefined) return;
    mutate(this.#options.conference, { op: 'delete', list: 'questions', pigeonholeId: space.id, id }, nowMs);
  }

  #patchQuestion(
    space: PigeonholeSpace,
    drawn: number,
    patchOf: (item: JsonObject) => JsonObject,
    nowMs: number,
  ): void {
    const id = idAtRandom(space.qnaQuestions.order(null, 'byId'), draw(drawn, 36));
    const item = id === undefined ? undefined : space.qnaQuestions.item(id);
    if (id !== undefined && item !== undefined) this.#mutateQuestion(space, id, patchOf(item), nowMs);
  }

  #mutateQuestion(space: PigeonholeSpace, id: number, item: JsonObject, nowMs: number): void {
    mutate(this.#options.conference, { op: 'patch', list: 'qna-questions', pigeonholeId: space.id, id, item }, nowMs);
  }

  #patchAttendee(
    space: PigeonholeSpace,
    drawn: number,
    patchOf: (item: JsonObject) => JsonObject,
    nowMs: number,
  ): void {
    const id = idAtRandom(space.attendees.order(null, 'byId'), draw(drawn, 37));
    const item = id === undefined ? undefined : space.attendees.item(id);
    if (id === undefined || item === undefined) return;
    const { conference } = this.#options;
    mutate(conference, { op: 'patch', list: 'attendees', pigeonholeId: space.id, id, item: patchOf(item) }, nowMs);
  }
}

function contentOf(item: JsonObject): string {
  return typeof item['content'] === 'string' ? item['content'] : '';
}

/** Returns the opposite consent: given becomes refused, and anything else becomes given. */
function otherConsent({ consent }: JsonObject, nowMs: number): JsonObject {
  if (isJsonObject(consent) && consent['obtained'] === true) return { obtained: false, obtainedAt: null };
  return { obtained: true, obtainedAt: new Date(nowMs).toISOString() };
}
