import type { ServiceListName } from '../base/list-names.js';

/**
 * One list and the parameters of its requests. Required parameters are at the top level (`sessionId` of the per-session lists),
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
export const perSessionLists: ReadonlyMap<ServiceListName, string> = new Map([
  ['votes', 'qna'],
  ['answer_ratings', 'qna'],
  ['answers', 'poll_word_cloud'],
]);
