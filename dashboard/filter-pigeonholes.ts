import type { PigeonholeDetails } from '../api/pigeonholes.js';

/** An empty field matches every pigeonhole. */
export interface PigeonholeFilter {
  readonly text: string;
  /** A `WorkState`, or `trouble` for every pigeonhole with a problem. */
  readonly state: string;
  readonly status: string;
  readonly sync: string;
  /** A key of `orders`; empty: those with problems first. */
  readonly order: string;
}

export const noFilter: PigeonholeFilter = { text: '', state: '', status: '', sync: '', order: '' };

type Filtered = Pick<
  PigeonholeDetails,
  'workspace' | 'id' | 'name' | 'state' | 'status' | 'syncs' | 'troubles' | 'goneAt' | 'changes' | 'foundByMinute'
>;

type Order = (a: Filtered, b: Filtered) => number;

const inLastHour = ({ foundByMinute }: Filtered): number => foundByMinute.reduce((sum, n) => sum + n, 0);

/** The orders of the table, with their labels. */
export const orders: Readonly<Record<string, readonly [label: string, order: Order]>> = {
  name: ['by name', (a, b) => (a.name ?? '').localeCompare(b.name ?? '', undefined, { numeric: true })],
  changes: ['most changes first', (a, b) => b.changes - a.changes],
  busy: ['busiest in the last hour first', (a, b) => inLastHour(b) - inLastHour(a)],
};

/**
 * Returns the matching pigeonholes: those with problems first, then the live ones, deleted ones last, otherwise in the
 * API's order. Pure.
 */
export function filterPigeonholes<Each extends Filtered>(all: readonly Each[], filter: PigeonholeFilter): Each[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .filter((each) => {
      const called = `${each.workspace}/${each.id} ${each.name ?? ''}`.toLowerCase();
      return (
        words.every((word) => called.includes(word)) &&
        (filter.state === '' || (filter.state === 'trouble' ? hasTrouble(each) : each.state === filter.state)) &&
        (filter.status === '' || each.status === filter.status) &&
        (filter.sync === '' || each.syncs.includes(filter.sync))
      );
    })
    .toSorted(orders[filter.order]?.[1] ?? ((a, b) => rank(a) - rank(b)));
}

function hasTrouble({ troubles }: Filtered): boolean {
  return troubles.length > 0;
}

function rank(each: Filtered): number {
  if (hasTrouble(each)) return 0;
  if (each.goneAt !== null) return 3;
  return each.status === 'live' ? 1 : 2;
}
