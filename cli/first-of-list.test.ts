import { firstOfList, type PartAsked } from './first-of-list.js';

/** A list of `n` numbers that is read page by page, and the requests it received. */
function listOf(length: number) {
  const asked: PartAsked[] = [];
  const ask = async (part: PartAsked) => {
    asked.push(part);
    const from = Number(part.after ?? 0);
    const items = Array.from({ length: Math.min(part.limit, length - from) }, (_, n) => from + n);
    const upTo = from + items.length;
    return { items, next: upTo < length ? String(upTo) : null };
  };
  return { ask, asked };
}

describe('the first items of a long list', () => {
  it.each([
    ['a list that is shorter than the limit', 3, 10, { count: 3, more: false, parts: 1 }],
    ['a list that is just as long', 10, 10, { count: 10, more: false, parts: 1 }],
    ['a longer one', 11, 10, { count: 10, more: true, parts: 1 }],
    ['an empty one', 0, 10, { count: 0, more: false, parts: 1 }],
    ['more than one answer holds', 1200, 1100, { count: 1100, more: true, parts: 3 }],
    ['all of several answers', 1200, 5000, { count: 1200, more: false, parts: 3 }],
  ])('is each item once, in order: %s', async (_, length, limit, { count, more, parts }) => {
    const { ask, asked } = listOf(length);
    const found = await firstOfList(limit, ask);
    expect(found).toEqual({ items: Array.from({ length: count }, (__, n) => n), more });
    expect(asked).toHaveLength(parts);
    expect(Math.max(...asked.map((part) => part.limit))).toBeLessThanOrEqual(500);
  });
});
