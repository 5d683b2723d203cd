import type { PageSummary, WalkProgress, Direction } from '../ledger/walk.js';

/** What of an item its place in a list rests on. */
export interface Placed {
  readonly key: string;
  /** Undefined where the list has no ids. */
  readonly id: number | undefined;
  /** When it came to be, epoch ms; undefined when its row does not say. */
  readonly at: number | undefined;
}

/**
 * The order of a page's items is that of their ids: immutable, so that a place once passed stays passed. A list
 * without ids has only the instants at which its items came to be, which several may share. Pure.
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

/** @param strict equal neighbours break the order: an id stands once */
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

/** Of two parts of one walk; null says nothing. */
function mergeDirections(a: Direction | null, b: Direction | null): Direction | null {
  if (a === null || b === null) return a ?? b;
  return a === b ? a : 'mixed';
}

/** Items younger than this may still be joined by others with lower ids whose commit was late. */
const settledAfterMs = 60_000;

/** What of a page matters to where a walk goes on. */
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
 * Where a walk stands behind a page. Pure. The checkpoint is the cursor of the first page that a next poll has to
 * read again: the last page (it may grow), or an earlier one when pages before the end are younger than a minute.
 * It comes with a key that stood on that page, so that a poll can tell that the page is still the one it was.
 */
export function advanceWalk(walk: WalkProgress, page: WalkedPage): WalkProgress {
  const { summary } = page;
  const here = page.cursor === walk.checkpoint;
  const young = summary.newestAt !== null && summary.newestAt > page.requestedAt - settledAfterMs;
  const movesOn = here && page.hasMore && !young;
  return {
    cursor: page.nextCursor,
    checkpoint: movesOn ? page.nextCursor : walk.checkpoint,
    checkpointKey: movesOn ? null : here ? summary.lastKey : walk.checkpointKey,
    direction: mergeDirections(mergeDirections(walk.direction, acrossPages(walk, summary)), summary.direction),
    pageFirst: summary.firstValue ?? walk.pageFirst,
    pageLast: summary.lastValue ?? walk.pageLast,
    topId: young ? walk.topId : highest(walk.topId, summary.high),
    pages: walk.pages + 1,
    items: walk.items + summary.count,
    setAside: walk.setAside + summary.setAside,
    foreign: walk.foreign + summary.foreign,
  };
}

/**
 * Pages are compared by their beginnings: where rows move while a list is walked with positions for cursors, a page
 * may begin with items that ended the one before, and the list is in order all the same.
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

/** Whether a poll's first page is still the page that the checkpoint was taken on. */
export function checkpointHolds(
  stored: {
    readonly checkpoint: string | null;
    readonly checkpointKey: string | null;
    readonly perPage: number | null;
  },
  page: { readonly perPage: number; readonly keys: readonly string[] },
): boolean {
  if (stored.perPage !== null && stored.perPage !== page.perPage) return false;
  // Without a key there was nothing on that page: at the beginning of a list this says all, elsewhere nothing.
  if (stored.checkpointKey === null) return stored.checkpoint === null;
  return page.keys.includes(stored.checkpointKey);
}

/** A read from the head has reached what was stored when it began. */
export function reachesKnown(untilId: number | null, { count, high }: PageSummary): boolean {
  return untilId !== null && count > 0 && high !== null && high <= untilId;
}
