import { openRegistrantFile } from './open-registrant-file.js';
import { readAll, refusalOf } from './open-registrant-file.test-kit.js';
import { RegistrantFileError } from './registrant-file.js';

describe('an unusable file', () => {
  it.each([
    ['nothing', '', 'empty', 'The file is empty; export it again.'],
    ['white space', ' \r\n\r\n', 'empty', 'The file holds nothing but white space; export it again.'],
    ['only a byte order mark', '\ufeff', 'empty', 'The file holds nothing but white space; export it again.'],
    ['only a header', 'Code,Name\n', 'empty', 'The file has a header and no row below it; export it again.'],
    ['only delimiters', ',,\n,,\n', 'empty', 'The file holds no rows; export it again.'],
    [
      'an image',
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
      'not-a-table',
      'The file is neither text nor XLSX; export the list as CSV, XLSX or JSON.',
    ],
    [
      'an old Excel file',
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      'not-a-table',
      'The file is an Excel file of the old kind (.xls) or locked by a password; save it as .xlsx without a password.',
    ],
    ['a PDF', '%PDF-1.7 …', 'not-a-table', 'The file is a PDF; export the list as CSV or XLSX.'],
    [
      'a compressed file',
      Buffer.from([0x1f, 0x8b, 8, 0]),
      'not-a-table',
      'The file is compressed (gzip); unpack it and import what is in it.',
    ],
    [
      'a web page with the name of an Excel file',
      '<html><table>',
      'not-a-table',
      'The file is a web page or XML, whatever its name says; save it as CSV or XLSX.',
    ],
    [
      'two columns with one name',
      'Code,Name, Name \nA1,Ada,x\n',
      'header',
      'Columns 2 and 3 have the same name; rename or remove one of them.',
    ],
  ])('is refused with one sentence: %s', async (_name, content, kind, message) => {
    const refusal = await refusalOf(content);
    expect([refusal.kind, refusal.message]).toEqual([kind, message]);
  });

  it('is refused if its header has more than 500 columns', async () => {
    const header = Array.from({ length: 501 }, (_column, index) => `c${index}`).join(',');
    expect((await refusalOf(`${header}\nx\n`)).message).toBe('The header has 501 columns; at most 500 are allowed.');
  });

  it.each([['ab'], [''], ['"'], ['\n']])('is refused with the invalid delimiter %j', async (delimiter) => {
    const refusal = await refusalOf('Code\nA1', { delimiter });
    expect([refusal.kind, refusal.message]).toEqual([
      'options',
      `The delimiter ${JSON.stringify(delimiter)} cannot separate cells; use a single character, such as , or ;, or leave it out.`,
    ]);
  });
});

describe('the format of a file', () => {
  it('is detected by its content, regardless of the name', async () => {
    expect((await readAll('[{"a": "b"}]', { name: 'people.xlsx' })).format).toBe('json');
    expect((await readAll('{"a": "b"}', { name: 'people.csv' })).format).toBe('ndjson');
    expect((await readAll('Code\nA1', { name: 'people.json' })).format).toBe('csv');
  });

  it('is detected by its name if a header looks like JSON', async () => {
    const file = await readAll('["Code"],Name\nA1,Ada\n', { name: 'people.csv' });
    expect([file.format, file.columns]).toEqual(['csv', ['["Code"]', 'Name']]);
  });

  it('is CSV if a header in brackets is not JSON', async () => {
    expect((await readAll('[Code],Name\nA1,Ada\n')).format).toBe('csv');
  });

  it('removes line ends and invisible characters from column names', async () => {
    expect((await readAll('"Attendee\r\n code\u200b"," Na\u0007me\u00a0"\nA1,Ada\n')).columns).toEqual([
      'Attendee code',
      'Name',
    ]);
  });

  it('names a column without a name by its position', async () => {
    expect((await readAll('Code,,Name\nA1,x,Ada\n')).columns).toEqual(['Code', '(column 2)', 'Name']);
  });
});

describe('a file that is not read to its end', () => {
  /** Returns an endless source that starts with this text and records when it was released. */
  function source(start: string) {
    const state = { released: false };
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        yield Buffer.from(start);
        for (;;) yield Buffer.alloc(64 * 1024, 'A1,Ada\n');
      } finally {
        state.released = true;
      }
    }
    return { state, bytes: endless() };
  }

  async function untilReleased(state: { readonly released: boolean }): Promise<boolean> {
    for (let turn = 0; turn < 1_000 && !state.released; turn++) await new Promise((resolve) => setImmediate(resolve));
    return state.released;
  }

  it('releases its source when the reader abandons its rows', async () => {
    const { state, bytes } = source('Code,Name\n');
    const file = await openRegistrantFile(bytes, { name: 'people.csv' });
    for await (const portion of file.rows) {
      expect(portion.length).toBeLessThanOrEqual(1_000);
      break;
    }
    expect(await untilReleased(state)).toBe(true);
  });

  it('releases its source when it is closed before its rows are read', async () => {
    const { state, bytes } = source('Code,Name\n');
    const file = await openRegistrantFile(bytes, { name: 'people.csv' });
    await file.close();
    await file.close();
    expect(state.released).toBe(true);
  });

  it.each([['%PDF'], ['<html>'], ['{"a": 1}, '], [',,,\n"']])(
    'releases its source when it is refused: %j',
    async (start) => {
      const { state, bytes } = source(start);
      await expect(openRegistrantFile(bytes, { name: 'people' })).rejects.toThrow(RegistrantFileError);
      expect(await untilReleased(state)).toBe(true);
    },
  );
});
