import { changedAtMs } from './present-record.js';

/** Newest last, as HubSpot never gives them: the order must not matter. */
const historyOf = (...entries: [value: string | null, atMs: number][]) => ({
  propertiesWithHistory: {
    city: entries.map(([value, atMs]) => ({ value, timestamp: new Date(atMs).toISOString(), sourceType: 'API' })),
  },
});

describe('since when a property has its value', () => {
  it.each([
    ['it was first given', historyOf(['London', 1000]), 1000],
    ['it was last changed', historyOf(['Paris', 1000], ['London', 2000]), 2000],
    ['it was changed, though it was written again since', historyOf(['Paris', 1], ['London', 2], ['London', 3]), 2],
    ['it came back', historyOf(['London', 1], ['Paris', 2], ['London', 3]), 3],
    ['it was cleared', historyOf(['London', 1], ['', 2], [null, 3]), 2],
  ])('is when %s', (_, record, atMs) => expect(changedAtMs(record, 'city')).toBe(atMs));

  it.each([
    ['that never had one', historyOf()],
    ['whose history was not given', {}],
    ['whose instants cannot be read', { propertiesWithHistory: { city: [{ value: 'London', timestamp: 'soon' }] } }],
  ])('is not known of a property %s', (_, record) => expect(changedAtMs(record, 'city')).toBeUndefined());
});
