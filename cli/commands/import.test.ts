import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../command.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { type ImportOptions, importFile, uploadQueryOf, withImportOptions } from './import.js';
import { checkOf, countsOf, viewOf } from '../imports/import-views.test-kit.js';
import { type AnsweringApi, answeringApi } from './answering-api.test-kit.js';
import { actOnImport, importReport, listImports } from './imports.js';

/** The responses of a running pigeonpost by method and path, and the requests that it received. */
let answers: Record<string, string> = {};
let asked: string[] = [];
let api: AnsweringApi;

beforeEach(async () => {
  api = await answeringApi(({ method, url }) => {
    const path = `${method} ${url.split('?')[0]}`;
    asked.push(path);
    return answers[path] ?? '{}';
  });
  writeFileSync(join(api.folder, 'people.csv'), 'Name\nAda\n');
  const done = viewOf({ state: 'done', rows: 1, counts: countsOf({ created: 1 }) });
  asked = [];
  answers = {
    'POST /api/imports/check': JSON.stringify(checkOf({ generatedCodes: 1 })),
    'POST /api/imports/codes': '"attendeeCode","Name"\r\n"K7","Ada"\r\n',
    'POST /api/imports': JSON.stringify(done),
    'GET /api/imports/7': JSON.stringify(done),
    'GET /api/imports/7/report': '',
  };
});
afterEach(async () => await api.close());

function telling(): { context: Context; lines: string[] } {
  const lines: string[] = [];
  const put = (text: string) => void lines.push(text);
  const out = { line: put, note: put, draw: put, terminal: false } as unknown as Context['out'];
  return { context: { config: api.config, out }, lines };
}

function optionsOf(given: Partial<ImportOptions>): ImportOptions {
  const file = join(api.folder, 'people.csv');
  const flags = { generateCodes: false, force: false, dryRun: false, yes: true, wait: true, json: false };
  return { file, pigeonhole: '101', map: [], ...flags, ...given };
}

