import fc from 'fast-check';
import { csvOf } from './csv.js';
import { asWritten } from './spreadsheet-safe.js';
import { endlessSheet, hostileTexts, sheetOf } from './sheet.test-kit.js';
import type { Cell } from './sheet.js';

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return Buffer.from(text).toString('utf8');
}

/** Parses RFC 4180. A quoted cell is `{ text }`. */
function parsed(csv: string): (string | { text: string })[][] {
  const rows: (string | { text: string })[][] = [];
  let row: (string | { text: string })[] = [];
  for (const [, quoted, plain, end] of csv.slice(1).matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy)) {
    row.push(quoted === undefined ? plain! : { text: quoted.replaceAll('""', '"') });
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const one = [{ name: 'text', kind: 'text' }] as const;
const written = async (texts: readonly Cell[]) =>
  parsed(
    await textOf(
      csvOf(
        sheetOf(
          one,
          texts.map((text) => [text]),
        ),
      ),
    ),
  )
    .slice(1)
    .map(([cell]) => cell);

describe('a CSV file', () => {
  it('starts with a byte order mark and a header that names the time zone', async () => {
    const columns = [
      { name: 'code', kind: 'text' },
      { name: 'votes', kind: 'number' },
      { name: 'named', kind: 'flag' },
      { name: 'createdAt', kind: 'moment' },
      { name: 'startDate', kind: 'day' },
      { name: 'id', kind: 'number' },
    ] as const;
    const rows = [
      ['A1', -7, true, { atMs: Date.UTC(2026, 10, 21, 8, 30, 5, 999) }, { day: '2026-11-21' }, 1e21],
      [null, 0.5, false, null],
    ];
    expect(await textOf(csvOf(sheetOf(columns, rows)))).toBe(
      '\ufeff"code","votes","named","createdAt (Europe/Berlin)","startDate","id"\r\n' +
        '"A1",-7,TRUE,2026-11-21 09:30:05,2026-11-21,"\'1e+21"\r\n' +
        ',0.5,FALSE,,,\r\n',
    );
  });

  it('keeps every hostile text as text: no cell starts a formula, and none ends the file', async () => {
    for (const [index, cell] of (await written(hostileTexts)).entries()) {
      const { text } = cell as { text: string };
      expect(text).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
      expect(text).not.toMatch(/[\u0000\u001a]/);
      const shown = hostileTexts[index]!.replaceAll(/[\u0000\u0001\u001a]/g, '\ufffd');
      // An apostrophe that the text has itself may be removed as well.
      expect([text, asWritten(text)]).toContain(Buffer.from(shown).toString('utf8'));
    }
  });

  it('never lets a text become another cell, a number or a formula', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc
        .array(fc.constantFrom('"', ',', '\r\n', '=', '+', '-', '@', '\t', "'", '0', '1e5', ';'))
        .map((all) => `x${all.join('')}`),
      fc.array(fc.constantFrom('"', ',', '\r', '\n', '=', "'", '7'), { minLength: 1 }).map((all) => all.join('')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), async (texts) => {
        const cells = await written(texts);
        expect(cells).toHaveLength(texts.length);
        for (const cell of cells) expect((cell as { text: string }).text).not.toMatch(/^[=+\-@\t\r\n]/);
      }),
      { numRuns: 200 },
    );
  });

  it('shows each moment at the offset of its own instant and zone, on both sides of a change', async () => {
    const change = Date.UTC(2026, 9, 25, 1); // the clock in Berlin goes from 3:00 back to 2:00
    const at = (name: string, minutes: readonly number[]) =>
      textOf(
        csvOf(
          sheetOf(
            [{ name: 'at', kind: 'moment' }],
            minutes.map((each) => [{ atMs: change + each * 60_000 }]),
            { timezone: name },
          ),
        ),
      );
    const shown = async (name: string) =>
      (await at(name, [-1, 0, -1, 15]))
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.slice(11));
    expect(await shown('Europe/Berlin')).toEqual(['02:59:00', '02:00:00', '02:59:00', '02:15:00']);
    expect(await shown('UTC')).toEqual(['00:59:00', '01:00:00', '00:59:00', '01:15:00']);
  });

  it('reads the next rows only when its reader wants more', async () => {
    const sheet = endlessSheet(['x']);
    const parts = csvOf(sheet);
    await parts.next(); // the header
    for (let n = 1; n <= 5; n += 1) {
      await parts.next();
      expect(sheet.read()).toBe(n * 100);
    }
    await parts.return();
    expect(sheet.isClosed()).toBe(true);
  });
});
