import { readAll, refusalOf } from './open-registrant-file.test-kit.js';

/** Returns each row with its kind of finding, as `2 totals-row`. */
async function kindsOf(text: string): Promise<string[]> {
  return (await readAll(text)).rows.map(
    ({ row, findings }) => `${row}${findings === undefined ? '' : ` ${findings.map(({ kind }) => kind).join()}`}`,
  );
}

const people = 'attendeeCode,Name,Email\nC-1,Ann Ray,ann@example.com\nC-2,Bo Lee,bo@example.com\n';

describe('the header of a table', () => {
  it.each([
    ['a title, a date and an empty line', '"Registration report"\nGenerated,"Nov 20, 2026"\n\n', 4],
    ['the name of a table', 'Table 1\n', 2],
    ['a comment', '# exported 2026-11-20 by Ann\n', 2],
    ['a title with delimiters', 'Report,,\n', 2],
    ['an upper header', 'Person,,\n', 2],
    ['a hint that a spreadsheet has saved again', 'sep=,,,\n', 1],
    ['nothing', '', 1],
  ])('is found below %s', async (_name, above, row) => {
    const { columns, headerRow, rows, remarks } = await readAll(above + people);
    expect([columns, headerRow]).toEqual([['attendeeCode', 'Name', 'Email'], row]);
    expect(rows.map((each) => each.values[0])).toEqual(['C-1', 'C-2']);
    expect(remarks.length).toBe(row === 1 ? 0 : 1);
  });

  it('is the first row if no row has usual names', async () => {
    expect((await readAll('Kennung,Wer\nC-1,Ann\n')).headerRow).toBe(1);
  });

  it('is found by the names of a mapping', async () => {
    const { headerRow } = await readAll('Liste,\nKennung,Wer\nC-1,Ann\n', { names: ['Kennung', 'Wer'] });
    expect(headerRow).toBe(2);
  });

  it.each([
    [
      'people above it',
      `C-8,Cy Fox,cy@example.com\n${people}`,
      'Row 2 looks like the header, but row 1 above it may be a registrant; put the header into the first row.',
    ],
    [
      'no header, and two equal cells',
      'C-1,Ann,Ray,Ann\nC-2,Bo,Lee,Bo\n',
      'Row 1 has no usual name of a column, and two equal cells: the file probably has no header; add one such as "attendeeCode, Name".',
    ],
    [
      'all names in one cell',
      '"attendeeCode,Name"\n"C-1,Ann"\n',
      'Row 1 has all names of columns in one cell, separated by ","; split the column in your spreadsheet program, and save the file again.',
    ],
    [
      'a second header with other columns',
      `${people}Name,Email,attendeeCode\nCy,cy@example.com,C-3\n`,
      'Row 4 looks like a second header, with other columns than row 1; import each part as a file of its own.',
    ],
    [
      'a stray quotation mark in it',
      'attendeeCode,"Name,Email\nC-1,Ann,ann@example.com\n',
      'Row 1, which should name the columns, has a quotation mark too many or too few; correct it.',
    ],
  ])('refuses a file with %s', async (_name, text, message) => {
    const refusal = await refusalOf(text);
    expect([refusal.kind, refusal.message]).toEqual(['header', message]);
  });
});