describe('pigeonpost import', () => {
  it('continues after a canary with the codes next to the file, and never overwrites them', async () => {
    const codes = join(api.folder, 'people.codes.csv');
    const { context, lines } = telling();
    expect(await importFile(context, optionsOf({ generateCodes: true, canary: 1 }))).toBe(ExitCode.Done);
    expect(lines).toContain(
      `1 code written to ${codes}: keep this file for invitations and badges. After the import, its report has the codes as well`,
    );
    expect(await importFile(context, optionsOf({ generateCodes: true }))).toBe(ExitCode.Done);
    asked = [];
    writeFileSync(codes, 'codes of another list');
    await expect(importFile(context, optionsOf({ generateCodes: true }))).rejects.toMatchObject({
      exitCode: ExitCode.WrongUse,
      message: expect.stringMatching(
        /people\.codes\.csv already exists with other codes: move it first, because pigeonpost does not replace it$/,
      ),
    });
    expect(asked).not.toContain('POST /api/imports');
    expect(readFileSync(codes, 'utf8')).toBe('codes of another list');
    expect(readdirSync(api.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it.each(['report', 'problems'] as const)('sends no request if its --%s cannot be written', async (option) => {
    const { context } = telling();
    const none = join(api.folder, 'none', 'out.csv');
    const inPlaceOf = (path: string) => importFile(context, optionsOf({ [option]: path }));
    await expect(inPlaceOf(none)).rejects.toMatchObject({ exitCode: ExitCode.WrongUse });
    await expect(inPlaceOf(api.folder)).rejects.toMatchObject({ exitCode: ExitCode.WrongUse });
    expect(asked).toEqual([]);
  });

  it('names the options for a list without codes, and for an event that has ended', async () => {
    const { context, lines } = telling();
    const { target } = checkOf();
    answers['POST /api/imports/check'] = JSON.stringify(checkOf({ target: { ...target, status: 'ended' } }));
    await importFile(context, optionsOf({ dryRun: true }));
    expect(lines).toContain('this event has ended: the import requires --force');
    lines.length = 0;
    await importFile(context, optionsOf({ dryRun: true, force: true }));
    expect(lines.join()).not.toContain('--force');

    const message = 'people.csv: pigeonpost did not recognise a column with the attendee code; rename it.';
    expect(() => withImportOptions(new CommandError(ExitCode.WrongUse, message))).toThrow(
      'rename it. On the command line: --map "<column>=attendeeCode", or --generate-codes if the list has no codes',
    );
  });

  it('prints its result even if its report can no longer be written', async () => {
    const { context, lines } = telling();
    const report = join(api.folder, 'report.csv');
    // left by another process with the same number
    writeFileSync(`${report}.${process.pid}.tmp`, '');
    await expect(importFile(context, optionsOf({ report }))).rejects.toMatchObject({ exitCode: ExitCode.Failed });
    expect(lines.join('\n')).toMatch(/import 7 into acme\/101: done, 1 row\n *1 created/);
    expect(lines.join('\n')).not.toContain('the result of each row is in');
  });
});

describe('an import of which no row would be sent', () => {
  const nothing = { send: 0, existing: 0, conflict: 0, rejected: 0, elsewhere: 0, invalid: 0 };
  const problem = { row: 2, column: 'Ticket', code: 'missing-code', message: 'The attendee code is missing' };
  const checked = (counts: object, problems: readonly object[] = []): string => {
    const { estimate } = checkOf();
    return JSON.stringify({
      ...checkOf({ rows: 2, estimate: { ...estimate, requests: 0 } }),
      counts: { ...nothing, ...counts },
      problems,
    });
  };

  it.each([
    ['all rows are wrong', { invalid: 2 }, ExitCode.DoneWithRejects],
    ['all rows are known', { existing: 2 }, ExitCode.Done],
    ['rows are known and wrong', { existing: 1, invalid: 1 }, ExitCode.DoneWithRejects],
    ['rows were refused before', { rejected: 2 }, ExitCode.DoneWithRejects],
    ['known rows have other data', { conflict: 2 }, ExitCode.DoneWithRejects],
    ['the file has no rows', {}, ExitCode.Done],
  ])('starts nothing if %s, with or without --yes and --no-wait', async (_, counts, code) => {
    answers['POST /api/imports/check'] = checked(counts, [problem]);
    for (const given of [{}, { yes: false }, { wait: false }, { json: true }, { generateCodes: true }]) {
      const { context, lines } = telling();
      expect(await importFile(context, optionsOf(given))).toBe(code);
      expect(lines.at(-1)).toContain('no row of this file would be sent, so no import was started');
    }
    expect(asked).not.toContain('POST /api/imports');
    expect(asked).not.toContain('POST /api/imports/codes');
  });

  it('prints one JSON document with its counts and problems', async () => {
    answers['POST /api/imports/check'] = checked({ existing: 1, invalid: 1 }, [problem]);
    const { context, lines } = telling();
    await importFile(context, optionsOf({ json: true }));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        import: null,
        pigeonhole: 'acme/101',
        state: 'done',
        reason: 'no row of this file would be sent, so no import was started',
        rows: 2,
        counts: countsOf({ existing: 1, invalid: 1 }),
        problems: [problem],
      },
    ]);
  });

  it('starts if it has to wait for the rows of another import', async () => {
    answers['POST /api/imports/check'] = checked({ elsewhere: 2 });
    await importFile(telling().context, optionsOf({}));
    expect(asked).toContain('POST /api/imports');
  });
});

describe('the commands for an import', () => {
  it('write a report that spreadsheets recognise as UTF-8', async () => {
    answers['GET /api/imports/7/report'] = '\ufeff"Name"\r\n"J\u00fcrgen"\r\n';
    const { context, lines } = telling();
    await importReport(context, '7', { json: false });
    expect(lines.join('')).toBe('\ufeff"Name"\r\n"J\u00fcrgen"\r\n');
  });

  it('mark a canary in the list', async () => {
    answers['GET /api/imports'] = JSON.stringify({ items: [viewOf({ state: 'done', canary: 1 })], next: null });
    const { context, lines } = telling();
    await listImports(context, { limit: 100, json: false });
    expect(lines).toEqual([expect.stringMatching(/^7 +done \(canary\) /)]);
  });

  it('mark a file that cannot be used in the list', async () => {
    const view = viewOf({ state: 'cancelled', reason: 'The file is empty; export it again.' });
    answers['GET /api/imports'] = JSON.stringify({ items: [view], next: null });
    const { context, lines } = telling();
    await listImports(context, { limit: 100, json: false });
    expect(lines).toEqual([expect.stringMatching(/^7 +unusable file /)]);
  });

  it('list an import with rows to check in the words of the page', async () => {
    const view = viewOf({ state: 'done', counts: countsOf({ created: 2, rejected: 2, invalid: 1 }) });
    answers['GET /api/imports'] = JSON.stringify({ items: [view], next: null });
    const { context, lines } = telling();
    await listImports(context, { limit: 100, json: false });
    expect(lines).toEqual([expect.stringMatching(/^7 +done, 3 to check +acme\/101 /)]);
  });

  it('list file names without control characters', async () => {
    answers['GET /api/imports'] = JSON.stringify({ items: [viewOf({ file: 'a\u001b[2Jb\nc.csv' })], next: null });
    const { context, lines } = telling();
    await listImports(context, { limit: 100, json: false });
    expect(lines).toEqual([expect.stringContaining('a [2Jb c.csv')]);
  });

  it('say if the list is longer than requested', async () => {
    answers['GET /api/imports'] = JSON.stringify({ items: [viewOf({})], next: 'more' });
    const { context, lines } = telling();
    await listImports(context, { limit: 1, json: false });
    expect(lines).toEqual([expect.stringContaining('acme/101'), 'there are more: raise --limit to show them']);
  });

  it('ask no confirmation to cancel an import that has ended', async () => {
    const { context } = telling();
    await actOnImport(context, { verb: 'cancel', id: '7', yes: false, json: false }).catch(() => undefined);
    expect(asked).toContain('POST /api/imports/7/actions');
  });
});

const importOf = (given: Partial<ImportOptions> = {}): ImportOptions => ({
  file: 'lists/people.csv',
  pigeonhole: '101',
  map: [],
  generateCodes: false,
  force: false,
  dryRun: false,
  yes: false,
  wait: true,
  json: false,
  ...given,
});

describe('the query of an upload', () => {
  it('contains only the given options, and the file name without its folder', () => {
    expect(uploadQueryOf(importOf(), undefined)).toEqual({ pigeonhole: '101', name: 'people.csv' });
  });

  it('contains each option as the API names it', () => {
    const options = importOf({
      pigeonhole: 'pigeonhole:acme/101',
      map: ['A=B=Name', 'tickets'],
      saveMap: 'next',
      delimiter: 'tab',
      canary: 1,
      generateCodes: true,
      force: true,
    });
    expect(uploadQueryOf(options, 'ada')).toEqual({
      pigeonhole: 'acme/101',
      name: 'people.csv',
      map: '["A=B=Name","tickets"]',
      saveMapping: 'next',
      delimiter: '\t',
      canary: '1',
      generateCodes: 'true',
      force: 'true',
      by: 'ada',
    });
  });

  it.each([
    [{ pigeonhole: undefined }, 'name the pigeonhole to import into: add --pigeonhole ID'],
    [{ pigeonhole: 'summit' }, '--pigeonhole is "summit": give an ID, or WORKSPACE/ID'],
    [{ pigeonhole: '0' }, '--pigeonhole is "0": give an ID, or WORKSPACE/ID'],
    [{ saveMap: 'a b' }, '--save-map is "a b": use letters, digits, ".", "_" and "-", at most 63 of them'],
  ])('is refused with a message for %j', (given, message) => {
    expect(() => uploadQueryOf(importOf(given), undefined)).toThrow(message);
  });
});
