/** Order of the values that a walk has read so far. `mixed`: neither ascending nor descending. */
export type Direction = 'ascending' | 'descending' | 'mixed';

export type ItemOrder = 'unknown' | 'ascending' | 'descending' | 'unordered';

export type WalkKind = 'poll' | 'sweep';

/** Position of a walk after a page; stored with the page, so that a retry continues after the last stored page. */
export interface WalkProgress {
  /** Cursor of the page to request next; null: the first page. */
  readonly cursor: string | null;
  /** If the walk ended now, the next poll would start at the page with this cursor; null: the first page. */
  readonly checkpoint: string | null;
  /** The key of an item on that page. */
  readonly checkpointKey: string | null;
  /** Null if the walk has read fewer than two items. */
  readonly direction: Direction | null;
  /** Values of the first and last item of the previous page; null if there is none. */
  readonly pageFirst: number | null;
  readonly pageLast: number | null;
  /** The highest id on pages whose items are all older than a minute. */
  readonly topId: number | null;
  readonly pages: number;
  readonly items: number;
  readonly setAside: number;
  /**
   * Number of rows of sessions other than the requested one. If there are any, the walk does not prove that an item is
   * absent.
   */
  readonly foreign: number;
}

/** A walk in progress. Each page is committed together with the walk's progress. */
export interface OpenWalk extends WalkProgress {
  readonly kind: WalkKind;
  /** For a sweep: the number of finished sweeps plus one. 0 for a poll. */
  readonly number: number;
  /** Time of the walk's start, by the database's clock. */
  readonly startedAt: Date;
  /** Time of the walk's first request; null before that. */
  readonly firstAt: Date | null;
  /**
   * True if each cycle reads as many pages of the walk as it can. False for a rolling sweep: each cycle reads a few of
   * its pages in addition to the poll.
   */
  readonly through: boolean;
  /**
   * For a poll of a list in descending order: the poll ends at the first page whose ids are all at or below this one.
   * Null for all other walks.
   */
  readonly untilId: number | null;
  /** True if a page differed from the same page of the previous sweep. */
  readonly differs: boolean;
}

/** Facts about a page that a walk's progress and later sweeps need, without the page's items. */
export interface PageSummary {
  readonly count: number;
  /**
   * Values of the first and last item: ids, or times if the list has no ids. Null if there is no item, or not all items
   * have a value.
   */
  readonly firstValue: number | null;
  readonly lastValue: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Order within the page; null if it has fewer than two items. */
  readonly direction: Direction | null;
  readonly lastKey: string | null;
  /** Creation time of the newest item in epoch ms; null if no item has one. */
  readonly newestAt: number | null;
  /** Number of rows that have neither an id nor stable fields that could form a key. */
  readonly setAside: number;
  /** Number of rows of sessions other than the requested one. */
  readonly foreign: number;
}
