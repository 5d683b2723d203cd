import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../test/until.js';

/** A server that takes connections and never answers: what waits for it is under way, and stays so. */
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

function run(...args: string[]): {
  child: ChildProcess;
  ended: Promise<{ code: number | null; signal: string | null }>;
} {
  const child = spawn(process.execPath, [join(__dirname, '../dist/cli/main.js'), ...args], {
    cwd: folder,
    env: { KEY: 'a-key' },
    stdio: 'ignore',
  });
  return { child, ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal }))) };
}

/** The kernel's own table says which signals a process catches; Node by itself leaves SIGHUP alone. */
function catchesHangUp(pid: number): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return caught !== null && (BigInt(`0x${caught[1]!}`) & 1n) === 1n;
}

describe('a signal that comes while a command is still being loaded', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('has "start" end in order: %s', async (signal) => {
    const { child, ended } = run('start');
    await until('the signal would be caught', () => catchesHangUp(child.pid!));
    child.kill(signal);
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  it('ends at once what ends by itself', async () => {
    const { child, ended } = run('status');
    await until('the signal would be caught', () => catchesHangUp(child.pid!));
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: null, signal: 'SIGTERM' });
  });
});

describe('a signal to a command that ends by itself', () => {
  it('ends it at once, also while it waits for an answer', async () => {
    const before = connections.length;
    const { child, ended } = run('status');
    await until('it has asked', () => connections.length > before);
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: null, signal: 'SIGTERM' });
  });
});
