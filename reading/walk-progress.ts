import { maxEqualPages } from '../ledger/pages.js';
import type { PageSummary, WalkProgress, Direction, ItemOrder } from '../ledger/walk.js';

/** The values that decide an item's position in a list. */
export interface Placed {
  readonly key: string;
  /** Undefined if the list has no ids. */
  readonly id: number | undefined;
  /** Creation instant, epoch ms; undefined if the row has none. */
  readonly at: number | undefined;
}

/**
 * Summarizes a page: counts, range and order of its items. Compares the ids, which never change. In a list without ids,
 * compares the creation instants, which several items may share. Pure.
 */
export function summarizePage(
  items: readonly Placed[],
  { unidentified, foreign }: { readonly unidentified: number; readonly foreign: number } = {
    unidentified: 0,
    foreign: 0,
  },
): PageSummary {
  const values = items.map(({ id, at }) => id ?? at);
  const known = values.filter((value) => value !== undefined);
  const complete = known.length === values.length && values.length > 0;
  const hasIds = items.every(({ id }) => id !== undefined);
  return {
    count: items.length,
    firstValue: complete ? known[0]! : null,
    lastValue: complete ? known.at(-1)! : null,
    low: complete ? known.reduce((a, b) => Math.min(a, b)) : null,
    high: complete ? known.reduce((a, b) => Math.max(a, b)) : null,
    direction: values.length < 2 ? null : complete ? directionOf(known, hasIds) : 'mixed',
    lastKey: items.at(-1)?.key ?? null,
    newestAt: items.reduce<number | null>(
      (newest, { at }) => (at === undefined ? newest : Math.max(newest ?? at, at)),
      null,
    ),
    setAside: unidentified,
    foreign,
  };
}

/** @param strict true for ids: they are unique, so two equal neighbours break the order */
function directionOf(values: readonly number[], strict: boolean): Direction | null {
  let direction: Direction | null = null;
  for (let index = 1; index < values.length; index += 1) {
    const step = Math.sign(values[index]! - values[index - 1]!);
    if (step === 0) {
      if (strict) return 'mixed';
      continue;
    }
    direction = mergeDirections(direction, step > 0 ? 'ascending' : 'descending');
  }
  return direction;
}

/** Combines the directions of two parts of a walk; null adds nothing. */
function mergeDirections(a: Direction | null, b: Direction | null): Direction | null {
  if (a === null || b === null) return a ?? b;
  return a === b ? a : 'mixed';
}

/** For this time after an item was created, items with lower ids can still appear, because the service commits late. */
const settledAfterMs = 60_000;

/** The parts of a page that decide where the walk continues. */
export interface WalkedPage {
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  /** Epoch ms. */
  readonly requestedAt: number;
  readonly summary: PageSummary;
}

export const walkStart: WalkProgress = {
  cursor: null,
  checkpoint: null,
  checkpointKey: null,
  direction: null,
  pageFirst: null,
  pageLast: null,
  topId: null,
  pages: 0,
  items: 0,
  setAside: 0,
  foreign: 0,
};

/**
 * Returns a walk's position after a page. The checkpoint is the cursor of the page at which the next poll starts: the
 * last page, which may grow, or the first page with an item younger than a minute, whichever is earlier. A key from
 * that page is stored with it. The poll uses the key to verify that the cursor still leads to the same page. Pure.
 */
export function advanceWalk(walk: WalkProgress, page: WalkedPage): WalkProgress {
  const { summary } = page;
  const isCheckpointPage = page.cursor === walk.checkpoint;
  const hasYoungItem = summary.newestAt !== null && summary.newestAt > page.requestedAt - settledAfterMs;
  const checkpointMoves = isCheckpointPage && page.hasMore && !hasYoungItem;
  return {
    cursor: page.nextCursor,
    checkpoint: checkpointMoves ? page.nextCursor : walk.checkpoint,
    checkpointKey: checkpointMoves ? null : isCheckpointPage ? summary.lastKey : walk.checkpointKey,
    direction: mergeDirections(mergeDirections(walk.direction, acrossPages(walk, summary)), summary.direction),
    pageFirst: summary.firstValue ?? walk.pageFirst,
    pageLast: summary.lastValue ?? walk.pageLast,
    topId: hasYoungItem ? walk.topId : highest(walk.topId, summary.high),
    pages: walk.pages + 1,
    items: walk.items + summary.count,
    setAside: walk.setAside + summary.setAside,
    foreign: walk.foreign + summary.foreign,
  };
}

