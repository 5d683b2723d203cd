import type { ImportCheck } from '../importing/desk/import-views.js';
import { firstWish, type ImportWish, mappingsFor, neverSeen, rowsToSend, uploadQuery } from './import-options.js';

function queryOf(wish: Partial<ImportWish>, content?: string): Record<string, string> {
  const query = uploadQuery({ ...firstWish, pigeonhole: 'acme/101', ...wish }, 'people.csv', content);
  return Object.fromEntries(new URLSearchParams(query));
}

const plain = { pigeonhole: 'acme/101', name: 'people.csv' };

describe('the query of an upload', () => {
  it.each<[string, Partial<ImportWish>, Record<string, string>]>([
    ['where and which alone, as the form begins', {}, {}],
    [
      'columns as they were decided by hand',
      { columns: { 'Full = name': 'Name', Notes: null } },
      { map: '["Full = name=Name","Notes="]' },
    ],
    ['a saved mapping before them', { mapping: 'tickets', columns: { A: 'B' } }, { map: '["tickets","A=B"]' }],
    [
      'what is ticked',
      { canary: true, generateCodes: true, force: true },
      { canary: '1', generateCodes: 'true', force: 'true' },
    ],
    [
      'how the file is read',
      { encoding: 'utf-16le', delimiter: ';', sheet: 'Guests' },
      { encoding: 'utf-16le', delimiter: ';', sheet: 'Guests' },
    ],
    ['no name for the mapping while it is only looked at', { saveMapping: 'tickets' }, {}],
  ])('has %s', (_, wish, more) => {
    expect(queryOf(wish)).toEqual({ ...plain, ...more });
  });

  it('names the content that was looked at, and the mapping to keep, once it is meant', () => {
    expect(queryOf({ saveMapping: 'tickets' }, 'hash')).toEqual({ ...plain, saveMapping: 'tickets', content: 'hash' });
  });
});

describe('saved mappings', () => {
  const saved = [
    { workspace: 'acme', name: 'tickets', columns: {}, savedAt: '' },
    { workspace: 'other', name: 'seats', columns: {}, savedAt: '' },
    { workspace: null, name: 'tickets', columns: {}, savedAt: '' },
    { workspace: null, name: 'old', columns: {}, savedAt: '' },
  ];

  it.each([
    ['acme/101', ['tickets', 'old']],
    ['other/1', ['seats', 'tickets', 'old']],
    ['101', ['tickets', 'seats', 'old']],
  ])('for %s are %j', (pigeonhole, names) => {
    expect(mappingsFor(saved, pigeonhole).map(({ name }) => name)).toEqual(names);
  });
});

describe('what is asked before an import', () => {
  const column = { column: 'a', guessed: false, sample: null };

  it('names the fields that nobody was seen to have, and no others', () => {
    const columns: ImportCheck['columns'] = [
      { ...column, property: 'Diet', known: false },
      { ...column, property: 'Name', known: true },
      { ...column, property: 'City', known: null },
      { ...column, property: null, known: false },
    ];
    expect(neverSeen(columns)).toEqual(['Diet']);
  });

  it.each([
    [null, 500, 500],
    [1, 500, 1],
    [1, 0, 0],
  ])('with a canary of %s and %d rows to send it is about %d', (canary, send, rows) => {
    const counts = { send, existing: 0, conflict: 0, rejected: 0, elsewhere: 0, invalid: 0 };
    expect(rowsToSend({ counts, canary })).toBe(rows);
  });
});
