import {
  confirmAfterMs,
  doubtAboutWalk,
  isProvedMissing,
  itemsToCount,
  lacksBetweenNeighbours,
  type Loss,
  whyHeld,
} from './missing-evidence.js';

const page = (firstValue: number | null, lastValue: number | null, isFull = false) => ({
  firstValue,
  lastValue,
  isFull,
});
const pages = [page(1, 9), page(12, 20), page(21, 30)];

describe('the absence of an item', () => {
  it.each([
    { value: 5, lacks: true, why: 'between two items of a page' },
    { value: 15, lacks: true, why: 'between two items of a page' },
    { value: 10, lacks: false, why: 'between two pages, because the item may have moved from one to the other' },
    { value: 0, lacks: true, why: 'before the first item of the first page' },
    { value: 31, lacks: true, why: 'after the last item of the last page' },
  ])('with value $value is proved: $lacks, $why', ({ value, lacks }) => {
    expect(lacksBetweenNeighbours(value, pages, 'ascending')).toBe(lacks);
  });

  it('after a full last page is not proved, because a list that ends too early looks the same', () => {
    expect(lacksBetweenNeighbours(31, [page(1, 9, true), page(12, 30, true)], 'ascending')).toBe(false);
    expect(lacksBetweenNeighbours(31, [page(1, 9, true), page(12, 30)], 'ascending')).toBe(true);
  });

  it('is not proved in a list that is not in ascending order', () => {
    expect(lacksBetweenNeighbours(5, pages, 'mixed')).toBe(false);
    expect(lacksBetweenNeighbours(5, pages, 'descending')).toBe(false);
  });

  it('is proved by one empty page, but not by several empty pages', () => {
    expect(lacksBetweenNeighbours(5, [page(null, null)], null)).toBe(true);
    expect(lacksBetweenNeighbours(5, [page(null, null), page(null, null)], null)).toBe(false);
    expect(lacksBetweenNeighbours(35, [page(1, 9), page(null, null)], 'ascending')).toBe(false);
  });
});

describe('the loss of an item', () => {
  const dayMs = 86_400_000;
  const none = { wholeInOne: false, walks: 0, showsPlace: true, unmovedForMs: 0, steadyWalks: 0, missingForMs: 0 };

  it.each([
    { evidence: none, proved: false },
    { evidence: { ...none, wholeInOne: true }, proved: true },
    { evidence: { ...none, walks: 1 }, proved: false },
    { evidence: { ...none, walks: 2 }, proved: true },
    { evidence: { ...none, walks: 2, showsPlace: false }, proved: false },
    { evidence: { ...none, showsPlace: false, unmovedForMs: dayMs }, proved: true },
    { evidence: { ...none, unmovedForMs: dayMs - 1 }, proved: false },
    { evidence: { ...none, unmovedForMs: dayMs }, proved: true },
    { evidence: { ...none, steadyWalks: 3, missingForMs: dayMs }, proved: true },
    { evidence: { ...none, steadyWalks: 2, missingForMs: 9 * dayMs }, proved: false },
    { evidence: { ...none, steadyWalks: 9, missingForMs: dayMs - 1 }, proved: false },
  ])('is proved by $evidence: $proved', ({ evidence, proved }) => {
    expect(isProvedMissing(evidence, dayMs)).toBe(proved);
  });
});

describe('the wait for a second response that confirms a loss', () => {
  const after = (lost: number, ofItems: number, isLiveQuestions: boolean): number =>
    confirmAfterMs({ confirmMs: 30_000, isLiveQuestions }, lost, ofItems);

  it.each([
    { lost: 3, ofItems: 100, waits: 0 },
    { lost: 4, ofItems: 100, waits: 30_000 },
    { lost: 1, ofItems: 33, waits: 30_000 },
    { lost: 1, ofItems: 34, waits: 0 },
    { lost: 100, ofItems: 100, waits: 30_000 },
  ])('is $waits ms if $lost of $ofItems items are lost', ({ lost, ofItems, waits }) => {
    expect(after(lost, ofItems, false)).toBe(waits);
  });

  it('is 0 ms if a live list of questions has lost one item, but not two', () => {
    expect([after(1, 1, true), after(1, 5, true), after(2, 5, true)]).toEqual([0, 0, 30_000]);
  });
});

describe('a complete walk', () => {
  it('proves nothing if it showed rows of other sessions, or rows that nobody can identify', () => {
    expect(doubtAboutWalk({ foreign: 0, setAside: 0 })).toBeNull();
    expect(doubtAboutWalk({ foreign: 1, setAside: 1 })).toBe('foreign-rows');
    expect(doubtAboutWalk({ foreign: 0, setAside: 1 })).toBe('unidentified-rows');
  });
});

describe('the hold of deletions', () => {
  const held = (
    own: readonly [number, number],
    others: Record<string, readonly [number, number]> = {},
    share = 0.05,
  ) => {
    const loss = (list: string, [lost, ofItems]: readonly [number, number]): Loss => ({ list, lost, ofItems });
    const losses = Object.entries({ questions: own, ...others }).map(([list, each]) => loss(list, each));
    return whyHeld({ holdAbove: { share, items: 50 } }, losses[0]!, losses);
  };

  it.each([
    ['more than both a number and a share', [51, 1000], 'many'],
    ['not more than the number', [50, 200], null],
    ['not more than the share', [100, 2000], null],
    ['more than the share of a long list', [101, 2000], 'many'],
    ['all of a short list', [2, 2], 'whole-list'],
    ['the only item', [1, 1], null],
    ['all but one', [11, 12], null],
  ] as const)('is decided by the loss of the list: %s', (_, own, why) => {
    expect(held(own)).toBe(why);
  });

  it.each([
    ['a large part of both', [4, 12], { attendees: [15, 40] }, 'several-lists'],
    ['all of the other', [4, 12], { sessions: [1, 1] }, 'several-lists'],
    ['the only item of both', [1, 1], { sessions: [1, 1] }, 'several-lists'],
    ['a few items of the other', [4, 12], { attendees: [2, 5] }, null],
    ['a small part of the other', [4, 12], { attendees: [3, 40] }, null],
    ['a few items of a short list', [2, 4], { attendees: [20, 40] }, null],
    ['the same questions in both of their lists', [6, 12], { 'qna-questions': [6, 12] }, null],
  ] as const)('is decided by the losses of two lists: %s', (_, own, others, why) => {
    expect(held(own, others)).toBe(why);
  });

  it('is turned off by a share of 100 %', () => {
    expect([held([900, 900], {}, 1), held([6, 12], { attendees: [40, 40] }, 1)]).toEqual([null, null]);
  });

  it('needs the size of the list only up to the size at which it matters', () => {
    for (const lost of [1, 2, 3, 7, 51, 100]) {
      const max = itemsToCount({ holdAbove: { share: 0.05, items: 50 } }, lost)!;
      expect(held([lost, max], { attendees: [40, 40] })).toBeNull();
      expect(held([lost, 1e9], { attendees: [40, 40] })).toBeNull();
    }
    expect(itemsToCount({ holdAbove: { share: 0, items: 50 } }, 7)).toBeNull();
  });
});
