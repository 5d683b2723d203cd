import { markOf, type Row } from './row.js';
import type { ListOrder, ModelWorld } from './world.js';

/** Sorts rows as a list shows them. Rows of the same rank are sorted by id, so that every order is unique. */
export function inOrder(rows: readonly Row[], order: ListOrder): Row[] {
  switch (order) {
    case 'ascending':
      return rows.toSorted((a, b) => a.id - b.id);
    case 'descending':
      return rows.toSorted((a, b) => b.id - a.id);
    case 'unordered':
      return rows.toSorted((a, b) => a.rank - b.rank || a.id - b.id);
  }
}

/**
 * Returns the number of identical rows of a mark that a reader can count: those on one page of a walk, or all if the
 * filtered list of their question is one page.
 */
export function copiesToCount(world: ModelWorld, pigeonholeId: number, row: Row): number {
  const inSession = world.rows(pigeonholeId, row.list).filter(({ sessionId }) => sessionId === row.sessionId);
  const isCopy = (other: Row): boolean => markOf(other) === markOf(row);
  const onQuestion = inSession.filter(({ questionId }) => questionId === row.questionId);
  if (world.shape.filters && onQuestion.length <= world.perPage) return onQuestion.filter(isCopy).length;
  const walk = inOrder(inSession, world.orders[row.list]);
  let most = 1;
  for (let start = 0; start < walk.length; start += world.perPage) {
    most = Math.max(most, walk.slice(start, start + world.perPage).filter(isCopy).length);
  }
  return most;
}
