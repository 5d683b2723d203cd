/**
 * The lists of the service by name, and the parameters of a request for each. The names are spelled as in the service's
 * paths. The whole product uses them as identifiers: in ledger rows, change types and the configuration. Source:
 * docs/service-contract.md, "Lists and filters".
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

export type PigeonholeListName = (typeof pigeonholeLists)[number];
export type WorkspaceListName = (typeof workspaceLists)[number];
export type ListName = PigeonholeListName | WorkspaceListName;

/**
 * One list and its parameters. Required parameters are at the top level (`sessionId` of the per-session lists),
 * optional ones in `filters`. The service ignores filters that it does not support, so a caller that relies on a filter
 * has to check the items.
 */
export type ListRef =
  | { readonly list: 'pigeonholes'; readonly filters?: PigeonholeFilters }
  | { readonly list: 'subscriptions' }
  | { readonly list: 'sessions'; readonly pigeonholeId: number; readonly filters?: { readonly startsBefore?: string } }
  | { readonly list: 'attendees'; readonly pigeonholeId: number }
  | { readonly list: 'questions'; readonly pigeonholeId: number; readonly filters?: { readonly sessionId?: number } }
  | {
      readonly list: 'votes';
      readonly pigeonholeId: number;
      readonly sessionId: number;
      readonly filters?: { readonly questionId?: number };
    }
  | {
      readonly list: 'answer_ratings';
      readonly pigeonholeId: number;
      readonly sessionId: number;
      readonly filters?: AnswerRatingFilters;
    }
  | {
      readonly list: 'answers';
      readonly pigeonholeId: number;
      readonly sessionId: number;
      readonly filters?: { readonly status?: readonly string[] };
    }
  | { readonly list: 'poll-mcq-votes'; readonly pigeonholeId: number; readonly filters?: PollVoteFilters }
  | { readonly list: 'poll-quiz-votes'; readonly pigeonholeId: number; readonly filters?: PollVoteFilters }
  | {
      readonly list: 'qna-questions';
      readonly pigeonholeId: number;
      readonly filters?: { readonly attendeeId?: number };
    };

export interface PigeonholeFilters {
  /** Observed values: new, upcoming, live, ended. Any value is sent unchanged. */
  readonly status?: readonly string[];
  /** IANA time-zone name. */
  readonly timezone?: string;
}

export interface AnswerRatingFilters {
  readonly questionId?: number;
  /** Lower and upper rate, both integers. */
  readonly ratingBetween?: readonly [number, number];
}

/** These filters are documented for quiz votes. Multiple-choice votes are assumed to have the same ones. */
export interface PollVoteFilters {
  readonly sessionId?: number;
  readonly attendeeId?: number;
}

/** Lists that are read per session, and the session type that fills them. */
export const perSessionLists: ReadonlyMap<ListName, string> = new Map([
  ['votes', 'qna'],
  ['answer_ratings', 'qna'],
  ['answers', 'poll_word_cloud'],
]);
