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
      { column: 5, kind: 'no-result' },
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

const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="x/${type}" Target="${target}"/>`;
const relations = (...each: string[]) => `<Relationships>${each.join('')}</Relationships>`;
const inline = (text: string) => `<is><t>${text}</t></is>`;

/** Writes a workbook of one sheet from XML, in the layout of Excel; `more` replaces or adds parts. */
function workbookOf(
  { sheet = '', workbook = '', styles = '' }: { sheet?: string; workbook?: string; styles?: string },
  more: Readonly<Record<string, string | Buffer>> = {},
): Buffer {
  return writeZip({
    '_rels/.rels': relations(relation('a', 'officeDocument', 'xl/workbook.xml')),
    'xl/_rels/workbook.xml.rels': relations(
      relation('b', 'worksheet', 'worksheets/sheet1.xml'),
      relation('s', 'styles', 'styles.xml'),
    ),
    'xl/workbook.xml': `<workbook><workbookPr/><sheets><sheet name="One" r:id="b"/></sheets>${workbook}</workbook>`,
    'xl/styles.xml': `<styleSheet>${styles}</styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet>${sheet}</worksheet>`,
    ...more,
  });
}

/** Number formats by style from 1, as in `styles.xml`. */
const stylesOf = (...codes: string[]) =>
  `<numFmts>${codes.map((code, n) => `<numFmt numFmtId="${164 + n}" formatCode="${code}"/>`).join('')}</numFmts>` +
  `<cellXfs><xf numFmtId="0"/>${codes.map((_code, n) => `<xf numFmtId="${164 + n}"/>`).join('')}</cellXfs>`;

describe('an XLSX file as other programs write it', () => {
  const one = `<sheetData><row r="1"><c r="A1" t="inlineStr">${inline('Code')}</c></row><row r="2"><c r="A2" t="inlineStr">${inline('A1')}</c></row></sheetData>`;
  const texts = '<sst><si><t>Code</t></si><si><t>A1</t></si></sst>';
  const withTexts = '<sheetData><row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row></sheetData>';
  const textsRelation = (target: string) => ({
    'xl/_rels/workbook.xml.rels': relations(
      relation('b', 'worksheet', 'worksheets/sheet1.xml'),
      relation('t', 'sharedStrings', target),
    ),
  });

  it.each([
    ['in another case', 'xl/SharedStrings.xml', 'sharedStrings.xml'],
    ['in a folder in another case', 'XL/sharedstrings.XML', 'sharedStrings.xml'],
    ['with backslashes', 'xl\\sharedStrings.xml', 'sharedStrings.xml'],
    ['with a slash at the start', '/xl/sharedStrings.xml', '/xl/sharedStrings.xml'],
    ['relative to the root', 'xl/sharedStrings.xml', 'xl/sharedStrings.xml'],
    ['escaped in the relation', 'xl/shared strings.xml', 'shared%20strings.xml'],
    ['with backslashes in the relation', 'xl/texts/shared.xml', 'texts\\shared.xml'],
  ])('finds a part whose name is written %s', async (_how, name, target) => {
    const file = workbookOf({ sheet: withTexts }, { ...textsRelation(target), [name]: texts });
    expect(await valuesOf(file)).toEqual([['A1']]);
  });

  it('is refused if a part is missing, because its texts, formats or rows would be lost', async () => {
    const missing = 'The XLSX file is damaged: a part of it is missing; save it again.';
    expect((await refusalOf(workbookOf({ sheet: withTexts }, textsRelation('gone.xml')))).message).toBe(missing);
    const noSheet = {
      'xl/_rels/workbook.xml.rels': relations(relation('b', 'worksheet', 'worksheets/gone.xml')),
    };
    expect((await refusalOf(workbookOf({}, noSheet))).message).toBe(missing);
  });

  it.each([
    ['small letters', 'a2', 'c2'],
    ['dollar signs', '$A$2', '$C$2'],
  ])('keeps columns in place for references with %s', async (_how, first, third) => {
    const header = ['A', 'B', 'C'].map((name) => `<c r="${name}1" t="inlineStr">${inline(`c${name}`)}</c>`).join('');
    const cells = `<c r="${first}" t="inlineStr">${inline('A1')}</c><c r="${third}" t="inlineStr">${inline('x')}</c>`;
    const sheet = `<sheetData><row r="1">${header}</row><row r="2">${cells}</row></sheetData>`;
    expect(await valuesOf(workbookOf({ sheet }))).toEqual([['A1', '', 'x']]);
  });

  it.each(['A', '2', 'R2C1', 'A3', 'ÄA2', ''])(
    'is refused for the reference %j of a cell of row 2',
    async (reference) => {
      const sheet = `<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="${reference}"><v>1</v></c></row></sheetData>`;
      expect((await refusalOf(workbookOf({ sheet }))).message).toBe(
        'The XLSX file is damaged: a cell has an invalid reference; save it again.',
      );
    },
  );

  it('takes the number of a row from its cells if only they have it', async () => {
    const sheet = `<sheetData><row><c r="A3" t="inlineStr">${inline('Code')}</c></row><row><c r="A7" t="inlineStr">${inline('A1')}</c></row></sheetData>`;
    expect((await readAll(workbookOf({ sheet }))).rows).toEqual([{ row: 7, values: ['A1'] }]);
  });

  it('joins the elements of a row that has one for each cell', async () => {
    const cell = (reference: string, text: string) =>
      `<row r="${reference.slice(1)}"><c r="${reference}" t="inlineStr">${inline(text)}</c></row>`;
    const sheet = `<sheetData>${cell('A1', 'Code')}${cell('B1', 'Name')}${cell('A2', 'A1')}${cell('B2', 'Ada')}</sheetData>`;
    expect((await readAll(workbookOf({ sheet }))).rows).toEqual([{ row: 2, values: ['A1', 'Ada'] }]);
  });

  it.each([
    ['1', '2026-11-21'],
    ['true', '2026-11-21'],
    ['True', '2026-11-21'],
    ['on', '2026-11-21'],
    ['0', '2022-11-20'],
    ['false', '2022-11-20'],
  ])('reads the flag date1904="%s", whatever an extension says', async (flag, day) => {
    const sheet = `<sheetData><row><c t="inlineStr">${inline('Day')}</c></row><row><c s="1"><v>44885</v></c></row></sheetData>`;
    const file = workbookOf(
      { sheet, styles: stylesOf('yyyy-mm-dd') },
      {
        'xl/workbook.xml': `<workbook><workbookPr date1904="${flag}"/><sheets><sheet name="One" r:id="b"/></sheets><extLst><ext><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst></workbook>`,
      },
    );
    expect(await valuesOf(file)).toEqual([[day]]);
  });

  it('reads the fallback of an alternative, and no extension of a sheet', async () => {
    const sheet =
      `<sheetData><row><c t="inlineStr">${inline('Code')}</c></row><row><mc:AlternateContent>` +
      `<mc:Choice Requires="x99"><c t="inlineStr">${inline('no')}</c></mc:Choice>` +
      `<mc:Fallback><c t="inlineStr">${inline('A1')}</c></mc:Fallback></mc:AlternateContent></row></sheetData>` +
      '<extLst><ext><row r="1"><c><v>1</v></c></row></ext></extLst>';
    expect(await valuesOf(workbookOf({ sheet }))).toEqual([['A1']]);
  });

  it.each(['utf-16le', 'utf-16be'] as const)('reads parts in %s', async (encoding) => {
    const wide = Buffer.from(`\ufeff<worksheet>${one}</worksheet>`, 'utf16le');
    const part = encoding === 'utf-16le' ? wide : wide.swap16();
    expect(await valuesOf(workbookOf({}, { 'xl/worksheets/sheet1.xml': part }))).toEqual([['A1']]);
  });

  it.each([
    // stored, format, read
    ['2026-11-21', 'General', '2026-11-21'],
    ['2026-11-21T09:30:00', 'General', '2026-11-21T09:30:00'],
    ['2026-11-21T09:30:00.000', 'dd.mm.yyyy hh:mm', '2026-11-21T09:30:00'],
    ['2026-11-21T09:29:59.9996', 'dd.mm.yyyy hh:mm', '2026-11-21T09:30:00'],
    ['2026-11-21T23:59:59.9996', 'dd.mm.yyyy hh:mm', '2026-11-22T00:00:00'],
    ['2026-11-21T09:30:00Z', 'General', '2026-11-21T09:30:00'],
    ['2026-11-21T00:00:00', 'dd.mm.yyyy', '2026-11-21'],
    ['1899-12-30T09:30:00', 'hh:mm', '09:30:00'],
    ['09:30:00', 'hh:mm', '09:30:00'],
    ['T09:30', 'hh:mm', '09:30:00'],
    ['PT36H15M', '[h]:mm', '36:15:00'],
    ['PT9H30M0.4S', 'hh:mm', '09:30:00'],
    ['P1DT2H', '[h]:mm', '26:00:00'],
    ['2026-11-21T09:30:00+01:00', 'General', '2026-11-21T09:30:00+01:00'],
    ['P', 'General', 'P'],
  ])('reads the date %s of a strict document in the format %s as %s', async (stored, format, text) => {
    const sheet = `<sheetData><row><c t="inlineStr">${inline('When')}</c></row><row><c s="1" t="d"><v>${stored}</v></c></row></sheetData>`;
    const { rows } = await readAll(workbookOf({ sheet, styles: stylesOf(format) }));
    expect(rows[0]).toEqual({ row: 2, values: [text], findings: [{ column: 0, kind: 'date-cell' }] });
  });

  it('reads an instant in the format of a time as the time it shows, and in the format of a duration as an instant', async () => {
    const cells = [
      ['46347.3958333333', 'h:mm'],
      ['0.75', 'h:mm'],
      ['46347.3958333333', '[h]:mm'],
      ['1.5', '[h]:mm'],
      ['1.5', 'h:mm'],
    ] as const;
    const row = cells.map(([value], n) => `<c s="${n + 1}"><v>${value}</v></c>`).join('');
    const header = cells.map((_cell, n) => `<c t="inlineStr">${inline(`c${n}`)}</c>`).join('');
    const sheet = `<sheetData><row>${header}</row><row>${row}</row></sheetData>`;
    expect(await valuesOf(workbookOf({ sheet, styles: stylesOf(...cells.map(([, format]) => format)) }))).toEqual([
      ['09:30:00', '18:00:00', '2026-11-21T09:30:00', '36:00:00', '12:00:00'],
    ]);
  });
});

describe('what an XLSX file says of formulas and rows', () => {
  const formulas = [
    '<c><f>A1</f></c>',
    '<c><f>A1</f><v>0</v></c>',
    '<c><f>A1</f><v>7</v></c>',
    '<c t="str"><f>A1</f><v></v></c>',
    '<c t="str"><f>A1</f><v>Ada</v></c>',
    '<c t="e"><f>A1</f><v>#N/A</v></c>',
    '<c><v>0</v></c>',
  ];
  const header = formulas.map((_cell, n) => `<c t="inlineStr">${inline(`c${n}`)}</c>`).join('');
  const sheet = `<sheetData><row>${header}</row><row>${formulas.join('')}</row></sheetData>`;

  it.each([
    ['<calcPr calcId="191029"/>', ['0 no-result', '1 zero-result', '5 error-cell']],
    [
      '<calcPr fullCalcOnLoad="1"/>',
      [
        '0 no-result',
        '1 not-calculated',
        '2 calculated-on-load',
        '3 not-calculated',
        '4 calculated-on-load',
        '5 error-cell',
      ],
    ],
    [
      '<calcPr calcCompleted="0"/>',
      [
        '0 no-result',
        '1 not-calculated',
        '2 calculated-on-load',
        '3 not-calculated',
        '4 calculated-on-load',
        '5 error-cell',
      ],
    ],
  ])('tells results that may be none, with %s', async (workbook, found) => {
    const { rows } = await readAll(workbookOf({ sheet, workbook }));
    expect(rows[0]?.findings?.map(({ column, kind }) => `${column} ${kind}`)).toEqual(found);
  });

  const rowOf = (row: number, attributes = '') =>
    `<row r="${row}"${attributes}><c r="A${row}" t="inlineStr">${inline(`x${row}`)}</c></row>`;

  it('marks hidden rows, and the header and totals of tables', async () => {
    const file = workbookOf(
      {
        sheet: `<sheetData>${rowOf(1)}${rowOf(2)}${rowOf(3, ' hidden="1"')}${rowOf(4, ' ht="0" customHeight="1"')}${rowOf(5)}</sheetData>`,
      },
      {
        'xl/worksheets/_rels/sheet1.xml.rels': relations(relation('t', 'table', '../tables/table1.xml')),
        'xl/tables/table1.xml': '<table ref="A2:B5" totalsRowCount="1"><autoFilter ref="A2:B4"/></table>',
      },
    );
    expect((await readAll(file)).rows.map(({ row, marks = [] }) => `${row} ${marks.join()}`)).toEqual([
      '2 table-header',
      '3 hidden',
      '4 hidden',
      '5 total',
    ]);
  });

  it('tells rows that a filter hides, of the sheet or of a table', async () => {
    const rows = `<sheetData>${rowOf(1)}${rowOf(2, ' hidden="true"')}${rowOf(3)}</sheetData>`;
    const marks = async (file: Buffer) => (await readAll(file)).rows.map((row) => row.marks?.join() ?? '');
    expect(await marks(workbookOf({ sheet: `<sheetPr filterMode="1"/>${rows}` }))).toEqual(['filtered', '']);
    const filteredTable = {
      'xl/worksheets/_rels/sheet1.xml.rels': relations(relation('t', 'table', '../tables/table1.xml')),
      'xl/tables/table1.xml':
        '<table ref="A1:B3" headerRowCount="0"><autoFilter ref="A1:B3"><filterColumn colId="0"/></autoFilter></table>',
    };
    expect(await marks(workbookOf({ sheet: rows }, filteredTable))).toEqual(['filtered', '']);
  });

  it('names all sheets, and which of them are hidden', async () => {
    const file = writeXlsx({
      sheets: [
        { name: 'Lists', rows: [['x'], ['y']], state: 'veryHidden' },
        { name: 'People', rows: [['Code'], ['A1']] },
      ],
    });
    expect((await readAll(file)).sheets).toEqual([
      { name: 'Lists', hidden: true },
      { name: 'People', hidden: false },
    ]);
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
      [{ column: 5, kind: 'no-result' }],
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
      workbook({ 's.xml': '<worksheet><sheetData><row r="2"/><row r="1"/></sheetData></worksheet>' }),
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
