import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  writeXlsx,
  writeZip,
  type WrittenCell,
  type WrittenWorkbook,
} from '../../../bench/registrant-files/write-xlsx.js';
import { readAll, refusalOf, valuesOf } from '../open-registrant-file.test-kit.js';
import { RegistrantFileError } from '../registrant-file.js';
import { SharedTexts } from './cell-value.js';

function sheetOf(rows: readonly (readonly WrittenCell[])[], more: Partial<WrittenWorkbook> = {}): Buffer {
  return writeXlsx({ sheets: [{ name: 'People', rows }], ...more });
}

/** Writes one row of cells and returns the texts that are read from it. */
async function textsOf(cells: readonly WrittenCell[], more?: Partial<WrittenWorkbook>): Promise<readonly string[]> {
  const header = cells.map((_cell, index) => `c${index}`);
  return (await valuesOf(sheetOf([header, cells], more)))[0]!;
}

describe('an XLSX file', () => {
  it('keeps texts unchanged, even if they look like numbers or dates', async () => {
    const texts = ['00123', '1E5', '1-2', '=1+1', '+49 170', ' x ', 'Zoë “Z” €', '<&>"'];
    expect(await textsOf(texts)).toEqual(texts);
  });

  it('writes numbers without scientific notation and without binary rounding errors', async () => {
    const stored = ['1E5', '100000', '1.2E-7', '491701234567', '0.30000000000000004', '-1.5', '1.0E14'];
    expect(await textsOf(stored.map((number) => ({ number, style: 0 })))).toEqual([
      '100000',
      '100000',
      '0.00000012',
      '491701234567',
      '0.3',
      '-1.5',
      '100000000000000',
    ]);
  });

  it('applies integer formats with leading zeros and separators', async () => {
    const formats = ['00000', '000-00-0000', '"EMP-"0000', '0_)', '\\(000\\) 000', '#,##0', '0.00', '0%'];
    const numbers = ['123', '12345678', '7', '7', '123456', '1234', '5', '0.5'];
    expect(
      await textsOf(
        numbers.map((number, index) => ({ number, style: index + 1 })),
        { formats },
      ),
    ).toEqual(['00123', '012-34-5678', 'EMP-0007', '7', '(123) 456', '1234', '5', '0.5']);
  });

  it('converts dates to ISO text, and reports that they were dates', async () => {
    const formats = [
      14,
      22,
      'dd.mm.yyyy',
      '[$-407]d. mmmm yyyy;@',
      'hh:mm',
      '[h]:mm',
      'yyyy-mm-dd hh:mm:ss',
      '"day" 0',
    ];
    const numbers = ['46347', '46347.39583333', '1', '46347', '0.75', '1.5', '46347.9999999', '46347'];
    const { rows } = await readAll(
      sheetOf(
        [formats.map((_format, index) => `c${index}`), numbers.map((number, index) => ({ number, style: index + 1 }))],
        { formats },
      ),
    );
    expect(rows[0]?.values).toEqual([
      '2026-11-21',
      '2026-11-21T09:30:00',
      '1900-01-01',
      '2026-11-21',
      '18:00:00',
      '36:00:00',
      '2026-11-22T00:00:00',
      'day 46347',
    ]);
    expect(rows[0]?.findings?.map(({ column, kind }) => `${column} ${kind}`)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((column) => `${column} date-cell`),
    );
  });

  it('counts days from 1904 if the file says so', async () => {
    expect(await textsOf([{ number: '44885', style: 1 }], { formats: [14], from1904: true })).toEqual(['2026-11-21']);
  });

  it('reads the stored result of a formula, and reports errors and formulas without a result', async () => {
    const cells = [
      { xml: '<c t="str"><f>A1&amp;"x"</f><v>Adax</v></c>' },
      { xml: '<c><f>1+1</f><v>2</v></c>' },
      { xml: '<c t="b"><v>1</v></c>' },
      { xml: '<c t="inlineStr"><is><r><t>Ada </t></r><r><t>L</t></r></is></c>' },
      { xml: '<c t="e"><v>#N/A</v></c>' },
      { xml: '<c><f>A1</f><v></v></c>' },
      { xml: '<c t="s"><v>999</v></c>' },
      { number: '1234567890123456789', style: 0 },
    ];
    const { rows } = await readAll(sheetOf([cells.map((_cell, index) => `c${index}`), cells]));
    expect(rows[0]?.values).toEqual(['Adax', '2', 'TRUE', 'Ada L', '', '', '', '1234567890123456800']);
    expect(rows[0]?.findings).toEqual([
      { column: 4, kind: 'error-cell' },
      { column: 5, kind: 'error-cell' },
      { column: 6, kind: 'error-cell' },
      { column: 7, kind: 'digits-lost' },
    ]);
  });

  it('numbers rows as the sheet does, and omits empty rows', async () => {
    const { rows, columns } = await readAll(
      sheetOf([[], ['Code', 'Name'], ['A1'], [], [null, 'Bob'], ['A3', 'Cy', null, 'x']]),
    );
    expect(columns).toEqual(['Code', 'Name']);
    expect(rows).toEqual([
      { row: 3, values: ['A1', ''] },
      { row: 5, values: ['', 'Bob'] },
      { row: 6, values: ['A3', 'Cy', '', 'x'], findings: [{ column: null, kind: 'too-many-cells' }] },
    ]);
  });

  it('is read from its first visible sheet, or from the sheet that the user names', async () => {
    const file = writeXlsx({
      sheets: [
        { name: 'Lists', rows: [['x'], ['hidden']], state: 'hidden' },
        { name: 'People', rows: [['Code'], ['A1']] },
        { name: 'More', rows: [['Code'], ['B1']] },
      ],
    });
    const first = await readAll(file);
    expect([first.format, first.encoding, first.sheet, first.rows[0]?.values]).toEqual([
      'xlsx',
      null,
      'People',
      ['A1'],
    ]);
    expect(await valuesOf(file, { sheet: 'More' })).toEqual([['B1']]);
    expect((await refusalOf(file, { sheet: 'Gone' })).message).toBe(
      'The workbook has no sheet "Gone"; it has "Lists", "People", "More".',
    );
  });

  it('is read with any namespace prefix, and without references of rows and cells', async () => {
    const file = writeZip({
      '_rels/.rels':
        '<R:Relationships xmlns:R="r"><R:Relationship Id="a" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="/book/main.xml"/></R:Relationships>',
      'book/_rels/main.xml.rels':
        '<Relationships><Relationship Id="b" Type="x/worksheet" Target="../one.xml"/></Relationships>',
      'book/main.xml':
        '<x:workbook xmlns:x="m" xmlns:q="r"><x:sheets><x:sheet name="One" sheetId="1" q:id="b"/></x:sheets></x:workbook>',
      'one.xml':
        '<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>Code</x:t></x:is></x:c></x:row><x:row><x:c t="inlineStr"><x:is><x:t>A_x0031_</x:t><x:rPh><x:t>no</x:t></x:rPh></x:is></x:c></x:row></x:sheetData></x:worksheet>',
    });
    expect((await readAll(file)).rows).toEqual([{ row: 2, values: ['A1'] }]);
  });
});

