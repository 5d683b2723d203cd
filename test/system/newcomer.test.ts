import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { type Program, processesNaming, startProgram, untilOutput } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { TerminalSession } from '../kit/terminal.js';
import { until } from '../until.js';

/** A newcomer's first steps with the service's address and a key: init, check, start, ready, and doctor. */
const env = { SERVICE_KEY: 'sandbox-key' };
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-newcomer-'));
const file = join(folder, 'pigeonpost.yaml');
let sandbox: Program;
let main: Program | undefined;
let baseUrl: string;

beforeAll(async () => {
  const size = ['--attendees', '20', '--pigeonholes', '1', '--sessions', '2', '--seed', '9', '--frozen'];
  sandbox = startProgram('sandbox/main.js', size, { cwd: folder });
  baseUrl = (await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/))[0];
});
afterAll(async () => {
  if (main !== undefined) await endAll([main]);
  await endAll([sandbox]);
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

async function run(...args: string[]): Promise<{ code: number | null; out: string; errors: string }> {
  const program = startProgram('cli/main.js', args, { cwd: folder, env });
  const code = await program.exited;
  return { code, out: program.output(), errors: program.errors() };
}

describe('a newcomer', () => {
  it('gets a valid configuration that starts unchanged, and sees whether the event is ready', async () => {
    const terminal = new TerminalSession(['init'], { cwd: folder, env, columns: 100, rows: 100 });
    const answer = async (question: RegExp, text: string): Promise<void> => {
      await terminal.untilShown(question);
      terminal.type(`${text}\r`);
    };
    await answer(/^Address of the service: *$/m, `${baseUrl}/v2/`);
    await answer(/^Environment variable with the API key \[ENGAGEMENT_API_KEY\]: *$/m, 'SERVICE_KEY');
    await answer(/^ {2}101 {2}\S.* (live|upcoming|ended) +\d{4}-\d\d-\d\d\nPigeonholes to read: .*: *$/m, '104');
    await answer(/^ {2}104 is not in the list above\nPigeonholes to read: .*: *$/m, '101');
    await answer(/^First sink: file, webhook, .* \[file\]: *$/m, '');
    await answer(/^Folder for the files \[\.\/archive\]: *$/m, '');
    expect(await terminal.exited).toBe(0);
    expect(terminal.screen.text).toMatch(
      /is written[^]*workspace main: [^]* accepts the key[^]*next: pigeonpost start$/,
    );
    const written = readFileSync(file, 'utf8');
    expect(written).toContain(`baseUrl: "${baseUrl}"\n`);
    expect(written).toMatch(/^ {4}pigeonholes: \[101\]$/m);
    expect(written).not.toContain(env.SERVICE_KEY);

    const flags = ['--service', baseUrl, '--key-variable', 'SERVICE_KEY', '--pigeonholes', '101', '--sink', 'file'];
    const again = await run('init', ...flags);
    expect([again.code, again.errors]).toEqual([2, expect.stringMatching(/already exists and was not changed/)]);

    const extended = join(folder, 'extended.yaml');
    writeFileSync(extended, `${written}# the end\n`);
    const more = ['--sink', 'file', '--destination', './more', '--yes', '--no-check'];
    const added = await run('init', '--config', extended, '--add', ...more);
    expect([added.code, added.errors]).toEqual([0, '']);
    expect(readFileSync(extended, 'utf8')).toMatch(
      /sinks: \[archive, archive-2\][^]*folder: "\.\/more"[^]*# the end\n$/,
    );

    const port = await freeTestPort();
    const withoutPort = readFileSync(file, 'utf8').replace(/^server:\n {2}port: .*\n/m, ''); // written if 8088 is in use
    writeFileSync(file, `${withoutPort}server: { port: ${port} }\n`);
    main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
    await untilOutput(main, /ready/);
    await until('the archive is written', () => existsSync(join(folder, 'archive/main/101/attendees')));
    await until('everything is settled', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/status`, { headers: apiHeaders(folder) });
      return ((await answer.json()) as { settled: boolean }).settled;
    });

    const ready = await run('ready', '101');
    expect([ready.code, ready.errors]).toEqual([0, '']);
    expect(ready.out).toMatch(/^OK +Sink archive \(file\): /m);
    expect(ready.out).toMatch(/\nready: /);

    const paused = await fetch(`http://127.0.0.1:${port}/api/actions`, {
      method: 'POST',
      headers: apiHeaders(folder),
      body: JSON.stringify({ do: 'pause', kind: 'sink', name: 'archive' }),
    });
    expect(paused.status).toBe(200);
    const red = await run('ready', 'main/101', '--json');
    expect([red.code, JSON.parse(red.out)]).toEqual([
      1,
      expect.objectContaining({
        ready: false,
        checks: expect.arrayContaining([expect.objectContaining({ id: 'running', state: 'failed' })]),
      }),
    ]);

    const report = await run('doctor', '--json');
    expect([report.code, report.errors]).toEqual([0, '']);
    expect(report.out).not.toContain(env.SERVICE_KEY);
    expect(JSON.parse(report.out)).toMatchObject({
      problem: null,
      variables: { SERVICE_KEY: 'set' },
      running: { answers: true, troubles: [{ code: 'sink-paused' }] },
    });
  });
});
