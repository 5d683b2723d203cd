import {
  counted,
  formatDistance,
  formatNumbersFor,
  formatSpan,
  grouped,
  rowsInWords,
  importStateWords,
  isLeftByCanary,
  settledRows,
  withLocalNumbers,
} from './words.js';

const now = new Date('2026-11-21T09:30:00.000Z');
const secondsFromNow = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);

describe('a formatted instant', () => {
  it.each([
    [0, 'just now'],
    [0.4, 'just now'],
    [-0.4, 'just now'],
    [-1, '1 s ago'],
    [-119, '119 s ago'],
    [-120, '2 min ago'],
    [-150, '3 min ago'],
    [-7199, '120 min ago'],
    [-7200, '2 h ago'],
    [-172_799, '48 h ago'],
    [-172_800, '2 d ago'],
    [1, 'in 1 s'],
    [120, 'in 2 min'],
    [7200, 'in 2 h'],
    [30 * 86_400, 'in 30 d'],
  ])('that is %d seconds away is "%s"', (seconds, words) => {
    expect(formatDistance(secondsFromNow(seconds), now)).toBe(words);
  });
});

describe('a formatted span', () => {
  it('has whole units', () => {
    expect([0, 59.4, 200, 10_000, 500_000].map(formatSpan)).toEqual(['0 s', '59 s', '3 min', '3 h', '6 d']);
  });
});

describe('a formatted number', () => {
  it('has groups of thousands, and a noun in the plural', () => {
    expect([grouped(20_000), counted(1, 'change'), counted(2, 'change')]).toEqual(['20,000', '1 change', '2 changes']);
    expect([counted('1', 'person', 'people'), counted(null, 'person', 'people')]).toEqual(['1 person', '0 people']);
  });
});

describe('numbers', () => {
  afterEach(() => formatNumbersFor(['en-US']));

  it('have the separators of the reader, also in English sentences', () => {
    formatNumbersFor(['de']);
    expect([grouped(12_345), counted(1234, 'row')]).toEqual(['12.345', '1.234 rows']);
    expect(withLocalNumbers('Sink crm waits with 1,234,567 changes, 12 of them old.')).toBe(
      'Sink crm waits with 1.234.567 changes, 12 of them old.',
    );
  });

  it.each([
    'run "pigeonpost import --rows 1,234"',
    'v1,234 and 1,23 and 1234,567 and 0.1,234',
    'at 2026-11-21 and acme/101,102-3',
  ])('stay in a text that only looks like a grouped number: %s', (text) => {
    formatNumbersFor(['de']);
    expect(withLocalNumbers(text)).toBe(text);
  });
});

describe('the rows of a file', () => {
  it('are named by number if there is one, otherwise counted with the first ones', () => {
    expect([rowsInWords(1, [7]), rowsInWords(1250, [2, 3, 4])]).toEqual(['row 7', '1,250 rows (2, 3, 4, …)']);
  });
});

describe('the state of an import', () => {
  it('counts every row with a final outcome as done', () => {
    expect(settledRows({ created: 4, rejected: 1, waiting: 2, cancelled: 3 })).toBe(5);
  });

  it('reports cancelled rows as left for later only after a finished canary', () => {
    const left = (canary: number | null, state: string): boolean => isLeftByCanary('cancelled', { canary, state });
    expect([left(5, 'done'), left(5, 'cancelled'), left(null, 'done')]).toEqual([true, false, false]);
    expect(isLeftByCanary('created', { canary: 5, state: 'done' })).toBe(false);
  });

  it.each([
    ['done', 'done', { created: 3 }, null, null],
    ['done, 1,003 to check', 'done', { created: 3, conflict: 1000, rejected: 1, invalid: 1, unknown: 1 }, null, null],
    ['done, 1 to check', 'done', { created: 3, invalid: 1 }, 5, null],
    ['done (canary)', 'done', { created: 3 }, 5, null],
    ['running', 'running', { created: 3, rejected: 1 }, null, null],
    ['reading the file (canary)', 'staging', {}, 5, null],
    ['paused', 'paused', {}, null, 'An operator paused it.'],
    ['unusable file', 'cancelled', {}, null, 'The file is empty.'],
  ])('is "%s"', (words, state, counts, canary, reason) => {
    expect(importStateWords({ state, counts, canary, reason })).toBe(words);
  });
});