describe('an XLSX file written by another library', () => {
  const fixture = (name: string) => readFileSync(join(__dirname, 'fixtures', name));

  it('is read with the intended values: openpyxl 3.1', async () => {
    const { columns, rows, sheet } = await readAll(fixture('openpyxl.xlsx'));
    expect(sheet).toBe('Gäste');
    expect(columns).toEqual(['Attendee code', 'Full name', 'Arrival', 'Phone', 'Seats', 'Checked']);
    expect(rows.map(({ values }) => values)).toEqual([
      ['00123', 'Zoë "Z" <L>', '2026-11-21T09:30:00', '491701234567', '100000', 'TRUE'],
      ['00123', 'Line\nbreak', '2026-11-21', '+49 170', '0.3', ''], // 123 in the format 00000; a formula without a result
      ['1E5', '', '18:00:00', '', '12345678901234570', 'x'],
    ]);
    expect(rows.map(({ findings }) => findings?.filter(({ kind }) => kind !== 'date-cell'))).toEqual([
      [],
      [{ column: 5, kind: 'error-cell' }],
      [{ column: 4, kind: 'digits-lost' }],
    ]);
  });

  it('is read with the intended values: XlsxWriter 3.3', async () => {
    expect(await valuesOf(fixture('xlsxwriter.xlsx'))).toEqual([
      ['00123', 'Zoë', '2026-11-21T09:30:00', '2'],
      ['00123', 'Ada', '', '_x0041_'], // 123 in the format 00000; a rich text; an escaped escape sequence
    ]);
  });
});

