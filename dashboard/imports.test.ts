import type { ImportCheck } from '../importing/desk/import-views.js';
import {
  emptyForm,
  endedWarning,
  type ImportForm,
  listedProblems,
  mappingsFor,
  neverSeen,
  rowsToSend,
  uploadQuery,
  outcomeWords,
  type Progress,
  rowsPerSecond,
  secondsLeft,
  withField,
  withProgress,
} from './imports.js';
import { rowsToCheck } from '../base/words.js';
import { rowOutcomes } from '../base/row-outcomes.js';

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
    const codeColumn = { basis: 'mapped' as const, candidates: [], doubt: null };
    expect(rowsToSend({ counts, canary, codeColumn })).toBe(rows);
    expect(rowsToSend({ counts, canary, codeColumn: { ...codeColumn, doubt: 'a guess' } })).toBe(0);
  });
});

describe('a choice of a field', () => {
  it.each<[ImportForm['columns'], [string, string | null], ImportForm['columns']]>([
    [{ Seat: null }, ['Ticket', 'attendeeCode'], { Seat: null, Ticket: 'attendeeCode' }],
    [{ Ticket: 'attendeeCode' }, ['Ref', 'attendeeCode'], { Ref: 'attendeeCode' }],
    [{ Ticket: 'Ticket' }, ['Ticket', null], { Ticket: null }],
    [{ First: 'First', Seat: 'Seat' }, ['First+Last', 'Name'], { Seat: 'Seat', 'First+Last': 'Name' }],
    [{ 'First+Last': 'Name' }, ['Last', null], { Last: null }],
  ])('turns %j with %j into %j', (before, [column, field], after) => {
    expect(withField(before, column, field)).toEqual(after);
  });
});

describe('the problems that the page lists', () => {
  it('do not repeat what is open about the column of the codes', () => {
    const problem = (code: string) => ({ row: 2, column: null, code, message: 'm' });
    const group = (code: string) => ({ ...problem(code), rows: 1, firstRows: [2], worksWithoutColumn: false });
    const check = {
      problems: [problem('code-column'), problem('too-long')],
      problemsLeftOut: 3,
      problemGroups: [group('code-column'), group('too-long')],
    };
    expect(listedProblems(check)).toEqual({ groups: [group('too-long')], count: 4 });
  });
});

const none = Object.fromEntries(rowOutcomes.map((outcome) => [outcome, 0])) as Record<
  (typeof rowOutcomes)[number],
  number
>;

describe('the state of an import', () => {
  it('counts only rows whose registrant does not match the file as rows to check', () => {
    const counts = {
      ...none,
      created: 90,
      confirmed: 1,
      existing: 1,
      conflict: 1,
      rejected: 2,
      invalid: 3,
      unknown: 4,
    };
    expect(rowsToCheck(counts)).toBe(10);
  });

  it('has a remedy for exactly those outcomes', () => {
    const withTodo = rowOutcomes.filter((outcome) => outcomeWords[outcome].todo !== null);
    expect(withTodo).toEqual(rowOutcomes.filter((outcome) => rowsToCheck({ ...none, [outcome]: 1 }) === 1));
  });
});

describe('the rate of an import', () => {
  it.each<[string, readonly Progress[], number | null]>([
    ['is unknown without a measurement', [], null],
    ['is unknown after one measurement', [{ atMs: 0, done: 5 }], null],
    [
      'is unknown after two measurements within a second',
      [
        { atMs: 0, done: 5 },
        { atMs: 999, done: 9 },
      ],
      null,
    ],
    [
      'is rows per second',
      [
        { atMs: 0, done: 100 },
        { atMs: 2000, done: 150 },
      ],
      25,
    ],
    [
      'is 0 while no row is settled',
      [
        { atMs: 0, done: 100 },
        { atMs: 5000, done: 100 },
      ],
      0,
    ],
  ])('%s', (_, seen, perSecond) => {
    expect(rowsPerSecond(seen)).toBe(perSecond);
  });

  it('drops measurements older than 30 s', () => {
    const seen = withProgress(
      [
        { atMs: 0, done: 0 },
        { atMs: 20_000, done: 10 },
      ],
      { atMs: 40_000, done: 30 },
    );
    expect(seen.map(({ atMs }) => atMs)).toEqual([20_000, 40_000]);
  });

  it('gives the time left, except while no row is settled', () => {
    expect([secondsLeft(50, 25), secondsLeft(50, 0), secondsLeft(50, null)]).toEqual([2, null, null]);
  });
});

describe('the warning about an event that has ended', () => {
  it('names the option that allows the import, and stays once it is chosen', () => {
    expect(endedWarning({ status: 'ended' }, false)).toMatch(
      /^This event has ended\. To import anyway, select .*“More/,
    );
    expect(endedWarning({ status: 'ended' }, true)).toBe('This event has ended.');
  });

  it.each(['live', 'upcoming', null])('is absent for an event that is %s', (status) => {
    expect(endedWarning({ status }, false)).toBeNull();
  });
});
