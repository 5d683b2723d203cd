/*
 * Everything that the product knows about a list, in one table. Sets of lists, SQL conditions, the defaults and allowed
 * words of the configuration, and the menus of the page derive from it. A list that lacks a trait does not compile; what
 * else a new list needs is in pigeonhole/README.md. Sources: docs/service-contract.md, "Lists and filters", and the
 * decisions that the traits name.
 */

/** The filters that the service documents. It ignores a filter that a list does not support. */
export type FilterName =
  | 'status'
  | 'timezone'
  | 'startsBefore'
  | 'sessionId'
  | 'questionId'
  | 'attendeeId'
  | 'ratingBetween';

/** The numbers in which the list `engagement` counts items of other lists. */
export type ActivityKind = 'asked' | 'answered' | 'responded' | 'voted' | 'rated';

/** Lists whose items decide whether the authors in `judged` lists are anonymous. */
export type DecidingList = 'sessions' | 'qna-questions';

/**
 * How the items of a list relate to a person. This decides whether an item is sent, and whether with the person's
 * identity:
 * - `none`: the items show nobody.
 * - `own-record`: an item is a person's own record. Without the identity, it would be empty, or would connect
 *   interactions that are sent anonymously. It is therefore sent with the identity or not at all.
 * - `flagged`: an interaction with an anonymity flag of its own.
 * - `judged`: an interaction with `attendeeId` and no flag. The lists in `judgedBy` decide, the session first.
 */
type PersonTraits =
  | { readonly person: 'none' | 'own-record' | 'flagged'; readonly judgedBy: readonly [] }
  | { readonly person: 'judged'; readonly judgedBy: readonly ['sessions', ...DecidingList[]] };

export type PersonRule = PersonTraits['person'];

/** The traits of every list, also of those that pigeonpost derives. */
type ContentTraits = PersonTraits & {
  /** The things that the items are. Both lists of questions hold the same questions, with the same ids. */
  readonly holds: 'places' | 'people' | 'questions' | 'interactions' | 'counts';
  /**
   * Members that repeat another item. Only their `id` and `anonymous` count as content of the item. Renaming a session
   * therefore changes only the session, and not its ten thousand votes.
   */
  readonly copies: readonly ('session' | 'question' | 'option')[];
  /** Whether `question` is a question of an attendee. Erasing its author also removes its text from these items. */
  readonly repeatsQuestions: boolean;
  /**
   * Fields with a status or a kind. Their values are words of the service and reveal nothing about a person. The values
   * of other text fields are never shown, even if there are few: the values of three attendees would be a list of
   * people. Source: specification, "Resources and their fields".
   */
  readonly shownValues: readonly string[];
  /** Position in the page's menus: the lists that operators look up most are first. */
  readonly menu: number;
};

export type ServiceTraits = ContentTraits & {
  /** The owner of the list. Its path is its name, below that of the pigeonhole or of the version. */
  readonly of: 'pigeonhole' | 'workspace';
  /** In the order in which a request names them. */
  readonly filters: readonly FilterName[];
  /**
   * For a list whose requests cover only one session (`sessionId` is then required): the type of the sessions that fill
   * the list. Null: a request covers the whole pigeonhole or workspace.
   */
  readonly perSession: 'qna' | 'poll_word_cloud' | null;
  /** The member that holds the required id; null: the item itself. */
  readonly idWithin: string | null;
  /** False: the required id is another item's, so only a number distinguishes equal rows. */
  readonly hasIds: boolean;
  /** The filter whose value never changes for an item, and that is narrow enough to look a missing item up. */
  readonly lookUpBy: 'questionId' | 'attendeeId' | null;
  /** The part of a round in which a list is read (`stages` in reading/pigeonhole-reader.ts). */
  readonly stage: 'sessions' | 'attendees' | 'flags' | 'rest';
  /**
   * The default interval: `live` and the settings beside it, by the times of the event; `minute`, with half of the list
   * swept at each read; or `sweep`, the interval of complete sweeps.
   */
  readonly interval: 'live' | 'minute' | 'sweep';
  /** Null: the items do not count, or another list holds the same ones. */
  readonly countsAs: ActivityKind | null;
};

export type DerivedTraits = ContentTraits & { readonly of: 'derived' };

const ofWorkspace = {
  of: 'workspace',
  holds: 'places',
  person: 'none',
  judgedBy: [],
  perSession: null,
  idWithin: null,
  hasIds: true,
  copies: [],
  repeatsQuestions: false,
  lookUpBy: null,
  stage: 'rest',
  countsAs: null,
} as const;

const bySession = ['sessions'] as const;

