import type { ListRef } from './lists.js';

/** Page size asked for when the caller names none: the service's maximum, so that a walk costs the fewest requests. */
export const defaultCount = 300;

/**
 * The path of a list, from `/v2` on and without a query.
 * @throws {RangeError} when an id is no safe integer: such a path could name another resource
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

/** The path of one pigeonhole. Throws as `listPath` does. */
export function pigeonholePath(pigeonholeId: number): string {
  return `/v2/pigeonholes/${checkedId('pigeonholeId', pigeonholeId)}`;
}

/**
 * The query of one page of a list, built from our own filters and the cursor alone, never from `links.next`.
 * Names and commas stand as the specification writes them (`filter[status]=upcoming,live`); values are URL encoded.
 * A filter without values is left out.
 * Source: docs/service-contract.md, "Pagination" and "Lists and filters".
 * @param cursor sent back as the service gave it; null asks for the first page
 * @throws {RangeError} when `count` is not an integer from 1 to 300, or an id is no safe integer
 */
export function listQuery(list: ListRef, cursor: string | null, count: number): string {
  if (!Number.isInteger(count) || count < 1 || count > 300) {
    throw new RangeError(`A page of ${list.list} was asked for with count ${count}; give an integer from 1 to 300.`);
  }
  const parts = [`count=${count}`];
  for (const [name, value] of filtersOf(list)) {
    if (value.length > 0) parts.push(`filter[${name}]=${value}`);
  }
  if (cursor !== null) parts.push(`cursor=${encodeURIComponent(cursor)}`);
  return parts.join('&');
}

/** Filter names with their encoded values, in a fixed order, so that equal requests are equal texts. */
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

/** Each value is encoded by itself: a comma inside one value must not look like the comma between two. */
function words(value: string | readonly string[] | undefined): string {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  return values.map((word) => encodeURIComponent(word)).join(',');
}

function id(name: string, value: number | undefined): string {
  return value === undefined ? '' : String(checkedId(name, value));
}

function checkedId(name: string, value: number): number {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(
      `A request was built with ${name} ${value}; give an integer that the service could have sent.`,
    );
  }
  return value;
}
