/** The facts of the specification about a list, and those that the simulated world needs to fill it. */
interface ListFacts {
  /** The owner of the list: the workspace, or one pigeonhole. */
  readonly of: 'workspace' | 'pigeonhole';
  /** False: the list has no read operation. */
  readonly isReadable: boolean;
  /** The documented filters. Everything else in a query is ignored ("Filtering", rule 4). */
  readonly filters: readonly string[];
  /** Whether the list cannot be read without `filter[sessionId]`. */
  readonly needsSession: boolean;
  /** The member that holds an item's id; null: the item itself. */
  readonly idWithin: string | null;
  /** False: items show no id of their own. */
  readonly hasIds: boolean;
  /** Type of the sessions in which the items are created; null: the items are no interactions. */
  readonly filledBy: 'qna' | 'poll_word_cloud' | 'poll_multiple_choice' | 'poll_quiz' | null;
  /** Id of the first pigeonhole's first item; null: chosen elsewhere. */
  readonly firstId: number | null;
  /** For votes on the options of poll questions: the poll. */
  readonly poll: PollFacts | null;
}

interface PollFacts {
  /** Number of questions in a session. */
  readonly questions: number;
  /** Whether items show the time that the attendee needed, and the attendee's code. */
  readonly isTimed: boolean;
  /** Seed of the random choices; another one for each list, in steps of ten. */
  readonly purpose: number;
}

const common = {
  of: 'pigeonhole',
  isReadable: true,
  needsSession: false,
  idWithin: null,
  hasIds: true,
  filledBy: null,
  firstId: null,
  poll: null,
} as const;

/** The lists of the service, by the last segment of their path, and `registrants`, which has no read operation. */
export const LISTS = {
  pigeonholes: { ...common, of: 'workspace', filters: ['status', 'timezone'] },
  subscriptions: { ...common, of: 'workspace', filters: [] },
  sessions: { ...common, filters: ['startsBefore'] },
  attendees: { ...common, filters: [], firstId: 1_000_001 },
  questions: { ...common, filters: ['sessionId'], idWithin: 'question', filledBy: 'qna', firstId: 9_001 },
  votes: {
    ...common,
    filters: ['sessionId', 'questionId'],
    needsSession: true,
    idWithin: 'question',
    hasIds: false,
    filledBy: 'qna',
    firstId: 1,
  },
  answer_ratings: {
    ...common,
    filters: ['sessionId', 'questionId', 'ratingBetween'],
    needsSession: true,
    idWithin: 'answerRating',
    filledBy: 'qna',
    firstId: 3_001,
  },
  answers: {
    ...common,
    filters: ['sessionId', 'status'],
    needsSession: true,
    idWithin: 'answer',
    filledBy: 'poll_word_cloud',
    firstId: 4_001,
  },
  'poll-mcq-votes': {
    ...common,
    filters: ['sessionId', 'attendeeId'],
    filledBy: 'poll_multiple_choice',
    firstId: 6_001,
    poll: { questions: 3, isTimed: false, purpose: 60 },
  },
  'poll-quiz-votes': {
    ...common,
    filters: ['sessionId', 'attendeeId'],
    filledBy: 'poll_quiz',
    firstId: 7_001,
    poll: { questions: 5, isTimed: true, purpose: 70 },
  },
  'qna-questions': { ...common, filters: ['attendeeId'], filledBy: 'qna' }, // the questions of `questions`
  registrants: { ...common, isReadable: false, filters: [], firstId: 2_000_001 },
} as const satisfies Readonly<Record<string, ListFacts>>;

type Lists = typeof LISTS;
export type ListsWith<Fact extends keyof ListFacts, Value> = {
  [List in keyof Lists]: Lists[List][Fact] extends Value ? List : never;
}[keyof Lists];

export type ListName = keyof Lists;
/** Lists that belong to one pigeonhole. */
export type SpaceListName = ListsWith<'of', 'pigeonhole'>;
/** Lists of votes on the options of poll questions. */
export type PollListName = ListsWith<'poll', PollFacts>;
/** Lists of interactions. Their items belong to a session, and are deleted when test mode ends. */
export type ResponseListName = ListsWith<'filledBy', string>;

export const LIST_NAMES = Object.keys(LISTS) as unknown as readonly [ListName, ...ListName[]];

function listsWhere<Name extends ListName>(meets: (facts: ListFacts) => boolean): readonly Name[] {
  return LIST_NAMES.filter((list) => meets(LISTS[list])) as Name[];
}

export const POLL_LISTS = listsWhere<PollListName>(({ poll }) => poll !== null);
export const RESPONSE_LISTS = listsWhere<ResponseListName>(({ filledBy }) => filledBy !== null);

export function isListName(value: string): value is ListName {
  return Object.hasOwn(LISTS, value);
}

export function isSpaceListName(value: ListName): value is SpaceListName {
  return LISTS[value].of === 'pigeonhole';
}
