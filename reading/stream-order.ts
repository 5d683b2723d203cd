import type { Direction, ItemOrder } from '../ledger/walk.js';

/** What is known of the order of a stream's items, from the walks over it so far. */
export interface KnownOrder {
  readonly order: ItemOrder;
  /** Whole walks in a row in one direction. */
  readonly cleanWalks: number;
  readonly cleanDirection: 'ascending' | 'descending' | null;
  /** So many of them make it the order: one at first, three once the order has been another one. */
  readonly promoteAt: number;
}

const walksAfterDemotion = 3;

/** After a whole walk. Fewer than two items (null) say nothing. Pure. */
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

/** A page showed another order than the recorded one: three clean walks are needed before one is trusted again. */
export function demoted(known: KnownOrder): KnownOrder {
  return { ...known, order: 'unordered', cleanWalks: 0, cleanDirection: null, promoteAt: walksAfterDemotion };
}

/** Whether what a walk has shown so far breaks the order that the stream is trusted to have. */
export function breaksOrder(order: ItemOrder, direction: Direction | null): boolean {
  return (order === 'ascending' || order === 'descending') && direction !== null && direction !== order;
}
