import fc from 'fast-check';
import type { WalkProgress } from '../ledger/walk.js';
import {
  type Placed,
  summarizePage,
  advanceWalk,
  checkpointHolds,
  reachesKnown,
  repeatsPage,
  type WalkedPage,
  walkStart,
  breaksOrder,
  demoted,
  type KnownOrder,
  orderAfterSweep,
} from './walk-progress.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const minuteMs = 60_000;

interface Row {
  id: number;
  at: number;
}

interface TestPage extends WalkedPage {
  readonly ids: readonly number[];
}

const placed = ({ id, at }: { id: number; at?: number | undefined }): Placed => ({ key: String(id), id, at });

/** Returns the page of an ascending list that starts after the id in the cursor, as with keyset cursors. */
function pageOf(rows: readonly Row[], cursor: string | null, size: number): TestPage {
  const following = rows.filter(({ id }) => cursor === null || id > Number(cursor)).toSorted((a, b) => a.id - b.id);
  const shown = following.slice(0, size);
  const hasMore = following.length > size;
  return {
    cursor,
    nextCursor: hasMore ? String(shown.at(-1)!.id) : null,
    hasMore,
    requestedAt: now,
    summary: summarizePage(shown.map(placed)),
    ids: shown.map(({ id }) => id),
  };
}

const from = (cursor: string | null): WalkProgress => ({ ...walkStart, cursor, checkpoint: cursor });

/** Walks from a cursor to the end. Returns the finished walk and the ids that it has seen. */
function walkAll(rows: readonly Row[], cursor: string | null, size: number): { end: WalkProgress; seen: number[] } {
  let walk = from(cursor);
  const seen: number[] = [];
  for (;;) {
    const page = pageOf(rows, walk.cursor, size);
    seen.push(...page.ids);
    walk = advanceWalk(walk, page);
    if (!page.hasMore) return { end: walk, seen };
  }
}

const holds = (end: WalkProgress, { ids }: TestPage, perPage: number): boolean =>
  checkpointHolds({ ...end, perPage }, { perPage, keys: ids.map(String) });

const rows = fc
  .uniqueArray(fc.record({ id: fc.integer({ min: 1, max: 400 }), ageMs: fc.integer({ min: 0, max: 5 * minuteMs }) }), {
    selector: ({ id }) => id,
    maxLength: 40,
  })
  .map((all) => all.map(({ id, ageMs }) => ({ id, at: now - ageMs })));
const size = fc.integer({ min: 1, max: 8 });

describe('the checkpoint of a walk', () => {
  it('never skips an item, so that a poll from it finds every item that was appended', () => {
    fc.assert(
      fc.property(
        rows,
        size,
        fc.array(fc.integer({ min: 401, max: 500 }), { maxLength: 12 }),
        (before, perPage, appended) => {
          const { end, seen } = walkAll(before, null, perPage);
          expect(seen.toSorted((a, b) => a - b)).toEqual(before.map(({ id }) => id).toSorted((a, b) => a - b));
          const after = [...before, ...new Set(appended)].map((row) =>
            typeof row === 'number' ? { id: row, at: now } : row,
          );
          const first = pageOf(after, end.checkpoint, perPage);
          expect(before.length === 0 || holds(end, first, perPage)).toBe(true);
          const found = new Set([...seen, ...walkAll(after, end.checkpoint, perPage).seen]);
          expect(found).toEqual(new Set(after.map(({ id }) => id)));
        },
      ),
    );
  });

  it('is early enough for the next poll to find an item committed late, among items younger than a minute', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 40 }),
        fc.integer({ min: 1, max: 20 }),
        size,
        fc.nat(100),
        (old, young, perPage, pick) => {
          const ids = Array.from({ length: old + young }, (_, index) => 10 * (index + 1));
          const before = ids.map((id, index) => ({ id, at: index < old ? now - 2 * minuteMs : now - 1000 }));
          const { end } = walkAll(before, null, perPage);
          const late = { id: 10 * (old + 1) + 5 + 10 * (pick % young), at: now - 500 }; // after the first item that is younger than a minute
          expect(walkAll([...before, late], end.checkpoint, perPage).seen).toContain(late.id);
        },
      ),
    );
  });

  it('moves to the last page once all items are older than a minute', () => {
    const before = Array.from({ length: 25 }, (_, index) => ({ id: index + 1, at: now - 2 * minuteMs }));
    expect(walkAll(before, null, 10).end).toMatchObject({
      checkpoint: '20',
      checkpointKey: '25',
      pages: 3,
      items: 25,
      direction: 'ascending',
    });
  });

  it('does not move while the items on the first page of a poll are younger than a minute', () => {
    const before = Array.from({ length: 25 }, (_, index) => ({ id: index + 1, at: now - 1000 }));
    expect(walkAll(before, '10', 10).end).toMatchObject({ checkpoint: '10', checkpointKey: '20' });
  });

  it('treats items without a creation time as settled', () => {
    const page = pageOf(
      [1, 2, 3].map((id) => ({ id, at: now })),
      null,
      2,
    );
    const undated = {
      ...page,
      summary: summarizePage([1, 2].map((id) => placed({ id }))),
    };
    expect(advanceWalk(walkStart, undated).checkpoint).toBe('2');
  });
});

