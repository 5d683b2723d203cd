import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isProcessAlive } from '../is-process-alive.js';
import { until } from '../until.js';

/** Starts programs of this package as a user does. Requires `npm run build`. */
const dist = join(__dirname, '../../dist');

export interface Program {
  readonly pid: number;
  /** `output` returns the standard output so far, `errors` the standard error. */
  readonly output: () => string;
  readonly errors: () => string;
  readonly hasEnded: () => boolean;
  /** Resolves with the exit code; null if a signal ended it. */
  readonly exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a script of `dist/` or an absolute path in a new session, so that no signal reaches it by accident. */
export function startProgram(script: string, args: readonly string[], { cwd, env }: ProgramOptions): Program {
  const child: ChildProcess = spawn(process.execPath, [resolve(dist, script), ...args], {
    cwd,
    // a developer's PostgreSQL and Temporal must not affect a test
    env: {
      ...process.env,
      DATABASE_URL: '',
      LEDGER_KEY: '',
      TEMPORAL_ADDRESS: '',
      PIGEONPOST_LOG: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  let errors = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
  return {
    pid: child.pid!,
    output: () => output,
    errors: () => errors,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    exited: new Promise((resolve) => child.once('close', (code) => resolve(code))),
    kill: (signal) => void child.kill(signal),
  };
}

/** Waits until the output of a program contains a text. If the program exits earlier, fails with its output. */
export async function untilOutput(program: Program, text: RegExp): Promise<RegExpExecArray> {
  let ended = false;
  const noteEnd = async (): Promise<void> => {
    await program.exited;
    ended = true;
  };
  noteEnd().catch(() => undefined);
  await until(`a program says ${text}`, () => {
    if (ended && !text.test(program.output()))
      throw new Error(`it ended before it said ${text}:\n${program.output()}\n${program.errors()}`);
    return text.test(program.output());
  });
  return text.exec(program.output())!;
}

/** Returns the descendants of a process from the kernel's process table. */
export function descendantsOf(pid: number): number[] {
  let children: number[];
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Returns the embedded Temporal server of a `pigeonpost start`; undefined while it is not running. */
export function temporalOf(pid: number): number | undefined {
  return descendantsOf(pid).find((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('start-dev') && isProcessAlive(child);
    } catch {
      return false;
    }
  });
}

export function killNow(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has already ended
  }
}

/** Returns processes with this folder in their command line or as their working directory, which a test may leave. */
export function processesNaming(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && (namesFolder(pid, folder) || worksIn(pid, folder)) && isProcessAlive(pid));
}

function namesFolder(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(folder);
  } catch {
    return false; // it has ended
  }
}

/** Whether a process works in a folder. A deleted folder is shown as "/folder (deleted)". */
function worksIn(pid: number, folder: string): boolean {
  try {
    const cwd = readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, '');
    return cwd === folder || cwd.startsWith(`${folder}/`);
  } catch {
    return false; // it has exited, or belongs to another user
  }
}

export function writeYaml(folder: string, lines: readonly string[], name = 'pigeonpost.yaml'): string {
  const file = join(folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}
