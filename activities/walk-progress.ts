import type { OpenWalk } from '../ledger/queries/streams.js';
import type { WalkProgress } from '../ledger/queries/record-page.js';

/** Items younger than this may still be joined by others with lower ids whose commit was late. */
const settledAfterMs = 60_000;

/** What of a page matters to where a walk goes on. */
export interface WalkedPage {
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly perPage: number;
  /** Epoch ms. */
  readonly requestedAt: number;
  /** In the page's order: key, the id where the list has one, and when the item came to be (epoch ms), where it says. */
  readonly items: readonly { readonly key: string; readonly id: number | undefined; readonly at: number | undefined }[];
}

/**
 * Where a walk stands behind a page. Pure. The checkpoint is the cursor of the first page that a next poll has to
 * read again: the last page (it may grow), or an earlier one when pages before the end are younger than a minute.
 * It comes with a key that stood on that page, so that a poll can tell that the page is still the one it was.
 */
export function advanceWalk(walk: OpenWalk, page: WalkedPage): WalkProgress {
  const order = followOrder(walk, page);
  const here = page.cursor === walk.checkpoint;
  const movesOn = here && page.hasMore && !isYoung(page);
  return {
    cursor: page.nextCursor,
    checkpoint: movesOn ? page.nextCursor : walk.checkpoint,
    checkpointKey: movesOn ? null : here ? (page.items.at(-1)?.key ?? null) : walk.checkpointKey,
    lastId: order.lastId,
    ascending: order.ascending,
    pages: walk.pages + 1,
    items: walk.items + page.items.length,
    perPage: page.perPage,
  };
}

function followOrder(walk: OpenWalk, page: WalkedPage): { lastId: number | null; ascending: boolean } {
  let { lastId, ascending } = walk;
  for (const { id } of page.items) {
    if (id === undefined || (lastId !== null && id <= lastId)) ascending = false;
    lastId = id ?? lastId;
  }
  return { lastId, ascending };
}

function isYoung(page: WalkedPage): boolean {
  return page.items.some(({ at }) => at !== undefined && at > page.requestedAt - settledAfterMs);
}

/** Whether a poll's first page is still the page that the checkpoint was taken on. */
export function checkpointHolds(
  stored: {
    readonly checkpoint: string | null;
    readonly checkpointKey: string | null;
    readonly perPage: number | null;
  },
  page: WalkedPage,
): boolean {
  if (stored.perPage !== null && stored.perPage !== page.perPage) return false;
  // Without a key there was nothing on that page: at the beginning of a list this says all, elsewhere nothing.
  if (stored.checkpointKey === null) return stored.checkpoint === null;
  return page.items.some(({ key }) => key === stored.checkpointKey);
}