describe('the order of a walk', () => {
  const over = (...pages: (number | undefined)[][]): WalkProgress['direction'] =>
    pages.reduce<WalkProgress>((walk, ids) => {
      const items = ids.map((id) => ({ key: String(id), id, at: undefined }));
      return advanceWalk(walk, {
        cursor: 'c',
        nextCursor: 'd',
        hasMore: true,
        requestedAt: now,
        summary: summarizePage(items),
      });
    }, walkStart).direction;

  it.each([
    { pages: [[]], is: null },
    { pages: [[5]], is: null },
    { pages: [[1, 2, 9]], is: 'ascending' },
    { pages: [[9, 2, 1]], is: 'descending' },
    { pages: [[1, 1]], is: 'mixed' },
    { pages: [[1, 3, 2]], is: 'mixed' },
    { pages: [[1, undefined]], is: 'mixed' },
    { pages: [[5], [6]], is: 'ascending' },
    { pages: [[5], [4]], is: 'descending' },
    {
      pages: [
        [1, 5],
        [6, 9],
      ],
      is: 'ascending',
    },
    {
      pages: [
        [1, 5],
        [2, 9],
      ],
      is: 'ascending',
    }, // late rows moved the other rows during the walk
    {
      pages: [
        [1, 5],
        [0, 9],
      ],
      is: 'mixed',
    },
    {
      pages: [
        [1, 5],
        [9, 6],
      ],
      is: 'mixed',
    },
    {
      pages: [
        [9, 5],
        [8, 3],
      ],
      is: 'descending',
    },
  ] as const)('over pages $pages is $is', ({ pages, is }) => {
    expect(over(...pages.map((ids) => [...ids]))).toBe(is);
  });
});

describe('a checkpoint', () => {
  const page = { perPage: 10, keys: ['1', '2', '3'] };
  const stored = { checkpoint: 'c', checkpointKey: '3', perPage: 10 };

  it('is valid on a page of the same size that contains its key', () => {
    expect(checkpointHolds(stored, page)).toBe(true);
  });

  it('is invalid if the page lacks its key, or if the page size differs', () => {
    expect(checkpointHolds({ ...stored, checkpointKey: '4' }, page)).toBe(false);
    expect(checkpointHolds({ ...stored, perPage: 300 }, page)).toBe(false);
  });

  it('without a key is valid only at the start of a list', () => {
    expect(checkpointHolds({ ...stored, checkpointKey: null }, page)).toBe(false);
    expect(checkpointHolds({ ...stored, checkpointKey: null, checkpoint: null }, page)).toBe(true);
  });
});

