import type { SeenField } from '../api/fields.js';
import { formatFields } from './format-fields.js';

const field = (name: string, more: Partial<SeenField> = {}): SeenField => ({
  field: name,
  member: null,
  types: { string: 10 },
  filled: 10,
  values: null,
  ...more,
});
const of = (fields: readonly SeenField[], items = 1_000): string[] =>
  formatFields({ workspace: 'acme', pigeonholeId: 101, items, fields });

describe('the fields of a pigeonhole', () => {
  it('are a table', () => {
    expect(
      of([
        field('E-mail', { filled: 990 }),
        field('question', { types: { object: 1_000 }, filled: 1_000 }),
        field('question', { member: 'status', filled: 1_000, values: { hidden: 1, approved: 999 } }),
        field('tags', { types: { null: 5, array: 2, string: 3 }, filled: 0 }),
      ]),
    ).toEqual([
      'pigeonhole acme/101: 1,000 items',
      '  field            filled  kind        values',
      '  `E-mail`           99 %  text',
      '  question          100 %  object',
      '  question.status   100 %  text        approved (999), hidden (1)',
      '  tags                0 %  text, list',
    ]);
  });

  it.each([
    [1, 1_000, '1 %'],
    [999, 1_000, '99 %'],
    [1_000, 1_000, '100 %'],
    [0, 1_000, '0 %'],
    [505, 1_000, '51 %'],
  ])('%i of %i is %s: all and none are said only where it is so', (filled, items, expected) => {
    expect(of([field('x', { filled })], items)[2]).toMatch(new RegExp(`^ +x +${expected} `));
  });

  it('print no control characters, whatever the service calls a field', () => {
    expect(of([field('\u001b[2Jx')]).join('')).not.toContain('\u001b');
  });

  it('say that a workspace’s own lists belong to no pigeonhole', () => {
    expect(formatFields({ workspace: 'acme', pigeonholeId: 0, items: 1, fields: [] })[0]).toBe(
      'workspace acme: 1 item',
    );
  });
});
