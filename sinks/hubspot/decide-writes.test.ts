import { decideWrites, type PresentValue, changedAtMs } from './decide-writes.js';
import type { WritePolicy } from '../mapping/expression-schema.js';

const [older, newer] = [1000, 2000];

describe('a property', () => {
  it.each<[WritePolicy, string, PresentValue | undefined, number, boolean]>([
    ['always', 'new', undefined, older, true],
    ['always', 'new', { value: 'old', happenedAtMs: newer }, older, true],
    ['always', '', { value: 'old', happenedAtMs: newer }, older, true],
    ['always', 'same', { value: 'same', happenedAtMs: newer }, older, false],
    ['if-empty', 'new', undefined, older, true],
    ['if-empty', 'new', { value: '', happenedAtMs: newer }, older, true],
    ['if-empty', 'new', { value: 'old', happenedAtMs: older }, newer, false],
    ['if-newer', 'new', undefined, older, true],
    ['if-newer', 'new', { value: '', happenedAtMs: newer }, older, true],
    ['if-newer', 'new', { value: 'old', happenedAtMs: older }, newer, true],
    ['if-newer', 'new', { value: 'old', happenedAtMs: newer }, newer, false],
    ['if-newer', 'new', { value: 'old', happenedAtMs: newer }, older, false],
    ['if-newer', '', { value: 'old', happenedAtMs: older }, newer, false],
    ['if-empty', '', undefined, newer, false],
  ])(
    'with policy %s and value "%s", when HubSpot has %j and the event is of %d, is written: %s',
    (policy, value, present, at, written) => {
      const decided = decideWrites([{ name: 'x', value, policy }], new Map(present && [['x', present]]), at);
      expect(decided).toEqual(new Map(written ? [['x', value]] : []));
    },
  );

  it.each([
    ['Ada', 'Lovelace', {}, { firstname: 'Ada', lastname: 'Lovelace' }],
    ['Ada', 'Lovelace', { lastname: 'lovelace' }, { firstname: 'Ada' }],
    ['Ada', 'Lovelace', { lastname: 'Byron' }, {}],
    ['Ada', 'Lovelace', { firstname: 'Countess' }, {}],
    ['Cher', '', {}, { firstname: 'Cher' }],
    ['Cher', '', { lastname: 'Cher' }, {}],
    ['Cher', '', { lastname: 'Sarkisian' }, { firstname: 'Cher' }],
    ['', 'Cher', { firstname: 'cher' }, {}],
  ] as const)('for a name: "%s" and "%s" complete %j with %j', (firstname, lastname, stored, written) => {
    const writes = Object.entries({ firstname, lastname })
      .filter(([, value]) => value !== '')
      .map(([name, value]) => ({ name, value, policy: 'if-empty' as const }));
    const present = Object.entries({ firstname: '', lastname: '', ...stored });
    const known = new Map(present.map(([name, value]) => [name, { value, happenedAtMs: older }]));
    expect(Object.fromEntries(decideWrites(writes, known, newer))).toEqual(written);
  });

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
    const present = new Map([['lifecyclestage', { value: from, happenedAtMs: older }]]);
    const decided = decideWrites([{ name: 'lifecyclestage', value: to, policy: 'always' }], present, newer);
    expect(decided.size === 1).toBe(moves);
  });
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
