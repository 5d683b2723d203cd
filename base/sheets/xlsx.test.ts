import fc from 'fast-check';
import { readWorkbook, type ReadCell } from './read-workbook.test-kit.js';
import { each, endlessSheet, hostileTexts, sheetOf } from './sheet.test-kit.js';
import { columnName, maxTextLength, xlsxOf } from './xlsx.js';

const one = [{ name: 'text', kind: 'text' }] as const;

async function textsOf(texts: readonly string[]): Promise<ReadCell[]> {
  const [sheet] = await readWorkbook(
    xlsxOf(
      each(
        sheetOf(
          one,
          texts.map((text) => [text]),
        ),
      ),
    ),
  );
  return sheet!.rows.slice(1).map(([cell]) => cell ?? null);
}

describe('a workbook', () => {
  it('has a sheet for each table, with numbers, dates, flags and texts of their types', async () => {
    const columns = [
      { name: 'code', kind: 'text' },
      { name: 'votes', kind: 'number' },
      { name: 'named', kind: 'flag' },
      { name: 'createdAt', kind: 'moment' },
      { name: 'startDate', kind: 'day' },
    ] as const;
    const rows = [
      ['00123', 7, true, { atMs: Date.UTC(2026, 10, 21, 8, 30, 5, 999) }, { day: '2026-11-21' }],
      [null, -0.25, false, { atMs: Date.UTC(2026, 6, 1, 10) }, null],
    ];
    const found = await readWorkbook(xlsxOf(each(sheetOf(columns, rows), sheetOf(one, [], { name: 'empty' }))));
    expect(found).toEqual([
      {
        name: 'people',
        rows: [
          ['code', 'votes', 'named', 'createdAt (Europe/Berlin)', 'startDate'],
          // 21 November 2026 is day 46347, and 9:30:05 in Berlin is 34,205 of 86,400 seconds.
          ['00123', { number: 7 }, true, { days: 46347 + 34205 / 86400 }, { days: 46347 }],
          // in summer, Berlin is two hours ahead
          [null, { number: -0.25 }, false, { days: 46204.5 }],
        ],
      },
      { name: 'empty', rows: [['text']] },
    ]);
  });

  it('keeps what a spreadsheet cannot hold as a number or date as text', async () => {
    const [sheet] = await readWorkbook(
      xlsxOf(
        each(
          sheetOf(one, [
            [1234567890123456],
            [{ day: '1899-12-31' }],
            [{ atMs: 0 - 2e12 * 2 }],
            [{ day: 'soon' }],
            [NaN],
          ]),
        ),
      ),
    );
    expect(sheet!.rows.slice(1).map(([cell]) => cell ?? null)).toEqual([
      '1234567890123456',
      '1899-12-31',
      expect.stringMatching(/^1843-/) as string,
      'soon',
      null,
    ]);
  });

  it('keeps every hostile text as text', async () => {
    const wellFormed = hostileTexts.map((text) => Buffer.from(text).toString('utf8')); // half pairs become U+FFFD
    expect(await textsOf(hostileTexts)).toEqual(wellFormed);
  });

  it('keeps any text, up to the length of a cell', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
    const half = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    const escape = fc.constantFrom('_', 'x', '_x000', '_x0041_', '\r', '\ud800');
    const texts = fc.array(
      fc.oneof(
        text,
        fc.array(fc.oneof(half, escape), { minLength: 1 }).map((all) => all.join('')),
      ),
      {
        minLength: 1,
        maxLength: 20,
      },
    );
    await fc.assert(
      fc.asyncProperty(texts, async (all) => {
        expect(await textsOf(all)).toEqual(all.map((each) => Buffer.from(each).toString('utf8')));
      }),
      { numRuns: 100 },
    );
  });

  it('cuts a text that is longer than a cell, and says so', async () => {
    const [fits, cut, pair] = await textsOf([
      'x'.repeat(maxTextLength),
      'x'.repeat(maxTextLength + 1),
      '😀'.repeat(maxTextLength),
    ]);
    expect(fits).toBe('x'.repeat(maxTextLength));
    expect(cut).toHaveLength(maxTextLength);
    expect(cut).toMatch(/^x+ … \[cut: the text has 32768 characters\]$/);
    expect(pair).toMatch(/^(?:😀)+ … \[cut: the text has 65534 characters\]$/u);
  });

  it('continues a full sheet in another one with the same header', async () => {
    const rows = Array.from({ length: 7 }, (_, n) => [`row ${n}`]);
    const found = await readWorkbook(xlsxOf(each(sheetOf(one, rows), sheetOf(one, rows.slice(0, 3))), { maxRows: 4 }));
    expect(found.map(({ name, rows: own }) => [name, own.map(([cell]) => cell)])).toEqual([
      ['people', ['text', 'row 0', 'row 1', 'row 2']],
      ['people (2)', ['text', 'row 3', 'row 4', 'row 5']],
      ['people (3)', ['text', 'row 6']],
      ['people (4)', ['text', 'row 0', 'row 1', 'row 2']],
    ]);
  });

  it('gives sheets names that spreadsheets accept', async () => {
    const names = ['a/b:c', "'quoted'", 'long '.repeat(10), 'LONG '.repeat(10), '', '[]'];
    const found = await readWorkbook(xlsxOf(each(...names.map((name) => sheetOf(one, [], { name })))));
    expect(found.map(({ name }) => name)).toEqual([
      'a b c',
      'quoted',
      'long long long long long long l',
      'LONG LONG LONG LONG LONG LO (2)',
      'Sheet',
      'Sheet (2)',
    ]);
  });

  it('names columns as spreadsheets do', () => {
    expect([0, 25, 26, 701, 702, 16_383].map(columnName)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD']);
  });

  it('reads no more rows than its reader takes, and stops reading when the reader leaves', async () => {
    const sheet = endlessSheet(['x'.repeat(100), '=1+1', 'y']);
    const parts = xlsxOf(each(sheet));
    const taken: number[] = [];
    for await (const part of parts) {
      taken.push(part.length);
      if (taken.length === 60) break;
    }
    // A compressed part of 16 kB holds thousands of these rows, but never more than a few parts are read ahead.
    const before = sheet.read();
    await new Promise((resolve) => void setImmediate(resolve));
    expect(sheet.read()).toBe(before);
    expect(sheet.isClosed()).toBe(true);
  });
});
