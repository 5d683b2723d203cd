import { writeXlsx, writeZip } from '../../bench/registrant-files/write-xlsx.js';
import { openInThread, type ReadingBounds } from './open-in-thread.js';
import { inChunks, refusalOf, valuesOf } from './open-registrant-file.test-kit.js';
import { RegistrantFileError } from './registrant-file.js';

const bounds: ReadingBounds = { heapMegabytes: 64, stepMs: 60_000 };

async function readThere(content: Uint8Array | string, within: ReadingBounds = bounds): Promise<string[][]> {
  const file = await openInThread(inChunks(content), { name: 'people' }, within);
  const rows: string[][] = [];
  for await (const portion of file.rows) rows.push(...portion.map(({ values }) => [...values]));
  return rows;
}

async function refusalThere(content: Uint8Array | string, within?: ReadingBounds): Promise<RegistrantFileError> {
  const error: unknown = await readThere(content, within).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(RegistrantFileError);
  return error as RegistrantFileError;
}

const relation = (id: number, type: string, target: string): string =>
  `<Relationship Id="r${id}" Type="http://schemas.example/${type}" Target="${target}"/>`;
const relations = (inner: string): string => `<Relationships>${inner}</Relationships>`;
const rootRelations = relations(relation(1, 'officeDocument', 'xl/workbook.xml'));
const sheetData = '<sheetData><row r="1"><c t="inlineStr"><is><t>code</t></is></c></row></sheetData>';

/** Returns a workbook with these parts, which may be ones that no spreadsheet program writes. */
function workbookOf(parts: Readonly<Record<string, string | Buffer>>): Buffer {
  return writeZip({
    '_rels/.rels': rootRelations,
    'xl/workbook.xml': '<workbook><sheets><sheet name="People" id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations(relation(1, 'worksheet', 'sheet1.xml')),
    'xl/sheet1.xml': `<worksheet>${sheetData}</worksheet>`,
    ...parts,
  });
}

describe('a file that is read in a thread', () => {
  it('has the same rows and facts as a file read in the main thread, in each format', async () => {
    const csv = 'code;name\nA1;Zoë\nA2;Ünal\n';
    const xlsx = writeXlsx({
      sheets: [
        {
          name: 'People',
          rows: [
            ['code', 'name'],
            ['A1', 'Zoë'],
          ],
        },
      ],
    });
    const json = JSON.stringify([{ code: 'A1', name: 'Zoë' }]);
    for (const content of [csv, xlsx, json]) expect(await readThere(content)).toEqual(await valuesOf(content));
    const file = await openInThread(inChunks(csv), { name: 'people.csv' }, bounds);
    expect(file).toMatchObject({ format: 'csv', delimiter: ';', columns: ['code', 'name'], sheet: null });
    await file.close();
    await file.close();
  });

  it('is refused with the same message as a file read in the main thread', async () => {
    for (const content of ['', 'code\n', '"never closed', '%PDF-1.7 and so on']) {
      expect((await refusalThere(content)).message).toBe((await refusalOf(content)).message);
    }
  });

  it('is refused if it needs too much memory or time, while the process continues', async () => {
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 5);
    const many = writeXlsx({
      sheets: [
        {
          name: 'P',
          rows: (function* rows() {
            yield ['code'];
            for (let row = 0; row < 60_000; row += 1) yield [`text ${row} ${'x'.repeat(20)}`];
          })(),
        },
      ],
    });
    const slow = await refusalThere(many, { heapMegabytes: 64, stepMs: 1 });
    expect([slow.kind, slow.message]).toEqual(['too-large', expect.stringContaining('takes longer than')]);
    const hungry = await refusalThere(`[${'{"code":"a"},'.repeat(400_000)}{"code":"b"}]`, {
      heapMegabytes: 6,
      stepMs: 60_000,
    });
    expect([hungry.kind, hungry.message]).toEqual(['too-large', expect.stringContaining('more memory')]);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(3);
  });

  it('fails with the error of its source', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('code\nA1\n');
      throw new Error('the upload broke off');
    }
    await expect(openInThread(broken(), { name: 'people.csv' }, bounds)).rejects.toThrow('the upload broke off');
  });
});

describe('a file that is made to exhaust its reader', () => {
  it.each<[string, () => Readonly<Record<string, string | Buffer>>]>([
    [
      'a comment of 160 MB',
      () => ({
        'xl/sheet1.xml': Buffer.concat([
          Buffer.from('<worksheet><!--'),
          Buffer.alloc(160 * 2 ** 20, 'a'),
          Buffer.from(`-->${sheetData}</worksheet>`),
        ]),
      }),
    ],
    [
      'a text of 40 MB',
      () => ({
        'xl/sheet1.xml': `<worksheet><sheetData><row r="1"><c><v>${'1'.repeat(40 * 2 ** 20)}</v></c></row></sheetData></worksheet>`,
      }),
    ],
    [
      'an attribute of 40 MB',
      () => ({ 'xl/sheet1.xml': `<worksheet x="${'a'.repeat(40 * 2 ** 20)}">${sheetData}</worksheet>` }),
    ],
    ['a million nested elements', () => ({ 'xl/sheet1.xml': `<worksheet>${'<a>'.repeat(1_000_000)}` })],
    [
      '200,000 relations',
      () => ({
        'xl/_rels/workbook.xml.rels': relations(
          Array.from({ length: 200_000 }, (_, id) => relation(id, 'worksheet', 'sheet1.xml')).join(''),
        ),
      }),
    ],
    [
      '200,000 sheets',
      () => ({
        'xl/workbook.xml': `<workbook><sheets>${'<sheet name="P" id="r1"/>'.repeat(200_000)}</sheets></workbook>`,
      }),
    ],
    [
      'a million number formats',
      () => ({
        'xl/_rels/workbook.xml.rels': relations(
          relation(1, 'worksheet', 'sheet1.xml') + relation(2, 'styles', 'styles.xml'),
        ),
        'xl/styles.xml': `<styleSheet><cellXfs>${'<xf numFmtId="0"/>'.repeat(1_000_000)}</cellXfs></styleSheet>`,
      }),
    ],
  ])('is refused as too large: %s', async (_what, parts) => {
    const file = workbookOf(parts());
    expect(file.length).toBeLessThan(2 * 2 ** 20);
    const refusal = await refusalOf(file);
    expect(refusal.kind).toBe('too-large');
    expect((await refusalThere(file)).message).toBe(refusal.message);
  });

  it('is read in 64 MB of memory although each row has a cell in the last column', async () => {
    const rows = Array.from(
      { length: 2_000 },
      (_, row) => `<row r="${row + 2}"><c r="A${row + 2}"><v>7</v></c><c r="XFD${row + 2}"><v>1</v></c></row>`,
    );
    const file = workbookOf({
      'xl/sheet1.xml': `<worksheet>${sheetData.replace('</sheetData>', `${rows.join('')}</sheetData>`)}</worksheet>`,
    });
    expect(await readThere(file)).toHaveLength(2_000);
  });

  it('is read in 64 MB of memory although each CSV row has 100,000 empty cells', async () => {
    const file = await openInThread(
      inChunks(`a,b\n${`${','.repeat(100_000)}x\n`.repeat(40)}`),
      { name: 'p.csv' },
      bounds,
    );
    let rows = 0;
    for await (const portion of file.rows) rows += portion.length;
    expect(rows).toBe(40);
  });
});
