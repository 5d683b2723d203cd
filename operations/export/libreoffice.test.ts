import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parser as saxParser } from 'sax';
import { csvOf } from '../../base/sheets/csv.js';
import { each, hostileTexts, sheetOf } from '../../base/sheets/sheet.test-kit.js';
import { asWritten } from '../../base/sheets/spreadsheet-safe.js';
import type { Cell, Sheet } from '../../base/sheets/sheet.js';
import { xlsxOf } from '../../base/sheets/xlsx.js';

const folder = mkdtempSync(join(tmpdir(), 'libreoffice-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A profile of its own, so that another LibreOffice on this machine does not matter. */
const soffice = (...args: readonly string[]) =>
  spawnSync('soffice', [`-env:UserInstallation=file://${folder}/profile`, '--headless', ...args], { encoding: 'utf8' });
const isInstalled = soffice('--version').status === 0;

interface OpenedCell {
  /** `float`, `string`, `date`, `boolean`; null: empty. */
  readonly type: string | null;
  /** Value of a number, date or flag; text of a text. */
  readonly value: string;
  readonly formula: string | undefined;
}

/** Opens a file as a person would, and returns the cells of its sheets by name. */
function opened(file: string, filter: readonly string[] = []): Map<string, OpenedCell[][]> {
  const { stderr } = soffice(...filter, '--convert-to', 'fods', '--outdir', folder, file);
  const sheets = new Map<string, OpenedCell[][]>();
  let rows: OpenedCell[][] = [];
  let cell: Record<string, string> | undefined;
  let lines: string[] = [];
  let isParagraph = false;
  const parser = saxParser(true);
  parser.onopentag = ({ name, attributes: found }) => {
    const attributes = found as Record<string, string>;
    if (name === 'table:table') sheets.set(attributes['table:name']!, (rows = []));
    if (name === 'table:table-row') rows.push([]);
    if (name === 'table:table-cell') [cell, lines] = [attributes, []];
    if (name === 'text:p') [isParagraph] = [true, lines.push('')];
    if (name === 'text:s' && isParagraph) lines.push(lines.pop()! + ' '.repeat(Number(attributes['text:c'] ?? 1)));
    if (name === 'text:tab' && isParagraph) lines.push(`${lines.pop()}\t`);
  };
  parser.ontext = (text) => {
    if (isParagraph) lines.push(lines.pop()! + text);
  };
  parser.onclosetag = (name) => {
    if (name === 'text:p') isParagraph = false;
    if (name !== 'table:table-cell' || cell === undefined) return;
    const value = cell['office:value'] ?? cell['office:date-value'] ?? cell['office:boolean-value'] ?? lines.join('\n');
    const type = cell['office:value-type'] ?? null;
    const repeated = Number(cell['table:number-columns-repeated'] ?? 1);
    const read = { type, value, formula: cell['table:formula'] };
    for (let n = 0; n < Math.min(repeated, 20); n += 1) rows.at(-1)?.push(read);
    cell = undefined;
  };
  const name = file.replace(/\.\w+$/, '.fods');
  try {
    parser.write(readFileSync(name, 'utf8')).close();
  } catch (error) {
    throw new Error(`LibreOffice did not open ${file}: ${stderr}`, { cause: error });
  }
  return sheets;
}

const columns = [
  { name: 'text', kind: 'text' },
  { name: 'number', kind: 'number' },
  { name: 'flag', kind: 'flag' },
  { name: 'at', kind: 'moment' },
  { name: 'day', kind: 'day' },
] as const;
const at = { atMs: Date.UTC(2026, 10, 21, 8, 30, 5) };
/** LibreOffice stores neither control characters nor a carriage return in its own format. */
const texts = hostileTexts.filter((text) => !/[\u0000-\u0008\r\u001a\ufffe\uffff]/.test(text));
const rows = texts.map((text, n): Cell[] => [text, n - 3.5, n % 2 === 0, at, { day: '2026-11-21' }]);

async function written(name: string, parts: AsyncIterable<string | Uint8Array>): Promise<string> {
  const file = join(folder, name);
  await pipeline(parts, createWriteStream(file));
  return file;
}

if (!isInstalled) {
  it.skip('LibreOffice is not installed (Debian: libreoffice-calc-nogui), so no export was opened in it', () =>
    undefined);
}

(isInstalled ? describe : describe.skip)('LibreOffice', () => {
  it('opens a workbook with the types of its cells, and no text as a formula', async () => {
    const many = sheetOf(columns, rows, { name: 'attendees' });
    const sheets = opened(await written('people.xlsx', xlsxOf(each(many, sheetOf(columns, [], { name: 'votes' })))));
    expect([...sheets.keys()]).toEqual(['attendees', 'votes']);
    const [header, ...cells] = sheets.get('attendees')!;
    expect(header!.map(({ value }) => value).slice(0, 5)).toEqual([
      'text',
      'number',
      'flag',
      'at (Europe/Berlin)',
      'day',
    ]);
    for (const [n, text] of texts.entries()) {
      const half = Buffer.from(text).toString('utf8');
      expect(cells[n]!.slice(0, 5)).toEqual([
        { type: 'string', value: half, formula: undefined },
        { type: 'float', value: String(n - 3.5), formula: undefined },
        // LibreOffice reads every flag of a workbook as one of these two functions, also those that Excel wrote.
        expect.objectContaining({ formula: n % 2 === 0 ? 'of:=TRUE()' : 'of:=FALSE()' }),
        { type: 'date', value: '2026-11-21T09:30:05', formula: undefined },
        { type: 'date', value: '2026-11-21', formula: undefined },
      ]);
    }
  });

  it('opens a CSV file with the types of its cells, and no text as a formula', async () => {
    const file = await written('people.csv', csvOf(sheetOf(columns, rows)));
    // commas, quotes, UTF-8, from the first line; quoted fields are texts, special numbers are recognized
    const [sheet] = opened(file, ['--infilter=CSV:44,34,76,1,,0,true,true']).values();
    for (const [n, text] of texts.entries()) {
      const [read, number, flag, moment, day] = sheet![n + 1]!;
      expect(read).toMatchObject({ type: 'string', formula: undefined });
      expect([read!.value, asWritten(read!.value)]).toContain(Buffer.from(text).toString('utf8'));
      expect([number, flag, moment, day]).toEqual([
        { type: 'float', value: String(n - 3.5), formula: undefined },
        expect.objectContaining({ type: 'boolean', value: String(n % 2 === 0) }),
        { type: 'date', value: '2026-11-21T09:30:05', formula: undefined },
        { type: 'date', value: '2026-11-21', formula: undefined },
      ]);
    }
  });

  it('opens a workbook of 100,000 rows', async () => {
    const long: Sheet = {
      name: 'votes',
      timezone: 'UTC',
      columns: columns.slice(0, 2),
      rows: (async function* () {
        for (let n = 0; n < 100_000; n += 500)
          yield Array.from({ length: 500 }, (_, index) => [`row ${n + index}`, n + index]);
      })(),
    };
    const file = await written('long.xlsx', xlsxOf(each(long)));
    soffice('--convert-to', 'csv', '--outdir', folder, file);
    const lines = readFileSync(join(folder, 'long.csv'), 'utf8').trim().split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([100_001, 'row 99999,99999']);
  });
});
