import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../test/until.js';
import { answeringApi } from './commands/answering-api.test-kit.js';

/** A server that accepts connections but never answers, so that a command keeps waiting. */
let silent: Server;
let silentPort: number;
const connections: Socket[] = [];
let folder: string;
beforeAll(async () => {
  silent = createServer((socket) => connections.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  silentPort = (silent.address() as AddressInfo).port;
  folder = mkdtempSync(join(tmpdir(), 'signals-'));
  writeFileSync(
    join(folder, 'pigeonpost.yaml'),
    [
      `workspaces: { acme: { baseUrl: "http://127.0.0.1:${silentPort}", apiKey: "\${KEY}" } }`,
      'syncs: { all: { workspace: acme, sinks: [archive] } }',
      'sinks: { archive: { type: file, folder: ./archive } }',
      `server: { port: ${silentPort} }`, // `start` cannot listen there: without the signal it ends with 1
    ].join('\n'),
  );
});
afterAll(async () => {
  for (const socket of connections) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
  rmSync(folder, { recursive: true });
});

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
}

function run(...args: string[]): Running {
  return spawned([join(__dirname, '../dist/cli/main.js'), ...args]);
}

/** Blocks the loading of the command line until the test continues it, so that a signal always arrives in between. */
function runHeld(...args: string[]): Running & { goOn: () => void } {
  const [hold, go] = [join(folder, 'hold.cjs'), mkdtempSync(join(folder, 'go-'))];
  writeFileSync(
    hold,
    `const Module = require('node:module');
    const load = Module._load;
    const moment = new Int32Array(new SharedArrayBuffer(4));
    Module._load = (request, ...rest) => {
      while (request === 'commander' && require('node:fs').existsSync(process.env.GO)) Atomics.wait(moment, 0, 0, 20);
      return load(request, ...rest);
    };`,
  );
  const running = spawned(['--require', hold, join(__dirname, '../dist/cli/main.js'), ...args], { GO: go });
  return { ...running, goOn: () => rmSync(go, { recursive: true }) };
}

function spawned(args: readonly string[], more: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, args, { cwd: folder, env: { KEY: 'a-key', ...more }, stdio: 'ignore' });
  return { child, ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal }))) };
}

/** Reads from /proc which signals a process catches; Node does not catch SIGHUP by default. */
function catchesHangUp(pid: number): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return caught !== null && (BigInt(`0x${caught[1]!}`) & 1n) === 1n;
}

describe('a signal that arrives while a command is being loaded', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('makes "start" shut down in order: %s', async (signal) => {
    const { child, ended, goOn } = runHeld('start');
    await until('the signal would be caught', () => catchesHangUp(child.pid!));
    child.kill(signal);
    goOn();
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  it('ends a short command immediately', async () => {
    const { child, ended, goOn } = runHeld('status');
    await until('the signal would be caught', () => catchesHangUp(child.pid!));
    child.kill('SIGTERM');
    goOn();
    expect(await ended).toEqual({ code: null, signal: 'SIGTERM' });
  });
});

describe('a signal to a short command', () => {
  it('ends it immediately, also while it waits for a response', async () => {
    const before = connections.length;
    const { child, ended } = run('status');
    await until('it has asked', () => connections.length > before);
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: null, signal: 'SIGTERM' });
  });
});

describe('a signal to a running export', () => {
  it.each([
    ['SIGINT', []],
    ['SIGTERM', ['--force']],
  ] as const)('ends it with exit code 1 and leaves no part of the file: %s', async (signal, more) => {
    const api = await answeringApi(() => ({ begins: 'half of the file' }));
    const written = mkdtempSync(join(folder, 'export-'));
    const file = join(written, 'people.xlsx');
    if (more.length > 0) writeFileSync(file, 'of yesterday');
    const before = readdirSync(written);
    const { child, ended } = run('--config', api.config, 'export', '101', '--out', file, ...more);
    await until('a part is written', () =>
      readdirSync(written).some((name) => readFileSync(join(written, name), 'utf8') === 'half of the file'),
    );
    child.kill(signal);
    expect(await ended).toEqual({ code: 1, signal: null });
    expect(readdirSync(written)).toEqual(before);
    if (more.length > 0) expect(readFileSync(file, 'utf8')).toBe('of yesterday');
    await api.close();
  });
});

const main = join(__dirname, '../dist/cli/main.js');

describe('the command line', () => {
  it('checks certificates even if the environment disables that, and says so', () => {
    const run = (environment: NodeJS.ProcessEnv) =>
      spawnSync(process.execPath, [main, '--version'], { encoding: 'utf8', env: { ...process.env, ...environment } });
    expect(run({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^pigeonpost: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: .*\n$/),
    });
    expect(run({ NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toMatchObject({ status: 0, stderr: '' });
  });
});
