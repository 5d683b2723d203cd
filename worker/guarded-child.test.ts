import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '../ledger/drivers/folder-lock.js';
import { isProcessAlive } from '../test/is-process-alive.js';
import { until } from '../test/until.js';
import { type GuardKind, startGuardedChild } from './guarded-child.js';

const guards: GuardKind[] = process.platform === 'linux' ? ['pdeathsig', 'pipe'] : ['pipe'];
/** The tests read /proc, which only Linux has. */
const itOnLinux = process.platform === 'linux' ? it : it.skip;
const built = join(__dirname, '../dist/worker/guarded-child.js');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guarded-child-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(guards)('a child guarded by %s', (guard) => {
  it('ends when its parent is killed', async () => {
    const parent = await startParent(guard);
    expect(isProcessAlive(parent.childPid)).toBe(true);

    parent.process.kill('SIGKILL');

    await until('the child is gone', () => !isProcessAlive(parent.childPid));
  });

  it('ends even if its parent is killed before the guard is in place', async () => {
    const { process: parent, childPid } = await startParent(
      guard,
      `process.kill(child.pid, 'SIGSTOP');
      require('node:fs').writeSync(1, child.pid + '\\n');
      process.kill(process.pid, 'SIGKILL');`,
    );
    await until('the parent has ended', () => parent.signalCode === 'SIGKILL');
    if (isProcessAlive(childPid)) process.kill(childPid, 'SIGCONT');
    await until('the child is gone', () => !isProcessAlive(childPid));
  });

  it('does not keep its parent running after unref(), and ends together with it', async () => {
    const parent = await startParent(guard, 'child.unref();');

    await until('the parent has ended', () => parent.process.exitCode === 0);
    await until('the child is gone', () => !isProcessAlive(parent.childPid));
  });

  itOnLinux('has its own process group, so that signals to its parent’s group do not reach it', async () => {
    const child = startGuardedChild({ command: '/bin/sleep', args: ['60'], guard });
    const group = readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[2];
    expect(Number(group)).toBe(child.pid);
    await child.stop(1000);
  });

  it('ends with SIGTERM when it is stopped, and reports the end as wanted', async () => {
    const exits: unknown[] = [];
    const child = startGuardedChild({ command: '/bin/sleep', args: ['60'], guard, onExit: (exit) => exits.push(exit) });

    const exit = await child.stop(60_000);

    expect(exit).toEqual({ code: null, signal: 'SIGTERM', isWanted: true });
    expect(exits).toEqual([exit]);
    expect(isProcessAlive(child.pid ?? 0)).toBe(false);
  });

  it('is killed if it ignores SIGTERM', async () => {
    const logFile = join(folder, 'log');
    const script = `trap '' TERM; echo ready; while :; do sleep 0.1; done`;
    const child = startGuardedChild({ command: '/bin/sh', args: ['-c', script], guard, logFile });
    await until('it ignores SIGTERM', () => readFileSync(logFile, 'utf8') === 'ready\n');

    expect(await child.stop(50)).toEqual({ code: null, signal: 'SIGKILL', isWanted: true });
  });

  it('reports the exit code of a program that ends on its own', async () => {
    const child = startGuardedChild({ command: '/bin/sh', args: ['-c', 'exit 3'], guard });

    expect(await child.exited).toEqual({ code: 3, signal: null, isWanted: false });
  });

  it('reports a missing program with an exit code', async () => {
    const child = startGuardedChild({ command: '/does/not/exist', args: [], guard });

    expect((await child.exited).code).toBe(127);
  });

  itOnLinux('leaves no watcher running after it has ended', async () => {
    const child = startGuardedChild({ command: '/bin/true', args: [], guard });
    await child.exited;

    await until('nothing runs in its session', () => processesInSession(child.pid ?? 0).length === 0);
  });

  it('appends its output to the log file', async () => {
    const logFile = join(folder, 'log');
    for (const word of ['one', 'two']) {
      await startGuardedChild({ command: '/bin/echo', args: [word], guard, logFile }).exited;
    }

    expect(readFileSync(logFile, 'utf8')).toBe('one\ntwo\n');
  });

  it('creates files that only this user can read', async () => {
    const file = join(folder, 'made');
    await startGuardedChild({ command: '/usr/bin/touch', args: [file], guard }).exited;

    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('receives only the environment that it is given', async () => {
    const logFile = join(folder, 'log');
    await startGuardedChild({ command: '/usr/bin/env', args: [], guard, logFile, env: { ONLY: 'this' } }).exited;

    const ofTheShell = /^(PWD|OLDPWD|SHLVL|_)=/;
    const lines = readFileSync(logFile, 'utf8').split('\n');
    expect(lines.filter((line) => line !== '' && !ofTheShell.test(line))).toEqual(['ONLY=this']);
  });

  itOnLinux('does not inherit the lock of a folder', async () => {
    const lock = await lockFolder(folder);
    const logFile = join(folder, 'log');
    const child = startGuardedChild({
      command: '/bin/sh',
      args: ['-c', 'echo ready; exec sleep 60'],
      guard,
      logFile,
    });
    await until('the command runs', () => readFileSync(logFile, 'utf8') === 'ready\n');

    const open = openFiles(child.pid!);
    expect(open).toContain(logFile);
    expect(open).not.toContain(join(folder, 'lock'));

    await lock.release();
    await (await lockFolder(folder)).release(); // the child is still running, but does not hold the lock
    await child.stop(1000);
  });
});

async function startParent(guard: GuardKind, then = ''): Promise<{ process: ChildProcess; childPid: number }> {
  const script = `
    const { startGuardedChild } = require(${JSON.stringify(built)});
    const child = startGuardedChild({ command: '/bin/sleep', args: ['600'], guard: ${JSON.stringify(guard)} });
    ${then}
    console.log(child.pid);`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  parent.stdout.on('data', (data) => (output += String(data)));
  await until('the parent has started its child', () => output.endsWith('\n'));
  return { process: parent, childPid: Number(output) };
}

/** Returns the open files of a process. A program that is being loaded opens and closes others meanwhile. */
function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // closed after the folder was read
    }
  });
}

function processesInSession(session: number): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const [, fields = ''] = readFileSync(`/proc/${name}/stat`, 'latin1').split(/\) (?=[A-Z] )/);
      return Number(fields.split(' ')[3]) === session && !fields.startsWith('Z');
    } catch {
      return false;
    }
  });
}
