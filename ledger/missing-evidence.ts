import type { Direction } from './walk.js';

/** The first and last values of a page of a whole walk: they prove what is not between them. */
export interface PageBounds {
  readonly firstValue: number | null;
  readonly lastValue: number | null;
  /** The page has the maximum number of rows: only the service's word says that nothing follows it. */
  readonly isFull: boolean;
}

/**
 * Whether an item would have had to stand on one of these pages between items that did, or before the first page's
 * or behind the last page's: one answer showed its place, and it was not there. At the seam of two pages it may have
 * slipped from one to the other while they were read. Only for a list in ascending order of immutable ids. Pure.
 * @param pages all of a walk, in order
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

export interface Evidence {
  /** One answer, asked for without a cursor and without a filter, held the whole list, and had room for more. */
  readonly wholeInOne: boolean;
  /** Whole walks that lacked it between its neighbours (`lacksBetweenNeighbours`). */
  readonly walks: number;
  /** Milliseconds over which walks have shown one sequence of pages, all without it. */
  readonly unmovedForMs: number;
}

/** The design's rules for a walk: one whole answer, two walks in order, or two identical ones far enough apart. Pure. */
export function isProvedMissing({ wholeInOne, walks, unmovedForMs }: Evidence, settleMs: number): boolean {
  return wholeInOne || walks >= 2 || unmovedForMs >= settleMs;
}

export interface DeletionLimits {
  readonly settleMs: number;
  /** Between two answers that both show much less than before. */
  readonly confirmMs: number;
  /** Deletions above both are held. Share: 0 to 1, of the items of a list. */
  readonly holdAbove: { readonly share: number; readonly items: number };
}

/** Limits as they apply to one stream at one moment. */
export interface StreamDeletionLimits extends DeletionLimits {
  /** The list holds questions and its session runs: a withdrawn question has to disappear with the next poll. */
  readonly isLiveQuestions: boolean;
}

/** More than this share of a stream's items at once is much. */
const fewShare = 0.03;

/**
 * Returns how long after the first answer that lacked them a second, separate one has to be requested before items
 * count as deleted: one answer can be a glitch. 0: the second may follow immediately. Pure.
 * @param lost items that are proved to be missing now
 * @param ofItems that the stream had
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
 * Whether so many deletions wait for a person.
 * @param items that are missing, those of the present hour included
 * @param ofItems that the list had
 */
export function isHeld({ holdAbove }: DeletionLimits, items: number, ofItems: number): boolean {
  return items > holdAbove.items && items > holdAbove.share * ofItems;
}
