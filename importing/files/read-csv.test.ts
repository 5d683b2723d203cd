import fc from 'fast-check';
import { readAll, refusalOf, valuesOf } from './open-registrant-file.test-kit.js';

describe('a CSV file', () => {
  it('is read with the delimiter that it uses', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      const text = [
        ['Code', 'Name'],
        ['A1', 'Ada, L; x'],
        ['A2', '"Bo|b"'],
      ]
        .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter))
        .join('\n');
      const file = await readAll(text);
      expect(file.delimiter).toBe(delimiter);
      expect(file.rows.map(({ values }) => values)).toEqual([
        ['A1', 'Ada, L; x'],
        ['A2', '"Bo|b"'],
      ]);
    }
  });

  it('keeps codes and numbers as text', async () => {
    expect(await valuesOf('Code,Phone\n00123,+49 170\n1E5,0049\n')).toEqual([
      ['00123', '+49 170'],
      ['1E5', '0049'],
    ]);
  });

  it('numbers rows as a spreadsheet does: quoted line ends do not count, and empty rows count but are omitted', async () => {
    const { rows } = await readAll('Code,Name\nA1,"Ada\nLovelace"\n\n,\nA2,Bob\n');
    expect(rows).toEqual([
      { row: 2, values: ['A1', 'Ada\nLovelace'] },
      { row: 5, values: ['A2', 'Bob'] },
    ]);
  });

  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('is read with lines that end in %s, regardless of how it is split into chunks', async (_name, end) => {
    const text = ['Code,Name', 'A1,Ada', 'A2,Bob'].join(end);
    for (let chunkBytes = 1; chunkBytes < 12; chunkBytes++) {
      expect(await valuesOf(text, { chunkBytes })).toEqual([
        ['A1', 'Ada'],
        ['A2', 'Bob'],
      ]);
    }
  });

  it('may mix line ends', async () => {
    expect(await valuesOf('Code,Name\r\nA1,Ada\nA2,Bob\r\n')).toHaveLength(2);
  });

  it('reports rows that are shorter or longer than the header, and ignores empty cells after its end', async () => {
    const { rows } = await readAll('Code,Name,,\nA1\nA2,Bob,,\nA3,Cy,x\n');
    expect(rows).toEqual([
      { row: 2, values: ['A1', ''], findings: [{ column: null, kind: 'too-few-cells' }] },
      { row: 3, values: ['A2', 'Bob'] },
      { row: 4, values: ['A3', 'Cy', 'x'], findings: [{ column: null, kind: 'too-many-cells' }] },
    ]);
  });

  it('may start with a delimiter hint for Excel, which is not a row', async () => {
    const { rows, delimiter } = await readAll('sep=;\r\nCode;Name\r\nA,1;Ada\r\n');
    expect(delimiter).toBe(';');
    expect(rows).toEqual([{ row: 2, values: ['A,1', 'Ada'] }]);
  });

  it('may have one column', async () => {
    expect(await valuesOf('Code\nA1\nA2')).toEqual([['A1'], ['A2']]);
  });

  it('keeps a quotation mark inside an unquoted cell', async () => {
    expect(await valuesOf('Code,Name\nA1,Ada "the first" L\n')).toEqual([['A1', 'Ada "the first" L']]);
  });

  it.each([
    ['opens a name and is not closed', '"Ann Ray,Acme'],
    ['opens and closes before the end of the cell', '"Ann" Ray,Acme'],
    ['is closed by a mark of a later row', '"Ann Ray,Acme', 'C-4,"Fox, Cy",Acme'],
    ['is closed at the end of a cell of a later row', '"Ann Ray,Acme', 'C-4,Dee Roe",Acme', [5]],
    ['is at the end of a cell', 'Ann Ray",Acme'],
    ['is escaped by a backslash', '"Ann \\"Foxy\\" Ray",Acme'],
    ['is escaped by a backslash in a cell without quotation marks', 'Ann \\"Foxy\\" Ray,Acme'],
    ['is closed by an inch mark of a later row', '"Ann Ray,Acme', 'C-4,Bo 6" Lee,Acme', [5]],
  ])(
    'loses nobody to a quotation mark that %s',
    async (_name, cells, later = 'C-4,Eve Poe,Acme', alsoFound: readonly number[] = []) => {
      const lines = [
        'Code,Name,Company',
        `C-1,${cells}`,
        'C-2,Bo Lee,Acme',
        'C-3,Cy "F" Fox,Acme',
        later,
        'C-5,Al Orr,Acme',
      ];
      for (const end of ['\n', '\r\n', '\r']) {
        const { rows } = await readAll(lines.join(end) + end, { chunkBytes: 7 });
        expect(rows.map(({ row }) => row)).toEqual([2, 3, 4, 5, 6]);
        const found = rows.filter(({ findings }) => findings !== undefined);
        expect(found.map(({ row }) => row)).toEqual([2, ...alsoFound]);
        expect(rows.filter(({ findings }) => findings === undefined).map(({ values }) => values[0])).toEqual(
          ['C-2', 'C-3', 'C-4', 'C-5'].filter((_code, index) => !alsoFound.includes(index + 3)),
        );
      }
    },
  );

  it('does not take the lines of a text for rows if its quotation marks are wrong', async () => {
    const text = 'Code,Notes\nC-1,"He said "hi" to\nall, of us\nand, them"\nC-2,x\n';
    const { rows } = await readAll(text);
    expect(rows.map(({ row, findings }) => [row, findings?.[0]?.kind])).toEqual([
      [2, 'stray-quote'],
      [3, 'within-quotes'],
      [4, 'within-quotes'],
      [5, undefined],
    ]);
  });

  it('keeps honest line ends inside cells, whatever the lines hold', async () => {
    const address = 'Hall 5, left\r\n12345 Bonn, Germany\r\n\r\nRoom 7, 8';
    for (const [header, row] of [
      ['Code,Address', ['C-1', address]],
      ['Code,Address,Company', ['C-1', address, 'Acme']],
      ['Code,Name,City,Address', ['C-1', 'Ann', 'Bonn', address]],
    ] as const) {
      const text = `${header}\r\n${row.map((cell) => `"${cell}"`).join(',')}\r\n${row.map(() => 'C-2').join(',')}\r\n`;
      expect((await readAll(text)).rows[0]).toEqual({ row: 2, values: row });
    }
  });

  it('reads cells with blanks around their quotation marks', async () => {
    expect(await valuesOf('Code, "Name" ,Company\nC-1, "Ray, Ann" ,"Acme"\t\n')).toEqual([['C-1', 'Ray, Ann', 'Acme']]);
  });

  it('loses nobody to any stray quotation mark', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 18, max: 520 }), fc.integer({ min: 1, max: 200 }), async (at, chunkBytes) => {
        const people = Array.from(
          { length: 30 },
          (_one, n) => `C-${n},${n % 7 === 0 ? '"Ray, Ann"' : 'Bo Lee'},Acme\n`,
        );
        const whole = `Code,Name,Company\n${people.join('')}`;
        const { rows } = await readAll(`${whole.slice(0, at)}"${whole.slice(at)}`, { chunkBytes });
        expect(rows).toHaveLength(30);
        for (const { row, values, findings } of rows) {
          if (findings === undefined) expect(values[0]).toBe(`C-${row - 2}`);
        }
        expect(rows.filter(({ findings }) => findings !== undefined).length).toBeLessThanOrEqual(8);
      }),
      { numRuns: 200 },
    );
  });

  it('is refused if a row exceeds the size limit', async () => {
    const long = 'x'.repeat(1_100_000);
    const first = await refusalOf(`Code,"${long}"\nA1,Ada\n`);
    const later = await refusalOf(`Code,Name\nA1,"${long}"\n`);
    expect([first.kind, later.kind]).toEqual(['too-large', 'too-large']);
    expect(first.message).toMatch(/^Row 1 is longer than 1,048,576 bytes;/);
    expect(later.message).toMatch(/^Row 2 is longer than 1,048,576 bytes;/);
  });

  it('is read correctly for any quoted table and any delimiter', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'é', '0', '"', ',', ';', '\t', '|', '\n', ' ', '=', '日'),
      maxLength: 8,
    });
    const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.integer({ min: 1, max: 30 }),
        async (rows, delimiter, chunkBytes) => {
          const lines = [['One', 'Two', 'Three'], ...rows].map((cells) =>
            cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter),
          );
          const expected = rows.filter((cells) => cells.some((text) => text.trim() !== ''));
          fc.pre(expected.length > 0);
          expect(await valuesOf(lines.join('\n'), { delimiter, chunkBytes })).toEqual(expected);
        },
      ),
      { numRuns: 100 },
    );
  });
});
