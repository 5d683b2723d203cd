import { breaksOrder, demoted, type KnownOrder, orderAfterSweep } from './stream-order.js';

const unknown: KnownOrder = { order: 'unknown', cleanWalks: 0, cleanDirection: null, promoteAt: 1 };
const after = (known: KnownOrder, ...walks: ('ascending' | 'descending' | 'mixed' | null)[]): string[] => {
  let now = known;
  return walks.map((direction) => {
    now = orderAfterSweep(now, direction);
    return now.order;
  });
};

describe('the order of a stream', () => {
  it('is what the first walk with two items shows', () => {
    expect(after(unknown, null, 'ascending', null, 'ascending')).toEqual([
      'unknown',
      'ascending',
      'ascending',
      'ascending',
    ]);
    expect(after(unknown, 'descending')).toEqual(['descending']);
    expect(after(unknown, 'mixed')).toEqual(['unordered']);
  });

  it('takes three clean walks in one direction once it has been another one', () => {
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

  it('is not trusted after a page that breaks it', () => {
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
  ] as const)('$order: pages that show $shown break it: $breaks', ({ order, shown, breaks }) => {
    expect(breaksOrder(order, shown)).toBe(breaks);
  });
});
