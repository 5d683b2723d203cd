import fc from 'fast-check';
import { fieldKey, findField } from './mapping-functions.js';

describe('a field found by its names', () => {
  it.each([
    [{ 'E-mail': 'a' }, ['Email'], 'a'],
    [{ 'e mail': 'a' }, ['E-Mail'], 'a'],
    [{ job_title: 'CTO' }, ['Job title'], 'CTO'],
    [{ 'Job‑title': 'CTO' }, ['Job title'], 'CTO'], // a hyphen that does not break
    [{ 'Job\u00a0title': 'CTO' }, ['Job title'], 'CTO'],
    [{ ＥＭＡＩＬ: 'a' }, ['Email'], 'a'],
    [{ email: 'a', Email: 'b' }, ['Email'], 'b'], // the exact name first
    [{ Email: '', 'E-mail': 'b' }, ['Email'], 'b'],
    [{ Email: ' ', Mail: 'c' }, ['Email', 'Mail'], 'c'],
    [{ Mail: 'c', Email: 'a' }, ['Email', 'Mail'], 'a'],
    [{ Email: null }, ['Email'], undefined],
    [{ Count: 0, Agreed: false }, ['count'], 0],
    [{ Agreed: false }, ['agreed'], false],
    [{ Emails: 'a' }, ['Email'], undefined],
    [{ Größe: 'L' }, ['grösse'], undefined],
    [{}, ['toString', '__proto__', 'constructor'], undefined],
    [null, ['Email'], undefined],
    [{ Email: 'a' }, [], undefined],
  ])('in %j under %j is %j', (record, names, expected) => {
    expect(findField(record, names)).toBe(expected);
  });

  it('is the same however its name is written', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 3 });
    const joint = fc.constantFrom(' ', '-', '_', '', '  ', ' - ');
    fc.assert(
      fc.property(words, joint, joint, fc.boolean(), (parts, one, other, loud) => {
        const written = parts.join(one);
        const asked = loud ? parts.join(other).toUpperCase() : parts.join(other);
        expect(findField({ [written]: 1 }, [asked])).toBe(1);
        expect(fieldKey(written)).toBe(fieldKey(asked));
      }),
    );
  });
});
