import { literalNames, withoutValues } from './literal-names.js';

describe('data without its values', () => {
  it('contains only names that are known, and types', () => {
    const known = new Set(['Name', 'ids', 'yes', 'none', 'empty', 'deep', 'a']);
    const data = { Name: 'Ann', ids: [7, 'x'], yes: true, none: null, empty: '', deep: { a: 'b' } };
    expect(withoutValues(data, known)).toEqual({
      Name: '(text)',
      ids: ['(number)', '(text)'],
      yes: true,
      none: null,
      empty: '',
      deep: { a: '(text)' },
    });
  });

  it.each([
    ['an e-mail address', { 'ann@example.com': true }],
    ['a name', { 'Ann Miller': { value: 1 } }],
    ['a name without a space, deep in a list', { records: [{ properties: { Ann: 'x' } }] }],
    ['a number', { 4711: 'x' }],
    ['the name of a member of every object', { constructor: 'x', __proto__: 'y' }],
    ['a name that only starts like one of the mapping', { emailann: true, 'email ann': true }],
  ])('hides %s as a name of a member', (_, data) => {
    const shown = JSON.stringify(withoutValues(data, literalNames({ mapping: '{ "email": Email, Email: true }' })));
    expect(shown).toContain('(name)');
    expect(shown).not.toMatch(/ann|4711|constructor/i);
  });

  it('keeps the number of hidden members', () => {
    expect(withoutValues({ Ann: 1, Bob: 2 }, new Set())).toEqual({ '(name)': '(number)', '(name 2)': '(number)' });
  });
});

describe('the names that a configuration spells out', () => {
  it('are its keys, its texts, and the words and quoted texts of its expressions', () => {
    const names = literalNames({
      records: [
        { object: 'contacts', properties: { job_title: '$.`Job title`', mark: `{ "vip-guest": Name, 'b c': 1 }` } },
      ],
    });
    for (const name of [
      'records',
      'object',
      'contacts',
      'job_title',
      'Job title',
      'mark',
      'vip-guest',
      'Name',
      'b c',
    ]) {
      expect(names).toContain(name);
    }
    expect(names).not.toContain('0');
  });
});
