import { confirmAfterMs, isHeld, isProvedMissing, lacksBetweenNeighbours } from './missing-evidence.js';

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
  const none = { wholeInOne: false, walks: 0, showsPlace: true, unmovedForMs: 0 };

  it.each([
    { evidence: none, proved: false },
    { evidence: { ...none, wholeInOne: true }, proved: true },
    { evidence: { ...none, walks: 1 }, proved: false },
    { evidence: { ...none, walks: 2 }, proved: true },
    { evidence: { ...none, walks: 2, showsPlace: false }, proved: false },
    { evidence: { ...none, showsPlace: false, unmovedForMs: dayMs }, proved: true },
    { evidence: { ...none, unmovedForMs: dayMs - 1 }, proved: false },
    { evidence: { ...none, unmovedForMs: dayMs }, proved: true },
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

describe('the hold of deletions', () => {
  const limits = { settleMs: 0, confirmMs: 0, holdAbove: { share: 0.05, items: 50 } };

  it('needs more than both a number and a share of the items', () => {
    expect(isHeld(limits, 51, 1000)).toBe(true);
    expect(isHeld(limits, 50, 100)).toBe(false);
    expect(isHeld(limits, 100, 2000)).toBe(false);
    expect(isHeld(limits, 101, 2000)).toBe(true);
  });
});