describe('an archive that is not a readable workbook', () => {
  const good = sheetOf([['Code'], ['A1']]);
  const workbook = (parts: Record<string, string>) =>
    writeZip({
      '_rels/.rels': '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="w.xml"/></Relationships>',
      '_rels/w.xml.rels':
        '<Relationships><Relationship Id="b" Type="x/worksheet" Target="s.xml"/><Relationship Id="t" Type="x/sharedStrings" Target="t.xml"/></Relationships>',
      'w.xml': '<workbook><sheets><sheet name="One" r:id="b"/></sheets></workbook>',
      't.xml': '<sst/>',
      's.xml': '<worksheet><sheetData/></worksheet>',
      ...parts,
    });

  it.each([
    [
      'a zip archive of something else',
      writeZip({ 'readme.txt': 'hello' }),
      'not-a-table',
      /^The file is an archive but not an XLSX workbook; /,
    ],
    [
      'a text document',
      workbook({ 'w.xml': '<document/>' }),
      'not-a-table',
      /^The file is an archive but not an XLSX workbook; /,
    ],
    ['no sheets', workbook({ 'w.xml': '<workbook/>' }), 'not-a-table', /^The workbook has no sheet with cells; /],
    ['an empty sheet', workbook({}), 'empty', /^The file holds no rows; /],
    [
      'a truncated archive',
      good.subarray(0, good.length - 40),
      'damaged',
      /^The XLSX file is damaged or was not received whole; /,
    ],
    ['only its first 30 bytes', good.subarray(0, 30), 'damaged', /^The XLSX file is damaged/],
    [
      'overwritten bytes in the middle',
      Buffer.concat([
        good.subarray(0, good.indexOf('xl/worksheets') + 60),
        Buffer.alloc(20, 0xff),
        good.subarray(good.indexOf('xl/worksheets') + 80),
      ]),
      'damaged',
      /^The XLSX file is damaged/,
    ],
    [
      'XML that is not well-formed',
      workbook({ 's.xml': '<worksheet><sheetData><row></sheetData>' }),
      'damaged',
      /^The XLSX file is damaged: its XML is not well-formed; /,
    ],
    [
      'a sheet that is cut off',
      workbook({ 's.xml': '<worksheet></worksheet>' }),
      'damaged',
      /^The XLSX file is damaged: it breaks off; /,
    ],
    [
      'rows out of order',
      workbook({ 's.xml': '<worksheet><sheetData><row r="2"/><row r="2"/></sheetData></worksheet>' }),
      'damaged',
      /^The XLSX file is damaged: its rows are out of order; /,
    ],
    [
      'nested entities',
      workbook({
        's.xml':
          '<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet><sheetData><row><c t="str"><v>&b;</v></c></row></sheetData></worksheet>',
      }),
      'damaged',
      /^The XLSX file is damaged: its XML is not well-formed; /,
    ],
    [
      'a cell that never ends',
      workbook({
        's.xml': `<worksheet><sheetData><row><c t="str"><v>${'x'.repeat(200_000)}</v></c></row></sheetData></worksheet>`,
      }),
      'too-large',
      /^A cell of the XLSX file holds more than 32,767 characters; /,
    ],
  ])('is refused with one sentence: %s', async (_name, file, kind, sentence) => {
    const refusal = await refusalOf(file);
    expect([refusal.kind, refusal.message]).toEqual([kind, expect.stringMatching(sentence)]);
  });

  it('is either refused or read correctly if a byte is damaged', async () => {
    let refused = 0;
    for (let at = 0; at < good.length; at += 41) {
      const file = Buffer.from(good);
      file[at] = file[at]! ^ 0x55;
      try {
        expect(await valuesOf(file)).toEqual([['A1']]);
      } catch (error) {
        if (error instanceof Error && error.name === 'RegistrantFileError') refused++;
        else throw error;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });
});

describe('the shared texts of an XLSX file', () => {
  it('are found by their number, even if the table grows over several pages', () => {
    const texts = new SharedTexts();
    const written = Array.from({ length: 5_000 }, (_text, index) => `${index} é日😀 ${'x'.repeat(index % 700)}`);
    for (const text of ['', ...written]) texts.add(text);
    expect(texts.at(0)).toBe('');
    expect(written.map((_text, index) => texts.at(index + 1))).toEqual(written);
    expect([texts.at(5_001), texts.at(-1), texts.at(Number.NaN)]).toEqual([undefined, undefined, undefined]);
  });

  it('are refused beyond their size limit', () => {
    const texts = new SharedTexts(2 * 1024 * 1024);
    const add = () => {
      for (let count = 0; count < 100; count++) texts.add('x'.repeat(30_000));
    };
    expect(add).toThrow(RegistrantFileError);
    expect(texts.at(60)).toHaveLength(30_000);
  });
});
