import { decideWrites, type PresentValue } from './decide-writes.js';
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
  ])('with %s and the value "%s", where %j stands, from %d: written is %s', (policy, value, present, at, written) => {
    const decided = decideWrites([{ name: 'x', value, policy }], new Map(present && [['x', present]]), at);
    expect(decided).toEqual(new Map(written ? [['x', value]] : []));
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
  ])('lifecyclestage goes from "%s" to "%s": %s', (from, to, moves) => {
    const present = new Map([['lifecyclestage', { value: from, happenedAtMs: older }]]);
    const decided = decideWrites([{ name: 'lifecyclestage', value: to, policy: 'always' }], present, newer);
    expect(decided.size === 1).toBe(moves);
  });
});
