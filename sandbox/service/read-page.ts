import type { IdOrder } from '../store/id-order.js';
import type { Place } from './cursor.js';
import type { CursorKind, Order } from './knobs.js';

export interface PageQuery {
  /** Of the list, or of one session's part of it. */
  ids: IdOrder;
  order: Order;
  cursor: CursorKind;
  place: Place;
  count: number;
  /** Null when every id belongs to the answer, which spares looking at them. */
  matches: ((id: number) => boolean) | null;
}

export interface IdPage {
  ids: number[];
  /** The place after the page; null on the last page. */
  next: Place | null;
}

/**
 * The ids of one page. A keyset place goes on after an id, wherever that id's place is by now; an offset counts
 * items, and so repeats or skips some when items before it came or went. That is the point of having both.
 */
export function readPage(query: PageQuery): IdPage {
  const { ids, place, count, matches } = query;
  const size = ids.size;
  const idAt = (rank: number): number | undefined => ids.idAt(query.order === 'descending' ? size - 1 - rank : rank);

  let rank = 0;
  let toSkip = 0;
  if (place.kind === 'keyset') rank = rankAfter(ids, query.order, place.id);
  else if (place.kind === 'offset' && matches === null) rank = Math.max(place.offset, 0);
  else if (place.kind === 'offset') toSkip = place.offset;

  const page: number[] = [];
  for (; rank < size; rank += 1) {
    const id = idAt(rank);
    if (id === undefined || (matches !== null && !matches(id))) continue;
    if (toSkip > 0) {
      toSkip -= 1;
      continue;
    }
    if (page.length === count) return { ids: page, next: placeAfter(query, page) };
    page.push(id);
  }
  return { ids: page, next: null };
}

/** How many items of an order stand up to and including an id, counted from the end it is read from. */
export function rankAfter(ids: IdOrder, order: Order, id: number): number {
  const before = ids.rankOf(id);
  return order === 'descending' ? ids.size - before : before + (ids.has(id) ? 1 : 0);
}

function placeAfter(query: PageQuery, page: readonly number[]): Place {
  const last = page.at(-1);
  if (query.cursor === 'keyset' && last !== undefined) return { kind: 'keyset', id: last };
  const before = query.place.kind === 'offset' ? query.place.offset : 0;
  return { kind: 'offset', offset: before + page.length };
}
