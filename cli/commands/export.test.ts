import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram } from '../run-command-line.js';
import { answeringApi, type AnsweringApi, type AskedOfApi } from './answering-api.test-kit.js';
import { withProgress } from '../progress.js';

let api: AnsweringApi;
let asked: AskedOfApi[] = [];
let folder: string;
const before = process.cwd();
beforeEach(async () => {
  asked = [];
  api = await answeringApi((request) => {
    asked.push(request);
    return 'the file';
  });
  folder = mkdtempSync(join(tmpdir(), 'export-'));
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
  await api.close();
});

async function run(
  ...words: readonly string[]
): Promise<{ code: number | undefined; lines: string[]; notes: string[] }> {
  const lines: string[] = [];
  const notes: string[] = [];
  let code: number | undefined;
  const out = {
    line: (text: string) => void lines.push(text),
    note: (text: string) => void notes.push(text),
    draw: () => undefined,
    terminal: false,
    colours: false,
    columns: 80,
    rows: 24,
  };
  await createProgram(out, (done) => (code = done)).parseAsync(['--config', api.config, 'export', ...words], {
    from: 'user',
  });
  return { code, lines, notes };
}

describe('pigeonpost export', () => {
  it('writes all tables into a workbook named after the pigeonhole', async () => {
    const { code, lines, notes } = await run('101');
    expect(code).toBe(0);
    expect(readFileSync('acme-101.xlsx', 'utf8')).toBe('the file');
    expect(asked.map(({ url }) => url)).toEqual(['/api/exports/acme/101?sheets=all&format=xlsx']);
    expect(lines).toEqual(['acme-101.xlsx has all tables of acme/101 (8 B)']);
    expect(notes).toEqual(['without the data of items and imported rows: add --personal (role privacy or admin)']);
  });

  it('writes the named tables, whose names may be in the singular, in the format of the file', async () => {
    await run('acme/101', '--list', 'attendee', '--out', 'people.csv', '--personal');
    await run('101', '--list', 'votes', '--list', 'dead-letters', '--out', 'both.xlsx');
    await run('101', '--list', 'votes', '--format', 'csv');
    expect(readdirSync('.').toSorted()).toEqual(['acme-101-votes.csv', 'both.xlsx', 'people.csv']);
    expect(asked.map(({ url }) => url)).toEqual([
      '/api/exports/acme/101?sheets=attendees&format=csv&personal=1',
      '/api/exports/acme/101?sheets=votes%2Cdead-letters&format=xlsx',
      '/api/exports/acme/101?sheets=votes&format=csv',
    ]);
  });

  it('writes the dead letters of a sink, in all pigeonholes or in one', async () => {
    const { lines, notes } = await run('--sink', 'crm');
    expect([lines, notes]).toEqual([['crm-dead-letters.xlsx has the dead letters of crm (8 B)'], []]);
    await run('101', '--sink', 'sink:crm', '--list', 'dead-letters', '--format', 'csv');
    expect(readdirSync('.').toSorted()).toEqual(['acme-101-crm-dead-letters.csv', 'crm-dead-letters.xlsx']);
    expect(asked.map(({ url }) => url)).toEqual([
      '/api/dead-letters/file?sink=crm&format=xlsx',
      '/api/dead-letters/file?sink=crm&format=csv&pigeonhole=acme%2F101',
    ]);
  });

  it('never replaces a file without --force, and asks for nothing then', async () => {
    writeFileSync('acme-101.xlsx', 'mine');
    await expect(run('101')).rejects.toThrow('acme-101.xlsx already exists: choose another path, or add --force');
    expect(asked).toEqual([]);
    expect(readFileSync('acme-101.xlsx', 'utf8')).toBe('mine');
    await run('101', '--force');
    expect(readFileSync('acme-101.xlsx', 'utf8')).toBe('the file');
  });

  it.each([
    [['101', '--format', 'csv'], 'a CSV file holds one table: name one with --list, or add --format xlsx'],
    [['101', '--format', 'ods'], '--format is csv or xlsx'],
    [[], 'name a pigeonhole, such as 101, or a sink with --sink'],
    [['--sink', 'crm', '--list', 'votes'], '--sink exports the dead letters of a sink: leave out --list'],
    [['101', '--list', 'atendees'], /did you mean attendees|"atendees"/],
  ])('refuses what has no meaning: %j', async (words, message) => {
    await expect(run(...words)).rejects.toThrow(message);
    expect([asked, readdirSync('.')]).toEqual([[], []]);
  });
});

describe('an export that does not end', () => {
  it('leaves no file', async () => {
    const { writeWholeFile } = await import('../files.js');
    const parts = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      await Promise.reject(new Error('the connection broke'));
    };
    await expect(writeWholeFile('half.xlsx', parts(), { replace: false })).rejects.toThrow();
    expect(readdirSync('.')).toEqual([]);
  });

  it('does not replace a file that appeared meanwhile', async () => {
    const { writeWholeFile } = await import('../files.js');
    const parts = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('mine');
      writeFileSync('new.csv', 'of another');
    };
    await expect(writeWholeFile('new.csv', parts(), { replace: false })).rejects.toThrow('already exists');
    expect([readFileSync('new.csv', 'utf8'), readdirSync('.')]).toEqual(['of another', ['new.csv']]);
  });
});

describe('the progress of an export', () => {
  it('is removed at the end, and not shown without a terminal', async () => {
    const counted = {
      bytes: 0,
      async *[Symbol.asyncIterator]() {
        yield Buffer.from('x');
      },
    };
    for (const isTTY of [true, false]) {
      const shown: string[] = [];
      const screen = { isTTY, write: (text: string) => shown.push(text) > 0 };
      for await (const part of withProgress(counted, 'a.csv', screen)) expect(String(part)).toBe('x');
      expect(shown).toEqual(isTTY ? ['\r\u001b[2K'] : []);
    }
    expect(existsSync('a.csv')).toBe(false);
  });
});
