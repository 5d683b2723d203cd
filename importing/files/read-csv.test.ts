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

  it('is refused with the position of a quotation mark that is never closed, without quoting the cell', async () => {
    const refusal = await refusalOf('Code,Name\nA1,Ada\nA2,"Secret Person\nA3,Cy\n');
    expect(refusal.kind).toBe('damaged');
    expect(refusal.message).toBe('A quotation mark that opens after row 2 is never closed; close or remove it.');
    expect(JSON.stringify(refusal, Object.getOwnPropertyNames(refusal))).not.toContain('Secret');
  });

  it('is refused if a row exceeds the size limit', async () => {
    const long = 'x'.repeat(1_100_000);
    const first = await refusalOf(`Code,"${long}"\nA1,Ada\n`);
    const later = await refusalOf(`Code,Name\nA1,"${long}"\n`);
    expect([first.kind, later.kind]).toEqual(['too-large', 'too-large']);
    expect(first.message).toMatch(/^The first row is longer than 1,048,576 bytes;/);
    expect(later.message).toMatch(/^A row after row 1 is longer than 1,048,576 bytes;/);
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
