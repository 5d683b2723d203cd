/** The service's collections, by the names that its paths and the ledger use; the last two belong to a workspace. */
export const serviceLists = [
  'sessions',
  'attendees',
  'questions',
  'votes',
  'answer_ratings',
  'answers',
  'poll-mcq-votes',
  'poll-quiz-votes',
  'qna-questions',
  'pigeonholes',
  'subscriptions',
] as const;

/** Lists that are made from others: registrants with their sign-in, and counts per attendee. */
const derivedLists = ['registrants', 'engagement'] as const;

export const listNames = [...serviceLists, ...derivedLists] as const;

export type ListName = (typeof listNames)[number];
