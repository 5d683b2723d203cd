import type { Direction, PageSummary } from '../ledger/walk.js';

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
export function mergeDirections(a: Direction | null, b: Direction | null): Direction | null {
  if (a === null || b === null) return a ?? b;
  return a === b ? a : 'mixed';
}
