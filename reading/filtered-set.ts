import type { MissingItem } from './missing.js';
import type { ListName, ListRef } from '../pigeonhole/lists.js';

type Row = Readonly<Record<string, unknown>>;

/** A request whose answer holds an item, if the item exists: narrowed by something of it that never changes. */
export interface FilteredSet {
  /** Equal for items that one answer tells about. */
  readonly name: string;
  readonly ref: ListRef;
  /** Whether a row belongs to the set. The service ignores filters that it does not support: each row is looked at. */
  readonly holds: (row: Row) => boolean;
}

/**
 * The smallest set that a filter can ask for; undefined where no filter is narrow enough, or what it needs is not
 * known (whose an anonymous vote was). A session is no such filter by itself: items move between sessions. Pure.
 */
export function filteredSet(
  pigeonholeId: number,
  { list, sessionId }: { list: string; sessionId: number },
  { attendeeId, payload }: Pick<MissingItem, 'attendeeId' | 'payload'>,
): FilteredSet | undefined {
  switch (list as ListName) {
    case 'votes':
    case 'answer_ratings': {
      const questionId = idIn(JSON.parse(payload) as Row, 'question');
      if (questionId === undefined) return undefined;
      return {
        name: `question ${questionId}`,
        ref: { list: list as 'votes', pigeonholeId, sessionId, filters: { questionId } },
        holds: (row) => idIn(row, 'question') === questionId && idIn(row, 'session') === sessionId,
      };
    }
    case 'poll-mcq-votes':
    case 'poll-quiz-votes':
    case 'qna-questions':
      if (attendeeId === null) return undefined;
      return {
        name: `attendee ${attendeeId}`,
        ref: { list: list as 'qna-questions', pigeonholeId, filters: { attendeeId } },
        holds: (row) => idIn(row, 'attendee') === attendeeId,
      };
    default:
      return undefined;
  }
}

function idIn(row: Row, member: string): number | undefined {
  const value = row[member];
  const id = value !== null && typeof value === 'object' ? (value as Row)['id'] : undefined;
  return typeof id === 'number' ? id : undefined;
}
