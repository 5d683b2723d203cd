import type { Direction } from './walk.js';

/**
 * The first and last values of a page of a complete walk. If an item's value lies between them, and the page does not
 * show the item, the item was absent.
 */
export interface PageBounds {
  readonly firstValue: number | null;
  readonly lastValue: number | null;
  /**
   * True if the page has the maximum number of rows. Then only `hasMore: false` indicates that no row follows, which is
   * not enough proof.
   */
  readonly isFull: boolean;
}

/**
 * Returns true if one response showed the place where the item would be, and the item was not there: between two items
 * of one page, before the first item of the walk, or after the last. A gap between two pages proves nothing, because
 * the item may have moved from one page to the other between the two requests. Valid only for a list in ascending order
 * of immutable ids. Pure.
 * @param pages all pages of a walk, in order
 */
export function lacksBetweenNeighbours(
  value: number,
  pages: readonly PageBounds[],
  direction: Direction | null,
): boolean {
  if (direction === 'mixed' || direction === 'descending') return false;
  const filled = pages.filter((page) => page.firstValue !== null && page.lastValue !== null);
  if (filled.length === 0) return pages.length === 1;
  if (value < filled[0]!.firstValue!) return filled[0] === pages[0];
  if (value > filled.at(-1)!.lastValue!) return filled.at(-1) === pages.at(-1) && !pages.at(-1)!.isFull;
  return filled.some(({ firstValue, lastValue }) => firstValue! < value && value < lastValue!);
}

interface Evidence {
  /** True if one response, requested without cursor or filter, contained the whole list and had room for more rows. */
  readonly wholeInOne: boolean;
  /** Number of complete walks that lacked the item between its neighbours (`lacksBetweenNeighbours`). */
  readonly walks: number;
  /**
   * True if the latest walk also lacked the item between its neighbours. Otherwise the walks confirm nothing: the item
   * may have moved from one page to another during the latest walk, and the service may have sent too few rows to the
   * earlier walks.
   */
  readonly showsPlace: boolean;
  /** Time in milliseconds over which all walks have shown the same sequence of pages without the item. */
  readonly unmovedForMs: number;
}

/**
 * Returns true if the evidence proves that an item no longer exists in the service. One of three kinds is enough: one
 * response with the whole list, two walks that lacked the item between its neighbours, one of them the latest, or the
 * same pages over at least `settleMs`. Pure.
 */
export function isProvedMissing({ wholeInOne, walks, showsPlace, unmovedForMs }: Evidence, settleMs: number): boolean {
  return wholeInOne || (showsPlace && walks >= 2) || unmovedForMs >= settleMs;
}

export interface DeletionLimits {
  readonly settleMs: number;
  /** Minimum milliseconds between two responses that must agree before a large loss counts. */
  readonly confirmMs: number;
  /** Deletions are held if they exceed both limits. `share` is a fraction (0 to 1) of the list's items. */
  readonly holdAbove: { readonly share: number; readonly items: number };
}

/** Limits as they apply to one stream at one moment. */
export interface StreamDeletionLimits extends DeletionLimits {
  /**
   * True if the list contains questions and its session is live: a question that was withdrawn must then disappear at
   * the next poll.
   */
  readonly isLiveQuestions: boolean;
}

/** Up to this share of a stream's items, a loss counts as small and needs no waiting time. */
const fewShare = 0.03;

/**
 * Returns the minimum time between the first response that lacked the items and a second, separate one that confirms
 * it, because a single response can be wrong. 0 means that the second may follow immediately. Pure.
 * @param lost number of items now proved missing
 * @param ofItems number of items the stream had
 */
export function confirmAfterMs(
  { confirmMs, isLiveQuestions }: Pick<StreamDeletionLimits, 'confirmMs' | 'isLiveQuestions'>,
  lost: number,
  ofItems: number,
): number {
  const isFew = lost <= fewShare * ofItems || (isLiveQuestions && lost === 1);
  return isFew ? 0 : confirmMs;
}

/**
 * Returns true if the deletions are held until an operator confirms them.
 * @param items number of items to delete, including those deleted in the current hour
 * @param ofItems number of items the list had
 */
export function isHeld({ holdAbove }: DeletionLimits, items: number, ofItems: number): boolean {
  return items > holdAbove.items && items > holdAbove.share * ofItems;
}
