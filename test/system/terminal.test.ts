import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runWebhookReceiver, type WebhookReceiver } from '../../sandbox/webhook-receiver/run-webhook-receiver.js';
import { freeTestPort } from '../free-port.js';
import { apiHeaders } from '../kit/api-headers.js';
import { type Program, processesNaming, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { endAll } from '../kit/promises.js';
import { type TerminalOptions, TerminalSession } from '../kit/terminal.js';
import { createDeferred } from '../../base/deferred.js';
import { temporalForTests } from '../temporal.js';
import { until } from '../until.js';

/**
 * The screen of a terminal while `start` runs. The problem on the screen is a receiver that asks for a wait of half an
 * hour.
 */
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-terminal-'));
const hookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const env = { SERVICE_KEY: 'sandbox-key', HOOK_SECRET: hookSecret };
const ctrlC = '\u0003';
let sandbox: Program;
let baseUrl: string;
let receiver: WebhookReceiver;
let port: number;
let sessions: TerminalSession[] = [];

beforeAll(async () => {
  const size = ['--attendees', '20', '--pigeonholes', '2', '--sessions', '2', '--seed', '9', '--frozen'];
  sandbox = startProgram('sandbox/main.js', size, { cwd: folder });
  [baseUrl] = await untilOutput(sandbox, /http:\/\/127\.0\.0\.1:\d+/);
  receiver = await runWebhookReceiver({ secrets: [hookSecret] });
  await answers('POST', { status: 429, retryAfter: '1800', count: 100_000 });
  port = await freeTestPort();
  configure();
});
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.close()));
  await endAll([sandbox]);
  await receiver.close();
  expect(processesNaming(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

/** @param more names of further file sinks */
function configure(...more: readonly string[]): void {
  writeYaml(folder, [
    `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    `syncs: { all: { workspace: acme, sinks: [${['archive', 'hooks', ...more].join(', ')}] } }`,
    'sinks:',
    ...['archive', ...more].map((name) => `  ${name}: { type: file, folder: ./${name} }`),
    `  hooks: { type: webhook, url: "${receiver.url}", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true }`,
    `server: { port: ${port} }`,
  ]);
}

/** Serves the API of the running pigeonpost at another address, where it holds a preview until `letGo`. */
async function slowApi(): Promise<{ url: string; letGo: () => void; close: () => void }> {
  const mayAnswer = createDeferred();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void forward());
    const forward = async (): Promise<void> => {
      if (request.url!.startsWith('/api/preview')) await mayAnswer.promise;
      const { method = 'GET', headers } = request;
      const { authorization = '', 'content-type': type = 'application/json' } = headers;
      const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
        method,
        headers: { ...(authorization !== '' && { authorization }), 'content-type': type },
        ...(method !== 'GET' && { body: Buffer.concat(chunks) }),
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      response.end(await answer.text());
    };
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, letGo: mayAnswer.resolve, close };
}

async function answers(method: 'POST' | 'DELETE', plan?: object): Promise<void> {
  const body = plan === undefined ? {} : { body: JSON.stringify(plan) };
  await fetch(`${receiver.url}_control/answers`, { method, ...body });
}

async function faults(method: 'POST' | 'DELETE', fault?: object): Promise<void> {
  const body = fault === undefined ? {} : { body: JSON.stringify(fault) };
  await fetch(`${baseUrl}/_control/faults`, { method, ...body });
}

/** Changes an attendee of the live event in the service. */
async function changeAttendee(): Promise<void> {
  const truth = await (await fetch(`${baseUrl}/_control/truth/attendees?pigeonhole=101&ids=1`)).text();
  const { id } = JSON.parse(truth.split('\n')[0]!) as { id: number };
  const body = JSON.stringify([
    { op: 'patch', list: 'attendees', pigeonhole: 101, id, item: { Company: 'Elsewhere' } },
  ]);
  const answer = await fetch(`${baseUrl}/_control/mutations`, { method: 'POST', body });
  expect(answer.ok).toBe(true);
}

function atTerminal(
  args: readonly string[],
  columns: number,
  rows: number,
  { env: moreEnv, ...more }: Pick<TerminalOptions, 'colours' | 'errorsTo' | 'env'> = {},
): TerminalSession {
  const session = new TerminalSession(args, { cwd: folder, env: { ...env, ...moreEnv }, columns, rows, ...more });
  sessions = [...sessions, session];
  return session;
}

/** Returns the state that the page shows. */
async function present(): Promise<{ settled: boolean; problems: readonly string[] }> {
  const ask = async (path: string): Promise<unknown> =>
    await (await fetch(`http://127.0.0.1:${port}${path}`, { headers: apiHeaders(folder) })).json();
  const { settled } = (await ask('/api/status')) as { settled: boolean };
  const { troubles } = (await ask('/api/overview')) as { troubles: readonly { title: string }[] };
  return { settled, problems: troubles.map(({ title }) => title) };
}

/** Runs a command on a terminal of its own and returns what it shows at its end. */
async function shownBy(args: readonly string[], columns: number): Promise<string> {
  const session = atTerminal(args, columns, 100);
  expect(await session.exited).toBe(0);
  return session.screen.text;
}

async function untilHidden(session: TerminalSession, text: RegExp): Promise<void> {
  await until(`the terminal no longer shows ${text}`, () => !text.test(session.screen.text));
}

describe('start on a terminal', () => {
  const unanswered = /^PROBLEM {2}The service has not answered workspace acme since /m;
  const hooksWait = /^PROBLEM {2}Sink hooks accepts nothing: the receiver answered HTTP 429\b/m;
  let main: TerminalSession;
  let watch: TerminalSession;

  it('shows a screen with the address of the page, events, sinks and problems', async () => {
    main = atTerminal(['start'], 80, 24);
    const { screen } = main;
    await main.untilHasShown(
      /^pigeonpost is starting, \d+ s so far; Ctrl-C stops it$[^]*^> creating the ledger in [^]*\(\d+ s so far\)/m,
    );
    await main.untilShown(/^hooks \(webhook\)[^]*^ {2}failing/m);
    await main.untilShown(/^pigeonpost is ready/m);
    expect(screen.lines.slice(0, 4)).toEqual([
      expect.stringMatching(/^pigeonpost is ready, up for \d+ (s|min); press Ctrl-C to stop it$/),
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

    watch = atTerminal(['status', '--watch'], 140, 40);
    await watch.untilShown(/^sink +delivered/m);
    await watch.untilShown(/^ {2}items {2}[^]*\d+ attendees/m);
    expect(watch.screen.text).toMatch(/^pigeonpost status {2}every 2 s, Ctrl-C ends it$/m);
    expect(watch.screen.text).toMatch(hooksWait);
    expect(watch.written).toContain('\u001b[31mPROBLEM');

    const piped = startProgram('cli/main.js', ['status'], { cwd: folder, env });
    expect(await piped.exited).toBe(0);
    expect(piped.output()).toMatch(new RegExp(`^page {2}http://127\\.0\\.0\\.1:${port}/ `, 'm'));
    expect(piped.output()).not.toContain('\u001b');
  });

  it('runs while status shows how fresh each event is, and the interval of its lists with the reason', async () => {
    await watch.untilShown(/^\S.* \(101\) +live +up to date .* (\d+ s ago|just now), next (in \d s|now)$/m);
    const live =
      /\b\d+ lists every 5 s: the event is live; \d+ lists every \d+ min: sessions of this type never produce this data$/m;
    expect(watch.screen.text).toMatch(live);
    const status = await shownBy(['status'], 140);
    expect(status).toMatch(/^\S.* \(101\) +live +up to date .* (\d+ s ago|just now), next (in \d s|now)$/m);
    expect(status).toMatch(/^ {2}\d+ lists every 5 s: the event is live; /m);
    expect(status).toMatch(
      /^\S.* \(102\) +ended .* next in \d+ min\n {2}\d+ lists every \d+ h(?: to \d+ h)?: the event has ended$/m,
    );
  });

  it('reads an ended event at the live interval during a rehearsal, which status shows with its end', async () => {
    expect(await shownBy(['poll-now', 'pigeonhole:acme/102', '--for', '2h'], 200)).toBe(
      'every list of pigeonhole acme/102 is read at the live interval for 2 h; end the rehearsal with: pigeonpost poll-now pigeonhole:acme/102 --end',
    );
    const rehearsed =
      /^\S.* \(102\) .* (\d+ s ago|just now), next (in \d s|now)\n {2}the rehearsal ends in (2 h|1\d\d min)\n {2}\d+ lists every 5 s: a rehearsal is in progress/m;
    await watch.untilShown(rehearsed);
    expect(await shownBy(['status'], 140)).toMatch(rehearsed);
    expect(await shownBy(['poll-now', 'pigeonhole:acme/102', '--end'], 140)).toBe(
      'the rehearsal of pigeonhole acme/102 has ended',
    );
    expect(await shownBy(['poll-now', 'pigeonhole:acme/102', '--end'], 140)).toBe(
      'no rehearsal of pigeonhole acme/102 was in progress',
    );
    await watch.untilShown(/^\S.* \(102\) .* next in \d+ (min|h)\n {2}\d+ lists every .*: the event has ended\b/m);
    await until('the rehearsal is over for every list', () => !watch.screen.text.includes('rehearsal'));
  });

  it('shows a service that hangs before a request has timed out, like status, until it answers again', async () => {
    await faults('POST', { kind: 'delay', ms: 3_600_000 });
    await Promise.all([main.untilShown(unanswered), watch.untilShown(unanswered)]);
    // A request that times out after 30 s has another reason.
    expect(watch.screen.text.replaceAll(/\s+/g, ' ')).toContain(': no answer within 5 s.');
    expect(watch.screen.text).toMatch(/^workspace acme: waiting$/m);
    expect(watch.screen.text).toMatch(
      /^ +Check the service and the network to it\. To try now, run "pigeonpost try-now workspace:acme"\.$/m,
    );
    expect(watch.screen.text.match(/has not answered/g)).toHaveLength(1); // one incident, not one for each list
    await faults('DELETE');
    expect(await shownBy(['try-now', 'workspace:acme'], 80)).toBe('workspace acme is retried now');
    await Promise.all([untilHidden(main, unanswered), untilHidden(watch, unanswered)]);
    await watch.untilShown(/^workspace acme: working$/m);
  });

  it('prints a message when it stops', async () => {
    const { screen } = main;
    watch.type(ctrlC);
    await watch.exited;
    main.type(ctrlC);
    await main.untilShown(/^pigeonpost (is stopping; press Ctrl-C again|has stopped)/m);
    expect(await main.exited).toBe(0);
    expect(main.written).toMatch(/ending the worker(, which has nothing|: up to 7 s for \d+ )/);
    expect(screen.lines[0]).toMatch(/^pigeonpost has stopped after \d+ (s|min)$/);
    expect(screen.wrapped + watch.screen.wrapped).toBe(0);
  });

  it('writes the log to a redirected standard error, and stops cleanly during its start', async () => {
    const size = statSync(join(folder, 'pigeonpost.log')).size;
    // The start lasts until the signal has arrived.
    const [temporal, mayServe] = [join(folder, 'temporal'), join(folder, 'may-serve')];
    const hold = `[ "$1" != server ] || while [ ! -e ${mayServe} ]; do sleep 0.02; done`;
    writeFileSync(temporal, `#!/bin/sh\n${hold}\nexec ${temporalForTests().binary} "$@"\n`, { mode: 0o755 });
    const main = atTerminal(['start'], 60, 12, {
      colours: false,
      errorsTo: join(folder, 'errors.log'),
      env: { TEMPORAL_BINARY: temporal },
    });
    await main.untilShown(/^log {3}on standard error$[^]*^> starting the Temporal server/m);
    main.type(ctrlC);
    await main.untilShown(/^pigeonpost (is stopping|has stopped)/m);
    writeFileSync(mayServe, '');
    expect(await main.exited).toBe(0);
    expect(main.screen.lines[0]).toMatch(/^pigeonpost has stopped after \d+ (s|min)$/);
    expect(main.screen.wrapped).toBe(0);
    expect(main.written).not.toMatch(/\u001b\[\d+m/);
    expect(existsSync(join(folder, 'errors.log'))).toBe(true);
    expect(statSync(join(folder, 'pigeonpost.log')).size).toBe(size);
  });

  it('shows the log as text without a screen with --plain', async () => {
    main = atTerminal(['start', '--plain'], 100, 24);
    await main.untilHasShown(/^\S+ +opening the ledger in /m);
    await main.untilHasShown(/^ready: reading acme$/m);
  });

  it('runs while config apply asks before it sends changes to a sink', async () => {
    configure('copy');
    const apply = atTerminal(['config', 'apply'], 100, 40);
    await apply.untilShown(
      /^sink copy will receive \d+ attendees\b[^]*^Apply the file\? This sends \d+ changes to sinks\. \[y\/N\]/m,
    );
    apply.type('\r');
    expect(await apply.exited).toBe(1);
    expect(apply.screen.text).toMatch(/^nothing was applied$/m);
    expect(existsSync(join(folder, 'copy'))).toBe(false);
    const again = atTerminal(['config', 'apply'], 100, 40);
    await again.untilShown(/\[y\/N\]/);
    again.type('y\r');
    expect(await again.exited).toBe(0);
    expect(again.screen.text).toMatch(/^configuration 2 is current$/m);
    await until('the sink receives the changes', () => existsSync(join(folder, 'copy/acme/101/attendees')));
    configure();
    expect(await shownBy(['config', 'apply'], 100)).toMatch(/^removed: sink copy [^]*^configuration 3 is current$/m);
  });

  it('shows a sign of life during a preview that takes long, and removes it at the end', async () => {
    const { url, letGo, close } = await slowApi();
    const token = { PIGEONPOST_TOKEN: readFileSync(join(folder, 'data/api.token'), 'utf8').trim() };
    const preview = ['--url', url, 'preview', '--sink', 'archive', '--list', 'attendees', '--limit', '1'];
    const session = atTerminal(preview, 100, 100, { env: token });
    await session.untilShown(/^planning the operations… \d+ s$/m);
    letGo();
    expect(await session.exited).toBe(0);
    expect(session.screen.text).not.toContain('planning');
    expect(session.screen.text).toMatch(/^of all stored items:\n {2}attendees: \d+ to send/m);
    close();
  });

  it('keeps the wait of a sink and its problem after a restart, until try-now ends both', async () => {
    const status = atTerminal(['status'], 140, 100);
    expect(await status.exited).toBe(0);
    expect(status.written).toContain('\u001b[31mPROBLEM');
    const waiting = status.screen.text;
    expect(waiting).toMatch(hooksWait);
    expect(await shownBy(['resume', 'hooks'], 140)).toBe(
      'sink hooks was not paused. To end a wait, run "pigeonpost try-now sink:hooks"',
    );
    expect(waiting.replaceAll(/\s+/g, ' ')).toMatch(/ wait; nothing is lost\. pigeonpost tries again at .* UTC\. /);
    await answers('DELETE');
    expect(receiver.receipts()).toEqual([]);
    expect(await shownBy(['try-now', 'hooks'], 140)).toBe('sink hooks is retried now');
    await until('everything is delivered', async () => (await present()).settled);
    expect(receiver.receipts().length).toBeGreaterThan(20);
    expect((await present()).problems).toEqual([]);
    const delivered = await shownBy(['status'], 140);
    expect(delivered).not.toMatch(/PROBLEM|WARNING/);
    expect(delivered).toMatch(/^settled: /m);
    main.type(ctrlC);
    expect(await main.exited).toBe(0);
    expect(main.screen.hasShown(/stopping; a second signal ends the process immediately/)).toBe(true);
    expect(main.written).not.toMatch(/\u001b\[\d*[AHJ]/);
    expect(main.written).not.toContain('"msg"');
  });

  it('prints the address of the page on standard output if there is no terminal, and not in the log', async () => {
    const main = startProgram('cli/main.js', ['start'], { cwd: folder, env });
    await untilOutput(main, /^ready: reading acme$/m);
    expect(main.output()).toMatch(
      new RegExp(`^page: http://127\\.0\\.0\\.1:${port}/\\?code=ppc_\\S+\nready: reading acme\n$`),
    );
    // the sink that had to wait has nothing left to send, so its problem does not return with a restart
    expect(await shownBy(['status'], 140)).not.toMatch(/PROBLEM|WARNING|failing/);
    expect((await present()).problems).toEqual([]);
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

describe('start with standard error in a file', () => {
  it('shows the address of the page on the terminal, and not in the file', async () => {
    const log = join(folder, 'later.log');
    const main = atTerminal(['start'], 100, 24, { errorsTo: log });
    await main.untilShown(/^pigeonpost is ready/m);
    expect(main.screen.lines.slice(1, 3)).toEqual([
      expect.stringMatching(new RegExp(`^page {2}http://127\\.0\\.0\\.1:${port}/\\?code=ppc_`)),
      'log   on standard error',
    ]);
    await changeAttendee();
    await until('the change is in the log', () => readFileSync(log, 'utf8').includes('"msg":"page stored"'));
    main.type(ctrlC);
    expect(await main.exited).toBe(0);
    expect(readFileSync(log, 'utf8')).not.toContain('ppc_');
  });
});

describe('a narrow terminal', () => {
  it('shows the results of check in two columns, and the events that each sync selects', async () => {
    const session = atTerminal(['check'], 50, 200);
    await session.exited;
    const { lines, text } = session.screen;
    expect(session.screen.wrapped).toBe(0);
    expect(lines.filter((line) => !/^(ok|note|PROBLEM| {7}) /.test(line))).toEqual([
      '',
      expect.stringMatching(/^no problems: \d+ checks passed$/),
      'next: pigeonpost start',
    ]);
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(/sync all: selects 2 of 2 events: \S.* \(101, live\), \S.* \(102, /);
  });
});
