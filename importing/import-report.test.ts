import fc from 'fast-check';
import { isSendable } from './files/checked-row.js';
import { codesCsv, reportCsv } from './import-report.js';
import { guessMapping } from './files/column-mapping.js';
import { openRegistrantFile } from './files/open-registrant-file.js';
import { inChunks } from './files/open-registrant-file.test-kit.js';
import type { ReportRow } from './import-report.js';
import { RowCheck } from './files/row-check.js';
import { asWritten, spreadsheetSafe } from '../base/sheets/spreadsheet-safe.js';

async function* onePortion<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  yield rows;
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

function reportRow(row: number, profile: Record<string, string>, more: Partial<ReportRow> = {}): ReportRow {
  return { row, profile, outcome: 'created', field: null, message: null, requestId: null, ...more };
}

/** Reads and checks a file as an import does. */
async function imported(text: string) {
  const file = await openRegistrantFile(inChunks(text), { name: 'report.csv' });
  const check = new RowCheck({ mapping: guessMapping(file.columns, []) });
  const rows = [];
  for await (const portion of file.rows) rows.push(...check.check(portion));
  return rows;
}

describe('the report as CSV', () => {
  it('lists the outcome of each row next to its fields', async () => {
    const rows = [
      reportRow(2, { attendeeCode: 'A1', Name: 'Ada' }),
      reportRow(
        5,
        { attendeeCode: '', Name: 'B "b", B' },
        { outcome: 'rejected', field: 'attendeeCode', message: 'is empty', requestId: 'req-1' },
      ),
    ];
    expect(await textOf(reportCsv(onePortion(rows), ['attendeeCode', 'Name']))).toBe(
      '\ufeff"Import row","Import outcome","Import field","Import message","Import request id","attendeeCode","Name"\r\n' +
        '"2","created","","","","A1","Ada"\r\n' +
        '"5","rejected","attendeeCode","is empty","req-1","","B ""b"", B"\r\n',
    );
  });

  it('has no cell that a spreadsheet would execute, regardless of the source of the text', async () => {
    const evil = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\n=x', '＝x', "'=x"];
    const rows = evil.map((text) =>
      reportRow(2, { attendeeCode: text, [text]: text }, { message: text, field: text, requestId: text }),
    );
    const text = await textOf(reportCsv(onePortion(rows), evil));
    const cells = [...text.slice(1).matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell]) => cell!);
    expect(cells.length).toBeGreaterThan(90);
    expect(cells.filter((cell) => /^[=+\-@\t\r\n＝＋－＠]/.test(cell))).toEqual([]);
  });

  it('can be imported unchanged, with the same resulting profiles', async () => {
    const value = fc
      .string({
        unit: fc.constantFrom('a', 'Z', '0', '1', '=', '+', '-', '@', "'", '"', ',', ';', '\n', 'é', '/', 'E', ' '),
        maxLength: 8,
      })
      .map((text) => asWritten(text.trim()));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ Name: value, Note: value }), { minLength: 1, maxLength: 5 }),
        async (people) => {
          const profiles = people.map(({ Name, Note }, index) => ({
            attendeeCode: `0${index}`,
            Name: `n${Name}`,
            Note: asWritten(Note),
          }));
          const text = await textOf(
            reportCsv(onePortion(profiles.map((profile, index) => reportRow(index + 2, profile))), ['Name', 'Note']),
          );
          const again = await imported(text);
          expect(again.map((row) => isSendable(row) && row.profile)).toEqual(profiles);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the file with generated codes', () => {
  it('can be imported in place of the file without codes', async () => {
    const rows = [{ row: 2, profile: { attendeeCode: '00123', Name: '=Ada' } }];
    const text = await textOf(codesCsv(onePortion(rows), ['Name']));
    expect(text).toBe('\ufeff"Import row","attendeeCode","Name"\r\n"2","\'00123","\'=Ada"\r\n');
    expect((await imported(text)).map((row) => isSendable(row) && row.profile)).toEqual([rows[0]!.profile]);
  });
});

describe('a cell for spreadsheets', () => {
  it.each([
    '=1',
    '+1',
    '-1',
    '@a',
    '00123',
    '1E5',
    '1.5e3',
    '123456789012',
    '1-2',
    '3/4',
    '2026-11-21',
    '12.5',
    'Mar 5',
    '5-MAY',
    '12MAR',
    '9:30',
  ])('is protected if a spreadsheet would execute or change it: %s', (text) => {
    expect(spreadsheetSafe(text)).toBe(`'${text}`);
  });

  it.each([
    'A1',
    '123',
    'VIP-001',
    'REG 2026',
    'Ada',
    "'t Hooft",
    "O'Neil",
    '',
    ' 00',
    '12ABC',
    'a=b',
    'Marie',
    'ada@example.com',
  ])('is left unchanged otherwise: %j', (text) => {
    expect(spreadsheetSafe(text)).toBe(text);
  });

  it('can be restored to any original text', () => {
    const unit = fc.constantFrom(
      "'",
      '=',
      '+',
      '-',
      '0',
      '1',
      'e',
      '@',
      '.',
      ':',
      '/',
      'a',
      '\t',
      '\n',
      '＝',
      'M',
      'r',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), (text) => {
        expect(asWritten(spreadsheetSafe(text))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });
});
