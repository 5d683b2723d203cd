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

/** Default page size: the maximum of the service, so that a walk takes the fewest requests. */
export const defaultCount = 300;

/**
 * Returns the path of a list, starting with `/v2`, without a query.
 * @throws {RangeError} if an id is not a safe integer: such a path could name another resource
 */
export function listPath(list: ListRef): string {
  switch (list.list) {
    case 'pigeonholes':
    case 'subscriptions':
      return `/v2/${list.list}`;
    default:
      return `${pigeonholePath(list.pigeonholeId)}/${list.list}`;
  }
}

/** Returns the path of one pigeonhole. Throws like `listPath`. */
export function pigeonholePath(pigeonholeId: number): string {
  return `/v2/pigeonholes/${checkedId('pigeonholeId', pigeonholeId)}`;
}

/**
 * Returns the query of one page of a list, built only from the filters and the cursor, never from `links.next`. Names
 * and commas are written as in the specification (`filter[status]=upcoming,live`); values are URL-encoded. A filter
 * without values is left out.
 * Source: docs/service-contract.md, "Pagination" and "Lists and filters".
 * @param cursor as received from the service; null for the first page
 * @throws {RangeError} if `count` is not an integer from 1 to 300, or an id is not a safe integer
 */
export function listQuery(list: ListRef, cursor: string | null, count: number): string {
  if (!Number.isInteger(count) || count < 1 || count > 300) {
    throw new RangeError(`Invalid count ${count} for a page of ${list.list}; use an integer from 1 to 300.`);
  }
  const parts = [`count=${count}`];
  for (const [name, value] of filtersOf(list)) {
    if (value.length > 0) parts.push(`filter[${name}]=${value}`);
  }
  if (cursor !== null) parts.push(`cursor=${encodeURIComponent(cursor)}`);
  return parts.join('&');
}

/** Returns filter names and encoded values, in a fixed order, so that equal requests have equal queries. */
function filtersOf(list: ListRef): [name: string, value: string][] {
  switch (list.list) {
    case 'subscriptions':
    case 'attendees':
      return [];
    case 'pigeonholes':
      return [
        ['status', words(list.filters?.status)],
        ['timezone', words(list.filters?.timezone)],
      ];
    case 'sessions':
      return [['startsBefore', words(list.filters?.startsBefore)]];
    case 'questions':
      return [['sessionId', id('sessionId', list.filters?.sessionId)]];
    case 'votes':
      return [
        ['sessionId', id('sessionId', list.sessionId)],
        ['questionId', id('questionId', list.filters?.questionId)],
      ];
    case 'answer_ratings':
      return [
        ['sessionId', id('sessionId', list.sessionId)],
        ['questionId', id('questionId', list.filters?.questionId)],
        ['ratingBetween', (list.filters?.ratingBetween ?? []).map((rate) => id('ratingBetween', rate)).join(',')],
      ];
    case 'answers':
      return [
        ['sessionId', id('sessionId', list.sessionId)],
        ['status', words(list.filters?.status)],
      ];
    case 'poll-mcq-votes':
    case 'poll-quiz-votes':
      return [
        ['sessionId', id('sessionId', list.filters?.sessionId)],
        ['attendeeId', id('attendeeId', list.filters?.attendeeId)],
      ];
    case 'qna-questions':
      return [['attendeeId', id('attendeeId', list.filters?.attendeeId)]];
  }
}

/** Encodes each value separately, so that a comma inside a value differs from the comma between two values. */
function words(value: string | readonly string[] | undefined): string {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  return values.map((word) => encodeURIComponent(word)).join(',');
}

function id(name: string, value: number | undefined): string {
  return value === undefined ? '' : String(checkedId(name, value));
}

function checkedId(name: string, value: number): number {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`Invalid ${name} ${value} in a request; use a safe integer.`);
  }
  return value;
}
