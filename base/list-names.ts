/*
 * The names of the lists, spelled as in the service's paths. The whole product uses them as identifiers: in ledger rows,
 * change types and the configuration. Source: docs/service-contract.md, "Lists and filters".
 */

/** Lists of one pigeonhole. A request for `votes`, `answer_ratings` or `answers` covers only one session. */
export const pigeonholeLists = [
  'sessions',
  'attendees',
  'questions',
  'votes',
  'answer_ratings',
  'answers',
  'poll-mcq-votes',
  'poll-quiz-votes',
  'qna-questions',
] as const;

/** Lists of the workspace that the API key belongs to. */
export const workspaceLists = ['pigeonholes', 'subscriptions'] as const;

export const serviceLists = [...pigeonholeLists, ...workspaceLists] as const;

/** Lists that pigeonpost derives: registrants with their sign-in, and counts per attendee. */
export const derivedLists = ['registrants', 'engagement'] as const;

/** Lists whose items are questions of the audience. An item has the same id in both. */
export const questionLists: ReadonlySet<string> = new Set(['questions', 'qna-questions']);

export const listNames = [...serviceLists, ...derivedLists] as const;

export type PigeonholeListName = (typeof pigeonholeLists)[number];
export type ServiceListName = (typeof serviceLists)[number];
export type DerivedListName = (typeof derivedLists)[number];
/** A list of the service, or a derived one. */
export type ListName = (typeof listNames)[number];
