import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeTestPort } from '../free-port.js';
import { type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { type TerminalOptions, TerminalSession } from '../kit/terminal.js';
import { until } from '../until.js';

/** The screen of a terminal while `start` runs. A webhook without a receiver is the problem on the screen. */
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-terminal-'));
const env = { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
const ctrlC = '\u0003';
let sandbox: Program;
let port: number;
let sessions: TerminalSession[] = [];

beforeAll(async () => {
  const size = ['--attendees', '20', '--pigeonholes', '2', '--sessions', '2', '--seed', '9', '--frozen'];
  sandbox = startProgram('sandbox/main.js', size, { cwd: folder });
  const [baseUrl] = await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/);
  port = await freeTestPort();
  const nobody = await freeTestPort();
  writeYaml(folder, [
    `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    'syncs: { all: { workspace: acme, sinks: [archive, hooks] } }',
    'sinks:',
    '  archive: { type: file, folder: ./archive }',
    `  hooks: { type: webhook, url: "http://127.0.0.1:${nobody}/", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true }`,
    `server: { port: ${port} }`,
  ]);
});
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.close()));
  await endAll([sandbox]);
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

function atTerminal(
  args: readonly string[],
  columns: number,
  rows: number,
  more: Pick<TerminalOptions, 'colours' | 'errorsTo'> = {},
): TerminalSession {
  const session = new TerminalSession(args, { cwd: folder, env, columns, rows, ...more });
  sessions = [...sessions, session];
  return session;
}

async function untilShown(session: TerminalSession, text: RegExp): Promise<void> {
  await until(`the terminal shows ${text}`, () => {
    if (session.hasEnded() && !text.test(session.screen.text))
      throw new Error(`it ended with:\n${session.screen.text}`);
    return text.test(session.screen.text);
  });
}

describe('start on a terminal', () => {
  it('shows a screen with the address of the page, events, sinks and problems, and prints a message when it stops', async () => {
    const main = atTerminal(['start'], 80, 24);
    const { screen } = main;
    await untilShown(main, /^> creating the ledger in [^]*\(\d+ s so far\)/m);
    expect(screen.lines[0]).toMatch(/^pigeonpost is starting, \d+ s so far; Ctrl-C stops it$/);
    await untilShown(main, /^hooks \(webhook\)[^]*^ {2}failing/m);
    await untilShown(main, /^pigeonpost is ready/m);
    expect(screen.lines.slice(0, 4)).toEqual([
      expect.stringMatching(/^pigeonpost is ready, up for \d+ s; press Ctrl-C to stop it$/),
      expect.stringMatching(new RegExp(`^page {2}http://127\\.0\\.0\\.1:${port}/\\?code=ppc_`)),
      'log   ./pigeonpost.log',
      expect.stringMatching(/^rate {2}[\d,]+ found, /),
    ]);
    expect(screen.text).toMatch(/^PROBLEM {2}.*hooks/m);
    expect(screen.text).toMatch(/^\S.* \(101\) +(new|upcoming|live|ended) +/m);
    expect(screen.text).toMatch(/^archive \(file\) +[\d,]+ +\d+ +[\d,]+/m);
    expect(main.written).not.toContain('"msg"');
    const [title] = screen.lines;
    main.type('\r\r\r');
    await until('the screen is drawn again from its top', () => {
      const [first = ''] = screen.lines;
      return first.startsWith('pigeonpost is ready') && first !== title;
    });
    expect(screen.text.match(/^pigeonpost is ready/gm)).toHaveLength(1);

    const log = readFileSync(join(folder, 'pigeonpost.log'), 'utf8');
    expect(JSON.parse(log.split('\n')[0]!)).toHaveProperty('msg');
    expect(log).not.toContain('ppc_');
    expect(statSync(join(folder, 'pigeonpost.log')).mode & 0o077).toBe(0);

    const watch = atTerminal(['status', '--watch'], 140, 40);
    await untilShown(watch, /^sink +delivered/m);
    await untilShown(watch, /^ {2}items {2}[^]*\d+ attendees/m);
    expect(watch.screen.text).toMatch(/^pigeonpost status {2}every 2 s, Ctrl-C ends it$/m);
    expect(watch.written).toContain('\u001b[31mPROBLEM');
    watch.type(ctrlC);
    await watch.exited;

    const piped = startProgram('cli/main.js', ['status'], { cwd: folder, env });
    expect(await piped.exited).toBe(0);
    expect(piped.output()).toMatch(new RegExp(`^page {2}http://127\\.0\\.0\\.1:${port}/ `, 'm'));
    expect(piped.output()).not.toContain('\u001b');

    main.type(ctrlC);
    await untilShown(main, /^pigeonpost (is stopping; press Ctrl-C again|has stopped)/m);
    expect(await main.exited).toBe(0);
    expect(main.written).toMatch(/ending the worker(, which has nothing|: up to 7 s for \d+ )/);
    expect(screen.lines[0]).toMatch(/^pigeonpost has stopped after \d+ s$/);
    expect(screen.wrapped + watch.screen.wrapped).toBe(0);
  });

  it('writes the log to a redirected standard error, and stops cleanly during its start', async () => {
    const size = statSync(join(folder, 'pigeonpost.log')).size;
    const main = atTerminal(['start'], 60, 12, { colours: false, errorsTo: join(folder, 'errors.log') });
    await untilShown(main, /^log {3}on standard error$/m);
    await untilShown(main, /^> /m);
    main.type(ctrlC);
    expect(await main.exited).toBe(0);
    expect(main.screen.lines[0]).toMatch(/^pigeonpost has stopped after \d+ s$/);
    expect(main.screen.wrapped).toBe(0);
    expect(main.written).not.toMatch(/\u001b\[\d+m/);
    expect(existsSync(join(folder, 'errors.log'))).toBe(true);
    expect(statSync(join(folder, 'pigeonpost.log')).size).toBe(size);
  });

  it('shows the log as text without a screen with --plain', async () => {
    const main = atTerminal(['start', '--plain'], 100, 24);
    await untilShown(main, /^\S+ +opening the ledger in /m);
    main.type(ctrlC);
    expect(await main.exited).toBe(0);
    expect(main.screen.text).toMatch(/stopping; a second signal ends the process immediately/);
    expect(main.written).not.toMatch(/\u001b\[\d*[AHJ]/);
    expect(main.written).not.toContain('"msg"');
  });

  it('prints the address of the page on standard output if there is no terminal, and not in the log', async () => {
    const main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
    await untilOutput(main, /^ready: reading acme$/m);
    expect(main.output()).toMatch(
      new RegExp(`^page: http://127\\.0\\.0\\.1:${port}/\\?code=ppc_\\S+\nready: reading acme\n$`),
    );
    main.kill('SIGTERM');
    expect(await main.exited).toBe(0);
    const lines = main.errors().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ msg: expect.stringMatching(/^stopping/) as string }),
    );
    expect(main.errors()).not.toContain('ppc_');
    expect(existsSync(join(folder, 'pigeonpost.log.1'))).toBe(false);
  });
});

describe('a narrow terminal', () => {
  it('shows the results of check in two columns, and the events that each sync selects', async () => {
    const session = atTerminal(['check'], 50, 200);
    await session.exited;
    const { lines, text } = session.screen;
    expect(session.screen.wrapped).toBe(0);
    expect(lines.filter((line) => !/^(ok|note|PROBLEM| {7}) /.test(line))).toEqual([]);
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(/sync all: selects 2 of 2 events: \S.* \(101, live\), \S.* \(102, /);
  });
});
