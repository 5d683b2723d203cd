import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTestPort } from '../free-port.js';
import { type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { until } from '../until.js';

/** A `start`, and a person who imports a list while it runs. */
const env = { SERVICE_KEY: 'sandbox-key' };
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-import-'));
const rows = 6000;
let sandbox: Program;
let main: Program;
let baseUrl: string;

beforeAll(async () => {
  sandbox = startProgram('sandbox/main.js', ['--attendees', '20', '--seed', '9', '--frozen'], { cwd: folder });
  baseUrl = (await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/))[0];
  mkdirSync(join(folder, 'in'));
  writeYaml(folder, [
    `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    'syncs: { all: { workspace: acme, every: { live: 5s }, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive } }',
    'imports: [{ workspace: acme, pigeonhole: 103, folder: ./in }]',
    `server: { port: ${await freeTestPort()} }`,
  ]);
  const lines = Array.from(
    { length: rows },
    (_, n) => `${String(n).padStart(6, '0')};Guest ${n};guest${n}@example.com`,
  );
  writeFileSync(join(folder, 'people.csv'), ['Ticket;Full name;E-mail', ...lines, ';Nobody;'].join('\r\n'));
  main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
  await untilOutput(main, /ready/);
});
afterAll(async () => {
  await endAll([main]);
  await endAll([sandbox]);
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

async function run(...args: string[]): Promise<{ code: number | null; out: string; errors: string }> {
  const program = startProgram('cli/main.js', args, { cwd: folder, env });
  const code = await program.exited;
  return { code, out: program.output(), errors: program.errors() };
}

async function control(path: string, method = 'GET', body?: object): Promise<string> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return await (await fetch(`${baseUrl}/_control/${path}`, { method, ...sent })).text();
}

async function registered(pigeonhole: number): Promise<number> {
  return (await control(`truth/registrants?pigeonhole=${pigeonhole}`)).split('\n').filter(Boolean).length;
}

const guessing = ['import', 'people.csv', '--pigeonhole', '101'] as const;
const importing = [...guessing, '--map', 'Ticket=attendeeCode'] as const;

describe('a person who imports a list', () => {
  let before: number;
  beforeAll(async () => {
    before = await registered(101);
  });

  it('sees a preview, and nothing is sent', async () => {
    const { code, out, errors } = await run(...importing, '--dry-run');
    expect(errors).toBe('');
    expect(out).toMatch(/^file {4}people\.csv, CSV, semicolons, utf-8, 6,001 rows\nto {6}acme\/101 ACME Summit 101, /);
    expect(out).toMatch(/Ticket +attendeeCode +000000/);
    expect(out).toMatch(
      /6,000 to send[^]*people\.csv, row 6,002, Ticket: The attendee code is missing[^]*6 requests of up to 1,000/,
    );
    expect(code).toBe(5);
    expect(await run(...importing)).toMatchObject({ code: 2, errors: expect.stringContaining('--yes') });
    expect(await registered(101)).toBe(before);
  });

  it('has to name the column of the codes if that is a guess, before anything is sent', async () => {
    const dry = await run(...guessing, '--dry-run');
    expect(dry.out).toMatch(/Ticket {5}attendeeCode \(guessed\) {2}000000/);
    const sentence =
      'people.csv: The column of the attendee codes is a guess: "Ticket" (6,000 different values in 6,000 rows); if it is right, confirm it with --map "Ticket=attendeeCode".';
    expect(await run(...guessing, '--yes')).toMatchObject({ code: 2, errors: expect.stringContaining(sentence) });
    expect([dry.code, await registered(101)]).toEqual([2, before]);
  });

  it('can leave with Ctrl-C while the import continues, follow it again, and get the report', async () => {
    await control('faults', 'POST', { kind: 'text503', path: 'bulk' }); // so that it is still in progress below
    const first = startProgram('cli/main.js', [...importing, '--yes'], { cwd: folder, env });
    await until('the import has started', () => /import 1 has started/.test(first.errors()));
    first.kill('SIGINT');
    expect(await first.exited).toBe(1);
    expect(first.errors()).toContain('import 1 continues; follow it again with: pigeonpost import follow 1');
    await control('faults', 'DELETE');

    const followed = await run('import', 'follow', '1', '--report', 'report.csv');
    expect(followed.out).toMatch(/^import 1 into acme\/101: done, 6,001 rows\n {2}6,000 created\n {6}1 not sent/);
    expect(followed.code).toBe(5);
    expect(readFileSync(join(folder, 'report.csv'), 'utf8').split('\r\n')).toHaveLength(rows + 3);
    expect(await registered(101)).toBe(before + rows);
  });

  it('sends nothing if the file is imported again, as the JSON output shows', async () => {
    const { code, out } = await run(...importing, '--yes', '--json');
    expect(JSON.parse(out.trimEnd().split('\n').at(-1)!)).toEqual({
      import: null,
      pigeonhole: 'acme/101',
      state: 'done',
      reason: 'no row of this file would be sent, so no import was started',
      rows: rows + 1,
      counts: expect.objectContaining({ created: 0, existing: rows, invalid: 1 }),
      problems: [{ row: rows + 2, column: 'Ticket', code: 'missing-code', message: expect.any(String) }],
    });
    expect(code).toBe(5);
    expect(await registered(101)).toBe(before + rows);
  });

  it('sees rows that are refused for one column as one line with the option that helps', async () => {
    const lines = Array.from(
      { length: 200 },
      (_, n) => `N${n};Guest ${n};guest${n}@example.com;${'long '.repeat(2000)}`,
    );
    const all = ['attendeeCode;Full name;E-mail;Notes', ...lines, 'N900;Grace;grace(at)example.com;'];
    writeFileSync(join(folder, 'notes.csv'), all.join('\r\n'));
    const dry = await run('import', 'notes.csv', '--pigeonhole', '101', '--dry-run');
    expect(dry.out).toMatch(/row 202, E-mail: /);
    const refused = /^notes\.csv, 200 rows \(2, 3, 4, …\), Notes: .*add --map "Notes="$/gm;
    expect(dry.out.match(refused)).toHaveLength(1);
    const { out, code } = await run('import', 'notes.csv', '--pigeonhole', '101', '--yes');
    expect([code, out.match(/^notes\.csv, 200 rows .*add --map "Notes="$/gm)?.length]).toEqual([5, 1]);
    expect(out).toMatch(/^no row of this file would be sent, so no import was started$/m);
  });

  it('sees rows that the service refuses for one column as one line, and sends them without that column', async () => {
    await control('knobs', 'PATCH', { registrantMaxText: 40 }); // pigeonpost cannot know the limits of a service
    const lines = Array.from({ length: 12 }, (_, n) => `F${n};Guest ${n};${'long '.repeat(10)}`);
    writeFileSync(join(folder, 'firms.csv'), ['attendeeCode;Full name;Company', ...lines].join('\r\n'));
    const { out, code } = await run('import', 'firms.csv', '--pigeonhole', '101', '--yes');
    expect(out).toMatch(/^ +0 created\n +12 rejected by the service$/m);
    expect(out.match(/^firms\.csv, .*$/gm)).toEqual([
      'firms.csv, 12 rows (2, 3, 4, …), Company: must have at most 40 characters. To import without this column, add --map "Company="',
    ]);
    expect(code).toBe(5);
    const again = await run('import', 'firms.csv', '--pigeonhole', '101', '--map', 'Company=', '--yes');
    expect(again.out).toMatch(/^ +12 created$/m);
    expect(again.code).toBe(0);
    await control('knobs', 'DELETE');
  });

  it.each([
    [4, 'has no pigeonhole 999', ['import', 'people.csv', '--pigeonhole', '999', '--yes']],
    [2, 'add --force', ['import', 'people.csv', '--pigeonhole', '102', '--yes']],
  ])('exits with %i and one sentence: %s', async (exitCode, sentence, args) => {
    const { code, out, errors } = await run(...args);
    expect([code, out, errors.trimEnd().split('\n').length]).toEqual([exitCode, '', 1]);
    expect(errors).toContain(sentence);
  });

  it('can put a file into a drop folder instead', async () => {
    writeFileSync(join(folder, 'in', 'late.csv'), 'attendeeCode,Name\nLATE1,Late Lou\n');
    const report = join(folder, 'in', 'late.csv.report.csv');
    const readReport = (): string => {
      try {
        return readFileSync(report, 'utf8');
      } catch {
        return '';
      }
    };
    await until('the report is beside the file', () => readReport() !== '');
    expect(readReport()).toMatch(/"2","created",.*"LATE1","Late Lou"/);
    expect(main.errors()).not.toMatch(/Late Lou|LATE1|Guest|example\.com/);
  });
});
