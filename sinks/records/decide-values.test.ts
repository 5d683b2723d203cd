import type { WritePolicy } from '../mapping/expression-schema.js';
import { decideValues, type PresentValue, type Value } from './decide-values.js';

const [older, newer] = [1000, 2000];

describe('a field', () => {
  it.each<[WritePolicy, Value, PresentValue | undefined, number, boolean]>([
    ['always', 'new', undefined, older, true],
    ['always', 'new', { value: 'old', happenedAtMs: newer }, older, true],
    ['always', null, { value: 'old', happenedAtMs: newer }, older, true],
    ['always', null, { value: null, happenedAtMs: older }, newer, false],
    ['always', 'same', { value: 'same', happenedAtMs: newer }, older, false],
    ['always', 'same', { value: 'same', happenedAtMs: newer, isOurs: true }, older, true],
    ['always', 3, { value: '3', happenedAtMs: older }, newer, false],
    ['if-empty', 'new', undefined, older, true],
    ['if-empty', 'new', { value: '', happenedAtMs: newer }, older, true],
    ['if-empty', 'new', { value: null, happenedAtMs: newer }, older, true],
    ['if-empty', 'new', { value: 'old', happenedAtMs: older }, newer, false],
    ['if-empty', 'new', { value: false, happenedAtMs: older }, newer, false],
    ['if-empty', null, undefined, newer, false],
    ['if-empty', null, { value: 'old', happenedAtMs: older }, newer, false],
    ['if-newer', 'new', undefined, older, true],
    ['if-newer', 'new', { value: '', happenedAtMs: newer }, older, true],
    ['if-newer', 'new', { value: 'old', happenedAtMs: older }, newer, true],
    ['if-newer', 'new', { value: 'old', happenedAtMs: newer }, newer, false],
    ['if-newer', 'new', { value: 'old', happenedAtMs: newer }, older, false],
    ['if-newer', 'new', { value: 'old', happenedAtMs: Number.NEGATIVE_INFINITY }, older, true],
    ['if-newer', null, { value: 'old', happenedAtMs: older }, newer, false],
  ])('with policy %s and value %j, when the record has %j and the event is of %d, is written: %s', (...row) => {
    const [policy, value, present, at, written] = row;
    const decided = decideValues([{ name: 'X', value, policy }], new Map(present && [['x', present]]), at);
    expect(decided).toEqual(new Map(written ? [['X', value]] : []));
  });

  it('of a new record is written if it has a value, whatever the policy', () => {
    const policies = ['always', 'if-empty', 'if-newer'] as const;
    const writes = policies.map((policy) => ({ name: policy, value: 1, policy }));
    expect(decideValues([...writes, { name: 'none', value: null, policy: 'always' }], null, 0)).toEqual(
      new Map(policies.map((policy) => [policy, 1])),
    );
  });

  it('is not written if the vendor does not let it change so, or counts the present value as the same', () => {
    const writes = [
      { name: 'Stage', value: 'lead', policy: 'always' as const },
      { name: 'Email', value: 'ada@example.com', policy: 'always' as const },
    ];
    const present = new Map([
      ['stage', { value: 'customer', happenedAtMs: older }],
      ['email', { value: 'Ada@example.com', happenedAtMs: older }],
    ]);
    const isSame = (name: string, now: unknown, value: Value) =>
      name === 'email' && String(now).toLowerCase() === value;
    const mayChange = (name: string, from: unknown) => name !== 'stage' || from !== 'customer';
    expect(decideValues(writes, present, newer, { isSame, mayChange })).toEqual(new Map());
  });
});

describe('a name in two fields', () => {
  const rules = { nameParts: ['firstname', 'lastname'] } as const;

  it.each<[WritePolicy, string, string, Record<string, string>, Record<string, string>]>([
    ['if-empty', 'Ada', 'Lovelace', {}, { FirstName: 'Ada', LastName: 'Lovelace' }],
    ['if-empty', 'Ada', 'Lovelace', { lastname: 'LOVELACE' }, { FirstName: 'Ada' }],
    ['if-empty', 'Ada', 'Lovelace', { lastname: 'Byron' }, {}],
    ['if-empty', 'Ada', 'Lovelace', { firstname: 'Countess' }, {}],
    ['if-empty', 'Ada', 'Lovelace', { firstname: 'A.', lastname: 'King' }, {}],
    ['if-empty', 'Ada', 'Lovelace', { lastname: 'Ada' }, {}],
    ['if-empty', 'Cher', '', {}, { FirstName: 'Cher' }],
    ['if-empty', 'Cher', '', { lastname: 'Cher' }, {}],
    ['if-empty', 'Cher', '', { lastname: 'Sarkisian' }, { FirstName: 'Cher' }],
    ['if-empty', '', 'Cher', { firstname: 'cher' }, {}],
    ['always', '', 'Ada', { firstname: 'Ada', lastname: 'Lovelace' }, {}],
    ['always', 'Ali', 'Ali', { firstname: 'Al', lastname: 'Ali' }, { FirstName: 'Ali' }],
    ['always', 'Ada', 'Lovelace', { firstname: 'A.', lastname: 'King' }, { FirstName: 'Ada', LastName: 'Lovelace' }],
  ])('with policy %s completes as "%s" and "%s" the present %j with %j', (policy, first, last, stored, written) => {
    const writes = Object.entries({ FirstName: first, LastName: last }).flatMap(([name, value]) =>
      value === '' ? [] : [{ name, value, policy }],
    );
    const present = Object.entries({ firstname: '', lastname: '', ...stored });
    const known = new Map(present.map(([name, value]) => [name, { value, happenedAtMs: older }]));
    expect(Object.fromEntries(decideValues(writes, known, newer, rules))).toEqual(written);
  });
});