describe('a row below the header', () => {
  it.each([
    ['the header again', 'attendeeCode,Name,Email', 'repeated-header'],
    ['a total', 'Total,2 people,', 'totals-row'],
    ['a total in one cell', 'Total: 2', 'totals-row'],
    ['a total in another language', ',Summe:,2', 'totals-row'],
    ['a title of a section', 'Panelists', 'too-few-cells'],
  ])('is no registrant if it is %s', async (_name, line, kind) => {
    expect(await kindsOf(`${people}${line}\n`)).toEqual(['2', '3', `4 ${kind}`]);
    expect(await kindsOf(`${people}${line}\nC-3,Cy Fox,\n`)).toEqual(['2', '3', `4 ${kind}`, '5']);
  });

  it.each([['Total,Jean Dupont,C-3'], ['Summers,Al,C-4'], ['C-5,Sum Total,x@example.com']])(
    'is a registrant: %s',
    async (line) => {
      expect(await kindsOf(`${people}${line}\n`)).toEqual(['2', '3', '4']);
    },
  );

  it('may lack the delimiters of empty cells at its end, but is not taken for half of a row', async () => {
    const wide = 'attendeeCode,Name,Email,Notes\nC-1,Ann,a@example.com,\n';
    expect(await kindsOf(`${wide}C-2,Bo,b@example.com\nC-3,Cy\n`)).toEqual(['2', '3 cells-missing', '4 cells-missing']);
    expect(await kindsOf(`${wide}C-2,Bo\n Lee,b@example.com,x\n`)).toEqual(['2', '3 too-few-cells', '4 too-few-cells']);
    expect(await kindsOf(`${wide}C-2,Bo,b@exam`)).toEqual(['2', '3 too-few-cells']);
    expect(await kindsOf(`${wide}C-2\n`)).toEqual(['2', '3 too-few-cells']);
    const { rows } = await readAll(`${wide}C-2,Bo,b@example.com\n`);
    expect(rows[1]!.values).toEqual(['C-2', 'Bo', 'b@example.com', '']);
  });

  it.each([
    ["'C-3'", 'C-3'],
    ['“C-3”', 'C-3'],
    ["'00123", "'00123"],
    ["O'Brien'", "O'Brien'"],
    ["'=1+1'", "'=1+1'"],
  ])('loses the quotation marks of another program: %s', async (value, expected) => {
    expect((await readAll(`${people}${value},Cy,cy@example.com\n`)).rows[2]!.values[0]).toBe(expected);
  });

  it.each([
    ['Order status', 'Cancelled', true],
    ['Status', 'partially refunded', true],
    ['Status', 'storniert', true],
    ['Status', 'not cancelled', false],
    ['Status', 'paid', false],
    ['Cancelled at', '2026-11-01', true],
    ['Cancelled', 'no', false],
    ['Notes', 'cancelled', false],
  ])('is noted if the file marks it as cancelled: %s %s', async (column, value, isMarked) => {
    const [row] = await kindsOf(`attendeeCode,Name,${column}\nC-1,Ann,${value}\n`);
    expect(row).toBe(isMarked ? '2 cancelled-row' : '2');
  });
});

describe('a file that is no table', () => {
  it.each([
    ['a web page', '<meta charset="utf-8"><table><tr><td>', 'The file is a web page or XML,'],
    ['a contact', 'BEGIN:VCARD\r\nVERSION:3.0\r\n', 'The file holds contacts (vCard)'],
    ['a calendar', 'BEGIN:VCALENDAR\r\n', 'The file is a calendar'],
    ['a link', '[InternetShortcut]\r\nURL=https://example.com/\r\n', 'The file is only a link;'],
    [
      'a link of an online document',
      '{"url": "https://docs.example.com/1", "doc_id": "1"}',
      'The file is only a link;',
    ],
    ['DIF', 'TABLE\r\n0,1\r\n"EXCEL"\r\n', 'The file is a table in the old format DIF;'],
    ['SYLK', 'ID;PWXL;N;E\r\n', 'The file is a table in the old format SYLK;'],
    ['RTF', '{\\rtf1\\ansi', 'The file is a text document (RTF)'],
    ['a web archive', 'MIME-Version: 1.0\r\n', 'The file is an e-mail or a web archive'],
  ])('is refused with a sentence of its own: %s', async (_name, text, start) => {
    for (const name of ['people.csv', 'people.xls']) {
      const refusal = await refusalOf(text, { name });
      expect([refusal.kind, refusal.message.startsWith(start)]).toEqual(['not-a-table', true]);
    }
  });
});
