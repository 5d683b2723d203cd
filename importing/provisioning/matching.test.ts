import { isNamesake, isSame, looksLike, looksOf } from './matching.js';

it.each<[unknown, unknown, boolean]>([
  ['Questions', 'Questions', true],
  [' Questions  and answers ', 'Questions and answers', true],
  ['Questions', 'questions', false],
  ['Cafe\u0301', 'Caf\u00e9', true],
  ['2026-11-21T08:00:00Z', '2026-11-21T09:00:00+01:00', true],
  ['2026-11-21T08:00:00Z', '2026-11-21T09:00:00Z', false],
  ['2026-11-21', '2026-11-21', true],
  [undefined, null, true],
  [undefined, '', true],
  [false, '', false],
  [true, true, true],
  [7, '7', false],
  [{ a: [1] }, { a: [1] }, true],
])('%j sent and %j shown compare as equal: %s', (sent, shown, same) => {
  expect(isSame(sent, shown)).toBe(same);
});

describe('the identity of an object', () => {
  it('is the name and days of a pigeonhole, and the name, type and start of a session', () => {
    const fields = { name: 'A', startDate: 'x', endDate: 'y', timezone: 'UTC', type: 'qna' };
    expect(looksOf('pigeonhole', fields)).toEqual({ name: 'A', startDate: 'x', endDate: 'y' });
    expect(looksOf('session', { name: 'A', type: 'break' })).toEqual({ name: 'A', type: 'break', startDate: null });
  });

  it('distinguishes two sessions with the same name and different starts', () => {
    const looks = looksOf('session', { name: 'A', type: 'qna', startDate: '2026-11-21T08:00:00Z' });
    const shown = { id: 1, name: 'a', type: 'qna', startDate: '2026-11-21T09:00:00+01:00' };
    expect([looksLike(looks, { ...shown, name: 'A' }), looksLike(looks, shown), isNamesake(looks, shown)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(looksLike(looks, { ...shown, name: 'A', startDate: '2026-11-21T09:30:00+01:00' })).toBe(false);
  });
});
