import type { ItemOrder } from '../ledger/queries/walk.js';
import type { ListName } from '../pigeonhole/lists.js';

/** Most pages of a rolling sweep beside one poll. */
const mostPages = 10;

/** Lists of which an edit on an old page (an approval) is what people wait for. */
const moderatedLists: ReadonlySet<ListName> = new Set(['questions', 'qna-questions']);

/**
 * Pages of the rolling sweep that a poll of a live stream reads: at least half of a live question list, up to ten; of
 * a list that shows what is new nowhere in particular as many as that; one of the others. Pure.
 * @param pages of the last whole walk
 */
export function slicePages(list: ListName, order: ItemOrder, pages: number): number {
  if (order === 'unordered') return Math.min(mostPages, Math.max(1, pages));
  return moderatedLists.has(list) ? Math.min(mostPages, Math.max(1, Math.ceil(pages / 2))) : 1;
}
