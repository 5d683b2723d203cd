import type { ImportCheck } from '../importing/desk/import-views.js';
import { emptyForm, type ImportForm, mappingsFor, neverSeen, rowsToSend, uploadQuery } from './import-options.js';

function queryOf(form: Partial<ImportForm>, content?: string): Record<string, string> {
  const query = uploadQuery({ ...emptyForm, pigeonhole: 'acme/101', ...form }, 'people.csv', content);
  return Object.fromEntries(new URLSearchParams(query));
}

const plain = { pigeonhole: 'acme/101', name: 'people.csv' };

describe('the query of an upload', () => {
  it.each<[string, Partial<ImportForm>, Record<string, string>]>([
    ['only the pigeonhole and the file name for an empty form', {}, {}],
    [
      'the columns chosen by hand',
      { columns: { 'Full = name': 'Name', Notes: null } },
      { map: '["Full = name=Name","Notes="]' },
    ],
    ['a saved mapping before the columns', { mapping: 'tickets', columns: { A: 'B' } }, { map: '["tickets","A=B"]' }],
    [
      'the checked boxes',
      { canary: true, generateCodes: true, force: true },
      { canary: '1', generateCodes: 'true', force: 'true' },
    ],
    [
      'encoding, delimiter and sheet',
      { encoding: 'utf-16le', delimiter: ';', sheet: 'Guests' },
      { encoding: 'utf-16le', delimiter: ';', sheet: 'Guests' },
    ],
    ['no name for the mapping while the file is only checked', { saveMapping: 'tickets' }, {}],
  ])('has %s', (_, form, more) => {
    expect(queryOf(form)).toEqual({ ...plain, ...more });
  });

  it('has the hash of the checked file and the name to save the mapping under when the import starts', () => {
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

describe('the confirmation of an import', () => {
  const column = { column: 'a', guessed: false, sample: null };

  it('names only the fields that no attendee has had', () => {
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
  ])('with a canary of %s and %d rows to send counts %d', (canary, send, rows) => {
    const counts = { send, existing: 0, conflict: 0, rejected: 0, elsewhere: 0, invalid: 0 };
    expect(rowsToSend({ counts, canary })).toBe(rows);
  });
});