/**
 * Returns the direction from one page to the next. Compares first items with first items and last with last. Comparing
 * the last item of one page with the first of the next would be wrong: if cursors are positions and rows move during
 * the walk, a page may start with the last items of the previous page although the list is in order.
 */
function acrossPages(walk: WalkProgress, { firstValue, lastValue }: PageSummary): WalkProgress['direction'] {
  if (walk.pageFirst === null || walk.pageLast === null || firstValue === null || lastValue === null) return null;
  if (firstValue > walk.pageFirst && lastValue >= walk.pageLast) return 'ascending';
  if (firstValue < walk.pageFirst && lastValue <= walk.pageLast) return 'descending';
  return firstValue === walk.pageFirst ? null : 'mixed';
}

function highest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

/**
 * Whether a page may be the previous page again, because both have the same first and last values. A poll may then be
 * following its cursors in a circle. Only a sweep can find out, because a poll does not store its pages.
 *
 * In a list without ids, rows may be identical. Pages on which all rows have the same instant, or no instant, may
 * therefore look the same: they count as repeated only after `maxEqualPages` pages. Pure.
 */
export function repeatsPage(
  walk: WalkProgress,
  { firstValue, lastValue }: PageSummary,
  { hasIds }: { readonly hasIds: boolean },
): boolean {
  if (walk.pages === 0) return false;
  if (firstValue === null || lastValue === null) return walk.pages >= maxEqualPages;
  if (firstValue !== walk.pageFirst || lastValue !== walk.pageLast) return false;
  return hasIds || firstValue !== lastValue || walk.pages >= maxEqualPages;
}

/** Whether a poll's first page is still the page of the checkpoint. */
export function checkpointHolds(
  stored: {
    readonly checkpoint: string | null;
    readonly checkpointKey: string | null;
    readonly perPage: number | null;
  },
  page: { readonly perPage: number; readonly keys: readonly string[] },
): boolean {
  if (stored.perPage !== null && stored.perPage !== page.perPage) return false;
  // A checkpoint without a key belongs to a page that was empty, so nothing shows whether the page is still the same.
  // Only the first page of a list needs no proof: it is requested without a cursor.
  if (stored.checkpointKey === null) return stored.checkpoint === null;
  return page.keys.includes(stored.checkpointKey);
}

/** Whether a poll from the newest item has reached an item that was already stored when the poll started. */
export function reachesKnown(untilId: number | null, { count, high }: PageSummary): boolean {
  return untilId !== null && count > 0 && high !== null && high <= untilId;
}

/** The order of a stream's items, as its walks have shown it so far. */
export interface KnownOrder {
  readonly order: ItemOrder;
  /** Number of consecutive complete walks whose items were all in `cleanDirection`. */
  readonly cleanWalks: number;
  readonly cleanDirection: 'ascending' | 'descending' | null;
  /**
   * Number of such walks after which the direction is trusted: one at first, three after a walk has contradicted it.
   */
  readonly promoteAt: number;
}

const walksAfterDemotion = 3;

/**
 * Returns the known order after a complete walk. A walk over fewer than two items has no direction (null) and changes
 * nothing. Pure.
 */
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

/**
 * Returns the order after a walk has contradicted it: an order is trusted again only after three walks that show it.
 */
export function demoted(known: KnownOrder): KnownOrder {
  return { ...known, order: 'unordered', cleanWalks: 0, cleanDirection: null, promoteAt: walksAfterDemotion };
}

/** Whether a walk contradicts the stream's trusted order. */
export function breaksOrder(order: ItemOrder, direction: Direction | null): boolean {
  return (order === 'ascending' || order === 'descending') && direction !== null && direction !== order;
}
