import { type PigeonholeListName, pigeonholeLists } from '../../base/lists.js';

/**
 * What tests know of a list. It is written from the specification and not derived from base/lists.ts, because a judge
 * that asks the product whom a list shows repeats the product's mistakes. `base/lists.test.ts` compares both.
 */
export interface ListFacts {
  readonly shows: 'nobody' | 'a person' | 'an author with a flag' | 'an author without a flag';
  /** The list whose item with the same id has the anonymity flag of the author; null: the session decides, or no one is shown. */
  readonly flagIn: PigeonholeListName | null;
  /** Whether the list can be read only by session. Source: docs/service-contract.md, "Lists and filters". */
  readonly needsSession: boolean;
  /**
   * Whether an item that moves to another session leaves a stream for another one: a short answer of the other stream
   * then makes it look deleted (decision 0020).
   */
  readonly movesBetweenStreams: boolean;
  /** Members that repeat another item. */
  readonly copies: readonly string[];
}

const ofPigeonhole = {
  shows: 'nobody',
  flagIn: null,
  needsSession: false,
  movesBetweenStreams: false,
  copies: [],
} as const;

/** The facts of each list of a pigeonhole. The compiler refuses a list without facts. */
export const listFacts: Readonly<Record<PigeonholeListName, ListFacts>> = {
  sessions: ofPigeonhole,
  attendees: { ...ofPigeonhole, shows: 'a person' },
  questions: {
    ...ofPigeonhole,
    shows: 'an author without a flag',
    flagIn: 'qna-questions',
    copies: ['session'],
  },
  votes: { ...ofPigeonhole, shows: 'an author without a flag', needsSession: true, copies: ['session', 'question'] },
  answer_ratings: {
    ...ofPigeonhole,
    shows: 'an author without a flag',
    needsSession: true,
    movesBetweenStreams: true,
    copies: ['session', 'question'],
  },
  answers: {
    ...ofPigeonhole,
    shows: 'an author without a flag',
    needsSession: true,
    movesBetweenStreams: true,
    copies: ['session'],
  },
  'poll-mcq-votes': {
    ...ofPigeonhole,
    shows: 'an author with a flag',
    flagIn: 'poll-mcq-votes',
    copies: ['session', 'question', 'option'],
  },
  'poll-quiz-votes': {
    ...ofPigeonhole,
    shows: 'an author with a flag',
    flagIn: 'poll-quiz-votes',
    copies: ['session', 'question', 'option'],
  },
  'qna-questions': {
    ...ofPigeonhole,
    shows: 'an author with a flag',
    flagIn: 'qna-questions',
    copies: ['session'],
  },
};

/** Returns the lists of a pigeonhole whose facts meet a condition. */
export function listsWith(meets: (facts: ListFacts) => boolean): readonly PigeonholeListName[] {
  return pigeonholeLists.filter((list) => meets(listFacts[list]));
}

/** Returns the facts of a list by its name in a sink; undefined for a list that is not of one pigeonhole, or is derived. */
export function factsOf(list: string): ListFacts | undefined {
  return (listFacts as Readonly<Partial<Record<string, ListFacts>>>)[list];
}

/** Lists whose items have an author, who may be left out. */
export const authoredLists = listsWith(({ shows }) => shows.startsWith('an author'));
