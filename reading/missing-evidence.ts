import { questionLists } from '../base/lists.js';
import type { Direction, WalkProgress } from '../ledger/walk.js';

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

/**
 * Returns why a complete walk does not prove that an item is absent; null if it can prove it. `foreign-rows`: the walk
 * showed rows of other sessions, so its list may not be the requested one. `unidentified-rows`: the walk showed rows
 * that could not be identified, and the missing items may be among them. Pure.
 */
export function doubtAboutWalk({
  foreign,
  setAside,
}: Pick<WalkProgress, 'foreign' | 'setAside'>): 'foreign-rows' | 'unidentified-rows' | null {
  if (foreign > 0) return 'foreign-rows';
  return setAside > 0 ? 'unidentified-rows' : null;
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
  /**
   * Number of complete walks, after the first one that lacked the item, which showed every item that the walk before
   * showed, and none twice. Such a walk overlooked no other item.
   */
  readonly steadyWalks: number;
  /** Time in milliseconds since the first of all the walks that lacked the item. None showed it since. */
  readonly missingForMs: number;
}

/** Number of steady walks that prove an absence together. */
const provingWalks = 3;

/**
 * Returns true if the evidence proves that an item no longer exists in the service. One of four kinds is enough: one
 * response with the whole list, two walks that lacked the item between its neighbours, one of them the latest, the same
 * pages over at least `settleMs`, or several steady walks over at least `settleMs`. The last kind serves lists whose order
 * differs in every walk. Pure.
 */
export function isProvedMissing(
  { wholeInOne, walks, showsPlace, unmovedForMs, steadyWalks, missingForMs }: Evidence,
  settleMs: number,
): boolean {
  const isSteady = steadyWalks >= provingWalks && missingForMs >= settleMs;
  return wholeInOne || (showsPlace && walks >= 2) || unmovedForMs >= settleMs || isSteady;
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

/** The items that one list of a pigeonhole has lost. */
export interface Loss {
  readonly list: string;
  /** Number of items that are missing now, or were deleted in the current hour. */
  readonly lost: number;
  /** Number of items that the list had, including those deleted in the current hour. */
  readonly ofItems: number;
}

/** From this share of a list on, a loss counts as a large part of the list. */
const largeShare = 1 / 3;
/** A smaller number of items is never a large part of a list, because moderators delete a few items of short lists. */
const largeItems = 3;

function isWhole({ lost, ofItems }: Loss): boolean {
  return lost > 0 && lost >= ofItems;
}

function isLargePart(loss: Loss, share: number): boolean {
  return isWhole(loss) || (loss.lost >= largeItems && loss.lost >= Math.max(share, largeShare) * loss.ofItems);
}

/**
 * Returns why the deletions of a list are held until an operator confirms them; null if they are not held.
 *
 * - `many`: the list lost more than both limits allow.
 * - `whole-list`: the list lost all of its items, and there were several.
 * - `several-lists`: this list and another one lost a large part together.
 *
 * The last two depend on no number, because a service that loses its data loses small lists as well. A limit of 100 %
 * turns all of them off: no loss is greater. Pure.
 * @param others losses of the other lists of the pigeonhole
 */
export function whyHeld(
  { holdAbove }: Pick<DeletionLimits, 'holdAbove'>,
  own: Loss,
  others: readonly Loss[],
): 'many' | 'whole-list' | 'several-lists' | null {
  const { share, items } = holdAbove;
  if (share >= 1) return null;
  if (own.lost > items && own.lost > share * own.ofItems) return 'many';
  if (isWhole(own) && own.lost > 1) return 'whole-list';
  // A question that is deleted leaves both of its lists.
  const isOther = ({ list }: Loss): boolean =>
    list !== own.list && !(questionLists.has(list) && questionLists.has(own.list));
  const isTogether = isLargePart(own, share) && others.some((each) => isOther(each) && isLargePart(each, share));
  return isTogether ? 'several-lists' : null;
}

/**
 * Returns the number of items up to which `whyHeld` needs to know the size of a list: in a longer list, the loss is
 * neither a large part nor above the limit. Null: the size always matters. Pure.
 */
export function itemsToCount({ holdAbove: { share } }: Pick<DeletionLimits, 'holdAbove'>, lost: number): number | null {
  return share === 0 ? null : Math.ceil(lost / Math.min(share, largeShare)) + 1;
}