/** The lists of the service, spelled as in its paths, in the order in which people see them. */
const serviceTable = {
  sessions: {
    of: 'pigeonhole',
    filters: ['startsBefore'],
    perSession: null,
    idWithin: null,
    hasIds: true,
    holds: 'places',
    person: 'none',
    judgedBy: [],
    copies: [],
    repeatsQuestions: false,
    lookUpBy: null,
    stage: 'sessions',
    interval: 'live',
    countsAs: null,
    shownValues: ['type', 'displayQuestionsBy', 'logoPosition', 'redirectAttendeesTo'],
    menu: 2,
  },
  attendees: {
    of: 'pigeonhole',
    filters: [],
    perSession: null,
    idWithin: null,
    hasIds: true,
    holds: 'people',
    person: 'own-record',
    judgedBy: [],
    copies: [],
    repeatsQuestions: false,
    lookUpBy: null,
    stage: 'attendees',
    interval: 'live',
    countsAs: null,
    shownValues: ['consent.obtained'],
    menu: 1,
  },
  questions: {
    of: 'pigeonhole',
    filters: ['sessionId'],
    perSession: null,
    idWithin: 'question',
    hasIds: true,
    holds: 'questions',
    person: 'judged',
    judgedBy: ['sessions', 'qna-questions'],
    copies: ['session'],
    repeatsQuestions: false,
    lookUpBy: null,
    stage: 'rest',
    interval: 'live',
    countsAs: null, // `qna-questions` holds the same questions, each with its anonymity flag
    shownValues: ['question.status', 'session.type'],
    menu: 4,
  },
  votes: {
    of: 'pigeonhole',
    filters: ['sessionId', 'questionId'],
    perSession: 'qna',
    idWithin: 'question',
    hasIds: false,
    holds: 'interactions',
    person: 'judged',
    judgedBy: bySession,
    copies: ['session', 'question'],
    repeatsQuestions: true,
    lookUpBy: 'questionId',
    stage: 'rest',
    interval: 'live',
    countsAs: 'voted',
    shownValues: ['question.status', 'session.type'],
    menu: 5,
  },
  answer_ratings: {
    of: 'pigeonhole',
    filters: ['sessionId', 'questionId', 'ratingBetween'],
    perSession: 'qna',
    idWithin: 'answerRating',
    hasIds: true,
    holds: 'interactions',
    person: 'judged',
    judgedBy: bySession,
    copies: ['session', 'question'],
    repeatsQuestions: true,
    lookUpBy: 'questionId',
    stage: 'rest',
    interval: 'live',
    countsAs: 'rated',
    shownValues: ['session.type'],
    menu: 7,
  },
  answers: {
    of: 'pigeonhole',
    filters: ['sessionId', 'status'],
    perSession: 'poll_word_cloud',
    idWithin: 'answer',
    hasIds: true,
    holds: 'interactions',
    person: 'judged',
    judgedBy: bySession,
    copies: ['session'],
    repeatsQuestions: false,
    lookUpBy: null,
    stage: 'rest',
    interval: 'live',
    countsAs: 'responded',
    shownValues: ['answer.status', 'session.type'],
    menu: 6,
  },
  'poll-mcq-votes': {
    of: 'pigeonhole',
    filters: ['sessionId', 'attendeeId'],
    perSession: null,
    idWithin: null,
    hasIds: true,
    holds: 'interactions',
    person: 'flagged',
    judgedBy: [],
    copies: ['session', 'question', 'option'],
    repeatsQuestions: false,
    lookUpBy: 'attendeeId',
    stage: 'rest',
    interval: 'live',
    countsAs: 'answered',
    shownValues: [],
    menu: 8,
  },
  'poll-quiz-votes': {
    of: 'pigeonhole',
    filters: ['sessionId', 'attendeeId'],
    perSession: null,
    idWithin: null,
    hasIds: true,
    holds: 'interactions',
    person: 'flagged',
    judgedBy: [],
    copies: ['session', 'question', 'option'],
    repeatsQuestions: false,
    lookUpBy: 'attendeeId',
    stage: 'rest',
    interval: 'live',
    countsAs: 'answered',
    shownValues: [],
    menu: 9,
  },
  'qna-questions': {
    of: 'pigeonhole',
    filters: ['attendeeId'],
    perSession: null,
    idWithin: null,
    hasIds: true,
    holds: 'questions',
    person: 'flagged',
    judgedBy: [],
    copies: ['session'],
    repeatsQuestions: false,
    lookUpBy: 'attendeeId',
    stage: 'flags',
    interval: 'live',
    countsAs: 'asked',
    shownValues: ['status'],
    menu: 3,
  },
  pigeonholes: {
    ...ofWorkspace,
    filters: ['status', 'timezone'],
    interval: 'minute', // the only source of new pigeonholes and their status, which changes on old pages
    shownValues: ['status', 'timezone'],
    menu: 12,
  },
  subscriptions: { ...ofWorkspace, filters: [], interval: 'sweep', shownValues: ['timezone'], menu: 13 },
} as const satisfies Readonly<Record<string, ServiceTraits>>;

