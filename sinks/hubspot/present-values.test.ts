import { mayMoveStage } from './lifecycle-stage.js';
import { changedAtMs } from './present-values.js';

it.each([
  ['', 'lead', true],
  ['', 'our_own', true],
  ['lead', 'customer', true],
  ['subscriber', 'lead', true],
  ['customer', 'lead', false],
  ['evangelist', 'customer', false],
  ['lead', 'our_own', false],
  ['our_own', 'customer', false],
  ['other', 'lead', false],
])('lifecyclestage changes from "%s" to "%s": %s', (from, to, moves) => {
  expect(mayMoveStage(from, to)).toBe(moves);
});

/** Oldest first, unlike HubSpot, because the order must not matter. */
const historyOf = (...entries: [value: string | null, atMs: number][]) => ({
  propertiesWithHistory: {
    city: entries.map(([value, atMs]) => ({ value, timestamp: new Date(atMs).toISOString(), sourceType: 'API' })),
  },
});

describe('the instant since when a property has its value', () => {
  it.each([
    ['it was first given', historyOf(['London', 1000]), 1000],
    ['it last changed', historyOf(['Paris', 1000], ['London', 2000]), 2000],
    ['it changed, even if it was written again since', historyOf(['Paris', 1], ['London', 2], ['London', 3]), 2],
    ['an earlier value returned', historyOf(['London', 1], ['Paris', 2], ['London', 3]), 3],
    ['it was cleared', historyOf(['London', 1], ['', 2], [null, 3]), 2],
  ])('is when %s', (_, record, atMs) => expect(changedAtMs(record, 'city')).toBe(atMs));

  it.each([
    ['that never had a value', historyOf()],
    ['without a history', {}],
    ['with instants in an unknown form', { propertiesWithHistory: { city: [{ value: 'London', timestamp: 'soon' }] } }],
  ])('is unknown for a property %s', (_, record) => expect(changedAtMs(record, 'city')).toBeUndefined());
});
