import fc from 'fast-check';
import type { OpenWalk } from '../ledger/queries/streams.js';
import { advanceWalk, checkpointHolds, type WalkedPage } from './walk-progress.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const minuteMs = 60_000;

const walkFrom = (cursor: string | null): OpenWalk => ({
  kind: cursor === null ? 'sweep' : 'poll',
  startedAt: new Date(now),
  cursor,
  checkpoint: cursor,
  checkpointKey: null,
  lastId: null,
  ascending: true,
  pages: 0,
  items: 0,
  perPage: 0,
});

interface Row {
  id: number;
  at: number;
}

/** The page of an ascending list behind the id that a cursor names, as a service with keyset cursors shows it. */
function pageOf(rows: readonly Row[], cursor: string | null, size: number): WalkedPage {
  const behind = rows.filter(({ id }) => cursor === null || id > Number(cursor)).toSorted((a, b) => a.id - b.id);
  const shown = behind.slice(0, size);
  const hasMore = behind.length > size;
  return {
    cursor,
    nextCursor: hasMore ? String(shown.at(-1)!.id) : null,
    hasMore,
    perPage: size,
    requestedAt: now,
    items: shown.map(({ id, at }) => ({ key: String(id), id, at })),
  };
}

/** Walks to the end; gives back the walk and the ids it has seen. */
function walkAll(rows: readonly Row[], from: string | null, size: number): { end: OpenWalk; seen: number[] } {
  let walk = walkFrom(from);
  const seen: number[] = [];
  for (;;) {
    const page = pageOf(rows, walk.cursor, size);
    seen.push(...page.items.map(({ id }) => id!));
    walk = { ...walk, ...advanceWalk(walk, page) };
    if (!page.hasMore) return { end: walk, seen };
  }
}

const rows = fc
  .uniqueArray(fc.record({ id: fc.integer({ min: 1, max: 400 }), ageMs: fc.integer({ min: 0, max: 5 * minuteMs }) }), {
    selector: ({ id }) => id,
    maxLength: 40,
  })
  .map((all) => all.map(({ id, ageMs }) => ({ id, at: now - ageMs })));
const size = fc.integer({ min: 1, max: 8 });

describe('the checkpoint of a walk', () => {
  it('never lies behind an item that the walk has not stored, so that a poll from it finds all that is appended', () => {
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
          expect(before.length === 0 || checkpointHolds(end, first)).toBe(true);
          const found = new Set([...seen, ...walkAll(after, end.checkpoint, perPage).seen]);
          expect(found).toEqual(new Set(after.map(({ id }) => id)));
        },
      ),
    );
  });

  it('trails so far that an item of a late commit, among items younger than a minute, is found by the next poll', () => {
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
          const late = { id: 10 * (old + 1) + 5 + 10 * (pick % young), at: now - 500 }; // behind the first young one
          expect(walkAll([...before, late], end.checkpoint, perPage).seen).toContain(late.id);
        },
      ),
    );
  });

  it('moves to the last page once all is older than a minute', () => {
    const before = Array.from({ length: 25 }, (_, index) => ({ id: index + 1, at: now - 2 * minuteMs }));
    expect(walkAll(before, null, 10).end).toMatchObject({
      checkpoint: '20',
      checkpointKey: '25',
      pages: 3,
      items: 25,
      ascending: true,
    });
  });

  it('stays where it was while the first page of a poll is young', () => {
    const before = Array.from({ length: 25 }, (_, index) => ({ id: index + 1, at: now - 1000 }));
    expect(walkAll(before, '10', 10).end).toMatchObject({ checkpoint: '10', checkpointKey: '20' });
  });

  it('takes items that do not say when they came to be for settled ones', () => {
    const page = {
      ...pageOf(
        [1, 2, 3].map((id) => ({ id, at: 0 })),
        null,
        2,
      ),
      requestedAt: now,
    };
    const undated = { ...page, items: page.items.map((item) => ({ ...item, at: undefined })) };
    expect(advanceWalk(walkFrom(null), undated).checkpoint).toBe('2');
  });
});

describe('the order of a walk', () => {
  const after = (...ids: (number | undefined)[]): boolean => {
    const items = ids.map((id) => ({ key: String(id), id, at: undefined }));
    return advanceWalk(walkFrom(null), { ...pageOf([], null, 9), items }).ascending;
  };

  it('is ascending when each id is above the one before', () => {
    expect([after(), after(5), after(1, 2, 9)]).toEqual([true, true, true]);
  });

  it('is not when one repeats, falls or is missing', () => {
    expect([after(1, 1), after(2, 1), after(1, undefined)]).toEqual([false, false, false]);
  });

  it('is judged across pages too', () => {
    const walk = { ...walkFrom(null), lastId: 50 };
    expect(advanceWalk(walk, pageOf([{ id: 40, at: 0 }], null, 9)).ascending).toBe(false);
    expect(advanceWalk(walk, pageOf([{ id: 60, at: 0 }], null, 9)).ascending).toBe(true);
  });
});

describe('a checkpoint', () => {
  const page = pageOf(
    [1, 2, 3].map((id) => ({ id, at: 0 })),
    null,
    10,
  );
  const stored = { checkpoint: 'c', checkpointKey: '3', perPage: 10 };

  it('holds on a page of the same size that shows its key', () => {
    expect(checkpointHolds(stored, page)).toBe(true);
  });

  it('does not hold when the key is gone, or the pages have another size', () => {
    expect(checkpointHolds({ ...stored, checkpointKey: '4' }, page)).toBe(false);
    expect(checkpointHolds({ ...stored, perPage: 300 }, page)).toBe(false);
  });

  it('without a key holds at the beginning of a list alone', () => {
    expect(checkpointHolds({ ...stored, checkpointKey: null }, page)).toBe(false);
    expect(checkpointHolds({ ...stored, checkpointKey: null, checkpoint: null }, page)).toBe(true);
  });
});