/** Lists that pigeonpost derives: registrants with their sign-in, and counts per attendee. */
const derivedTable = {
  registrants: {
    of: 'derived',
    holds: 'people',
    person: 'own-record',
    judgedBy: [],
    copies: [],
    repeatsQuestions: false,
    shownValues: ['consent', 'signedIn'],
    menu: 10,
  },
  engagement: {
    of: 'derived',
    holds: 'counts',
    person: 'own-record',
    judgedBy: [],
    copies: [],
    repeatsQuestions: false,
    shownValues: ['scope'],
    menu: 11,
  },
} as const satisfies Readonly<Record<string, DerivedTraits>>;

/** The table with each list's own traits in its type. */
export type ServiceTable = typeof serviceTable;

/** The lists whose trait has one of these values. */
type ListsWith<Trait extends keyof ServiceTraits, Value> = {
  [List in keyof ServiceTable]: ServiceTable[List][Trait] extends Value ? List : never;
}[keyof ServiceTable];

export type ServiceListName = keyof ServiceTable;
export type PigeonholeListName = ListsWith<'of', 'pigeonhole'>;
export type WorkspaceListName = ListsWith<'of', 'workspace'>;
export type PerSessionListName = ListsWith<'perSession', string>;
/** Lists of what people do. */
export type InteractionListName = ListsWith<'person', 'flagged' | 'judged'>;
export type DerivedListName = keyof typeof derivedTable;
/** A list of the service, or a derived one. */
export type ListName = ServiceListName | DerivedListName;

export const serviceTraits: Readonly<Record<ServiceListName, ServiceTraits>> = serviceTable;
export const listTraits: Readonly<Record<ListName, ServiceTraits | DerivedTraits>> = {
  ...serviceTable,
  ...derivedTable,
};

type Several<Name> = readonly [Name, ...Name[]];

const namesIn = <Name extends string>(table: Readonly<Record<Name, unknown>>) =>
  Object.keys(table) as unknown as Several<Name>;

export const serviceLists = namesIn(serviceTable);
export const derivedLists = namesIn(derivedTable);
export const listNames = namesIn(listTraits);

export function isListName(name: string): name is ListName {
  return Object.hasOwn(listTraits, name);
}

/** Returns the lists of the service whose traits meet a condition, in the order of the table. */
export function serviceListsWhere<Name extends ServiceListName = ServiceListName>(
  meets: (traits: ServiceTraits) => boolean,
): readonly Name[] {
  return serviceLists.filter((list) => meets(serviceTraits[list])) as Name[];
}

/** Returns the lists, derived ones included, whose traits meet a condition, in the order of the table. */
export function listsWhere(meets: (traits: ServiceTraits | DerivedTraits) => boolean): readonly ListName[] {
  return listNames.filter((list) => meets(listTraits[list]));
}

/** Lists of one pigeonhole. */
export const pigeonholeLists = serviceListsWhere<PigeonholeListName>(({ of }) => of === 'pigeonhole');
/** Lists of the workspace that the API key belongs to. */
export const workspaceLists = serviceListsWhere<WorkspaceListName>(({ of }) => of === 'workspace');

/** Lists of what people do. */
export const interactionLists = serviceListsWhere<InteractionListName>(
  ({ person }) => person === 'flagged' || person === 'judged',
);

export function isPerSession(list: ServiceListName): list is PerSessionListName {
  return serviceTraits[list].perSession !== null;
}

export function isOfWorkspace(list: ServiceListName): list is WorkspaceListName {
  return serviceTraits[list].of === 'workspace';
}

/** Lists whose items are people. */
export const listsOfPeople: ReadonlySet<string> = new Set(listsWhere(({ holds }) => holds === 'people'));
/** Lists whose items are questions of the audience. An item has the same id in both. */
export const questionLists: ReadonlySet<string> = new Set(listsWhere(({ holds }) => holds === 'questions'));
/** Lists whose items decide whether authors in other lists are anonymous. */
export const decidingLists: ReadonlySet<string> = new Set(
  listsWhere(() => true).flatMap((list) => listTraits[list].judgedBy),
);

/** Returns the lists whose items the list `engagement` counts in one of its numbers. */
export function listsCountedAs(kind: ActivityKind): readonly ServiceListName[] {
  return serviceListsWhere(({ countsAs }) => countsAs === kind);
}

/** The derived list of people whom an import registered, with their sign-in. */
export const registrantsList = 'registrants' satisfies DerivedListName;

/** The derived list of activity: per attendee and session, and per attendee and pigeonhole. */
export const engagementList = 'engagement' satisfies DerivedListName;
