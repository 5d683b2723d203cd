/** Order of the values of a walk so far. `mixed`: neither. */
export type Direction = 'ascending' | 'descending' | 'mixed';

export type ItemOrder = 'unknown' | 'ascending' | 'descending' | 'unordered';

export type WalkKind = 'poll' | 'sweep';

/** Position of a walk after a page; stored with the page, so that a retry continues after the last stored page. */
export interface WalkProgress {
  /** The page to request next; null: the first. */
  readonly cursor: string | null;
  /** Cursor of the page at which the next poll would start, were the walk to end here; null: the first page. */
  readonly checkpoint: string | null;
  /** A key that stood on that page. */
  readonly checkpointKey: string | null;
  /** Null: fewer than two items. */
  readonly direction: Direction | null;
  /** Value of the first and of the last item of the page before; null: none. */
  readonly pageFirst: number | null;
  readonly pageLast: number | null;
  /** The highest id on pages whose items are all older than a minute. */
  readonly topId: number | null;
  readonly pages: number;
  readonly items: number;
  readonly setAside: number;
  /** Rows of other sessions than the one asked for: the walk proves nothing then. */
  readonly foreign: number;
}

/** A walk in progress. Pages of both kinds commit with its progress. */
export interface OpenWalk extends WalkProgress {
  readonly kind: WalkKind;
  /** For a sweep: one more than the last that finished. 0 for a poll. */
  readonly number: number;
  /** By the database's clock. */
  readonly startedAt: Date;
  /** Instant of its first request; null before that. */
  readonly firstAt: Date | null;
  /** A sweep that was due: read on at every turn, and not a few pages beside each poll. */
  readonly through: boolean;
  /** A read from the head ends at a page whose ids are all at or below. */
  readonly untilId: number | null;
  /** A page was not the one that the sweep before saw. */
  readonly differs: boolean;
}

/** A page without its items: everything that a walk's progress and a later sweep need. */
export interface PageSummary {
  readonly count: number;
  /** Values (ids, or times where the list has no ids) of its first and its last item; null: none, or not all have one. */
  readonly firstValue: number | null;
  readonly lastValue: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Within the page; null: fewer than two items. */
  readonly direction: Direction | null;
  readonly lastKey: string | null;
  /** Creation time of its newest item, epoch ms; null: no row has one. */
  readonly newestAt: number | null;
  /** Rows without any identity. */
  readonly setAside: number;
  /** Rows of other sessions than the one asked for. */
  readonly foreign: number;
}
