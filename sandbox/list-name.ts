/** The lists of the service, by the last segment of their path, and `registrants`, which has no read operation. */
export const LIST_NAMES = [
  'pigeonholes',
  'subscriptions',
  'sessions',
  'attendees',
  'questions',
  'votes',
  'answer_ratings',
  'answers',
  'poll-mcq-votes',
  'poll-quiz-votes',
  'qna-questions',
  'registrants',
] as const;

export type ListName = (typeof LIST_NAMES)[number];

/** Lists that belong to one pigeonhole. */
export type SpaceListName = Exclude<ListName, 'pigeonholes' | 'subscriptions'>;

/** Lists of interactions. Their items belong to a session, and are deleted when test mode ends. */
export const RESPONSE_LISTS = [
  'questions',
  'votes',
  'answer_ratings',
  'answers',
  'poll-mcq-votes',
  'poll-quiz-votes',
  'qna-questions',
] as const satisfies readonly SpaceListName[];

export function isListName(value: string): value is ListName {
  return (LIST_NAMES as readonly string[]).includes(value);
}

export function isSpaceListName(value: ListName): value is SpaceListName {
  return value !== 'pigeonholes' && value !== 'subscriptions';
}
