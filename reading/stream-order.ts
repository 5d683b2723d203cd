import type { Direction, ItemOrder } from '../ledger/walk.js';

/** The order of a stream's items, as its walks have shown it so far. */
export interface KnownOrder {
  readonly order: ItemOrder;
  /** Consecutive complete walks in one direction. */
  readonly cleanWalks: number;
  readonly cleanDirection: 'ascending' | 'descending' | null;
  /** Clean walks needed to trust the direction: one at first, three after the order was contradicted. */
  readonly promoteAt: number;
}

const walksAfterDemotion = 3;

/** Returns the known order after a complete walk. A walk over fewer than two items (null) changes nothing. Pure. */
export function orderAfterSweep(known: KnownOrder, direction: Direction | null): KnownOrder {
  if (direction === null) return known;
  if (direction === 'mixed') return demoted(known);
  const before = known.cleanDirection === direction ? known.cleanWalks : 0;
  const cleanWalks = before + 1;
  if (known.order === direction) return { ...known, cleanWalks, cleanDirection: direction };
  const contradicted = known.order === 'ascending' || known.order === 'descending';
  const promoteAt = contradicted ? walksAfterDemotion : known.promoteAt;
  const order = cleanWalks >= promoteAt ? direction : 'unordered';
  return { order, cleanWalks, cleanDirection: direction, promoteAt };
}

/** Returns the order after a contradiction: three clean walks are needed before an order is trusted again. */
export function demoted(known: KnownOrder): KnownOrder {
  return { ...known, order: 'unordered', cleanWalks: 0, cleanDirection: null, promoteAt: walksAfterDemotion };
}

/** Whether a walk contradicts the stream's trusted order. */
export function breaksOrder(order: ItemOrder, direction: Direction | null): boolean {
  return (order === 'ascending' || order === 'descending') && direction !== null && direction !== order;
}
