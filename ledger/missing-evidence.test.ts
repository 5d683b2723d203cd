import { confirmAfterMs, isHeld, isProvedMissing, lacksBetweenNeighbours } from './missing-evidence.js';

const page = (firstValue: number | null, lastValue: number | null, isFull = false) => ({
  firstValue,
  lastValue,
  isFull,
});
const pages = [page(1, 9), page(12, 20), page(21, 30)];

describe('the place of a missing item', () => {
  it.each([
    { value: 5, lacks: true, why: 'between two items of a page' },
    { value: 15, lacks: true, why: 'between two items of a page' },
    { value: 10, lacks: false, why: 'between two pages, because it may have moved from one to the other' },
    { value: 0, lacks: true, why: 'before the first of the first page' },
    { value: 31, lacks: true, why: 'after the last of the last page' },
  ])('$value: $lacks, $why', ({ value, lacks }) => {
    expect(lacksBetweenNeighbours(value, pages, 'ascending')).toBe(lacks);
  });

  it('is not after a last page that is full, because a list that ends too early looks the same', () => {
    expect(lacksBetweenNeighbours(31, [page(1, 9, true), page(12, 30, true)], 'ascending')).toBe(false);
    expect(lacksBetweenNeighbours(31, [page(1, 9, true), page(12, 30)], 'ascending')).toBe(true);
  });

  it('is unknown in a list that is not in ascending order', () => {
    expect(lacksBetweenNeighbours(5, pages, 'mixed')).toBe(false);
    expect(lacksBetweenNeighbours(5, pages, 'descending')).toBe(false);
  });

  it('is on the only page of an empty list, and nowhere on several empty ones', () => {
    expect(lacksBetweenNeighbours(5, [page(null, null)], null)).toBe(true);
    expect(lacksBetweenNeighbours(5, [page(null, null), page(null, null)], null)).toBe(false);
    expect(lacksBetweenNeighbours(35, [page(1, 9), page(null, null)], 'ascending')).toBe(false);
  });
});

describe('an item is proved to be missing', () => {
  const dayMs = 86_400_000;
  const none = { wholeInOne: false, walks: 0, unmovedForMs: 0 };

  it.each([
    { evidence: none, proved: false },
    { evidence: { ...none, wholeInOne: true }, proved: true },
    { evidence: { ...none, walks: 1 }, proved: false },
    { evidence: { ...none, walks: 2 }, proved: true },
    { evidence: { ...none, unmovedForMs: dayMs - 1 }, proved: false },
    { evidence: { ...none, unmovedForMs: dayMs }, proved: true },
  ])('by $evidence: $proved', ({ evidence, proved }) => {
    expect(isProvedMissing(evidence, dayMs)).toBe(proved);
  });
});

describe('a second answer must confirm a loss', () => {
  const after = (lost: number, ofItems: number, isLiveQuestions: boolean): number =>
    confirmAfterMs({ confirmMs: 30_000, isLiveQuestions }, lost, ofItems);

  it.each([
    { lost: 3, ofItems: 100, waits: 0 },
    { lost: 4, ofItems: 100, waits: 30_000 },
    { lost: 1, ofItems: 33, waits: 30_000 },
    { lost: 1, ofItems: 34, waits: 0 },
    { lost: 100, ofItems: 100, waits: 30_000 },
  ])('$waits ms later where $lost of $ofItems are lost', ({ lost, ofItems, waits }) => {
    expect(after(lost, ofItems, false)).toBe(waits);
  });

  it('immediately if a live list of questions has lost one, but not two', () => {
    expect([after(1, 1, true), after(1, 5, true), after(2, 5, true)]).toEqual([0, 0, 30_000]);
  });
});

describe('deletions wait for an operator', () => {
  const limits = { settleMs: 0, confirmMs: 0, holdAbove: { share: 0.05, items: 50 } };

  it('above both a number and a share, not above one of them', () => {
    expect(isHeld(limits, 51, 1000)).toBe(true);
    expect(isHeld(limits, 50, 100)).toBe(false);
    expect(isHeld(limits, 100, 2000)).toBe(false);
    expect(isHeld(limits, 101, 2000)).toBe(true);
  });
});