describe('a read from the head', () => {
  const shows = (...ids: number[]) => summarizePage(ids.map((id) => placed({ id, at: now })));

  it('reaches known items at a page without newer ones', () => {
    expect(reachesKnown(5, shows(5, 4))).toBe(true);
    expect(reachesKnown(5, shows(6, 5, 4))).toBe(false);
  });

  it('reaches no known item if none was known, or if the page is empty', () => {
    expect(reachesKnown(null, shows(1))).toBe(false);
    expect(reachesKnown(5, shows())).toBe(false);
  });
});

describe('the detection of a repeated page', () => {
  const after = (pages: number): WalkProgress => ({ ...walkStart, pages, pageFirst: 5, pageLast: 9 });
  const page = (firstValue: number | null, lastValue: number | null) => ({
    ...summarizePage([]),
    firstValue,
    lastValue,
  });

  it.each([
    ['of ids', after(1), page(5, 9), true, true],
    ['with several instants', after(1), page(5, 9), false, true],
    ['with one id', { ...after(1), pageLast: 5 }, page(5, 5), true, true],
    ['with one instant', { ...after(99), pageLast: 5 }, page(5, 5), false, false],
    ['with one instant, after a hundred pages', { ...after(100), pageLast: 5 }, page(5, 5), false, true],
    ['without values', after(99), page(null, null), true, false],
    ['without values, after a hundred pages', after(100), page(null, null), true, true],
    ['whose last value is higher', after(1), page(5, 10), true, false],
    ['in a walk that has just started', walkStart, page(5, 9), true, false],
  ])('for a page %s: is repeated', (_, walk, summary, hasIds, isRepeated) => {
    expect(repeatsPage(walk, summary, { hasIds })).toBe(isRepeated);
  });
});

const unknown: KnownOrder = { order: 'unknown', cleanWalks: 0, cleanDirection: null, promoteAt: 1 };
const after = (known: KnownOrder, ...walks: ('ascending' | 'descending' | 'mixed' | null)[]): string[] => {
  let now = known;
  return walks.map((direction) => {
    now = orderAfterSweep(now, direction);
    return now.order;
  });
};

describe('the order of a stream', () => {
  it('is the order of the first walk with at least two items', () => {
    expect(after(unknown, null, 'ascending', null, 'ascending')).toEqual([
      'unknown',
      'ascending',
      'ascending',
      'ascending',
    ]);
    expect(after(unknown, 'descending')).toEqual(['descending']);
    expect(after(unknown, 'mixed')).toEqual(['unordered']);
  });

  it('changes only after three clean walks in another direction', () => {
    expect(after(unknown, 'ascending', 'descending', 'descending', 'descending')).toEqual([
      'ascending',
      'unordered',
      'unordered',
      'descending',
    ]);
    expect(after(unknown, 'mixed', 'ascending', 'ascending', 'mixed', 'ascending', 'ascending', 'ascending')).toEqual([
      'unordered',
      'unordered',
      'unordered',
      'unordered',
      'unordered',
      'unordered',
      'ascending',
    ]);
  });

  it('needs three clean walks again after a page that contradicts it', () => {
    expect(after(demoted({ ...unknown, order: 'ascending', cleanWalks: 9 }), 'ascending', 'ascending')).toEqual([
      'unordered',
      'unordered',
    ]);
  });

  it.each([
    { order: 'ascending', shown: 'descending', breaks: true },
    { order: 'ascending', shown: 'mixed', breaks: true },
    { order: 'ascending', shown: null, breaks: false },
    { order: 'descending', shown: 'descending', breaks: false },
    { order: 'unordered', shown: 'mixed', breaks: false },
    { order: 'unknown', shown: 'mixed', breaks: false },
  ] as const)('$order: pages that show $shown contradict it: $breaks', ({ order, shown, breaks }) => {
    expect(breaksOrder(order, shown)).toBe(breaks);
  });
});
