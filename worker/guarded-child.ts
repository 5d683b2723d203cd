import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * How a child ends with us, however we end:
 * - `pdeathsig`: Linux; the kernel kills it when the thread that started it is gone
 * - `pipe`: anywhere with /bin/sh; a watcher beside it kills it when the pipe that we hold breaks
 */
export type GuardKind = 'pdeathsig' | 'pipe';

export interface GuardedChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The child's whole environment; without it, ours. Pass one to everything that needs none of our secrets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Gets standard output and errors, appended; without it they are dropped. */
  readonly logFile?: string;
  /** Called once, when the child is gone. `isWanted` when `stop` was called before. */
  readonly onExit?: (exit: ChildExit) => void;
  /** The best that this machine has, unless a test asks for the other. */
  readonly guard?: GuardKind;
}

export interface ChildExit {
  /** Null when a signal ended it; -1 when it could not be started at all. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isWanted: boolean;
}

export interface GuardedChild {
  /** Of the command itself. Undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly guard: GuardKind;
  /** Resolves when it is gone. */
  readonly exited: Promise<ChildExit>;
  /** Asks it to end (SIGTERM), kills it after `timeoutMs`, resolves when it is gone. A second call waits with the first. */
  stop(timeoutMs: number): Promise<ChildExit>;
  /** Lets this process end while the child runs. The guard then ends the child. */
  unref(): void;
}

/**
 * The watcher reads a pipe that only we hold. Its end means that we are gone: it kills the process whose place it was
 * started in, which by then is the command (`exec` keeps the process id). A line means that the command has ended
 * first, so nothing may be killed: the number could belong to someone else by now.
 */
const pipeGuardScript = `
exec 3<&0
(if read -r _; then :; else kill -KILL $$; fi) <&3 3<&- >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-
`;

/**
 * Starts a program in a session of its own (a Ctrl-C in our terminal is for us, who end it in order), that ends when
 * this process does, also by SIGKILL. Verified need: the development server of Temporal survives its parent, and a
 * second one on the same file starts without complaint and both fight.
 *
 * It inherits no descriptor but its own input and output, so it never holds the lock of a folder. Call it on the main
 * thread: the kernel's guard watches the thread that started the child.
 */
export function startGuardedChild(options: GuardedChildOptions): GuardedChild {
  const guard = options.guard ?? bestGuard();
  const log = options.logFile === undefined ? 'ignore' : openSync(options.logFile, 'a', 0o600);
  const [command, args] = guardedCommand(guard, options);
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: [guard === 'pipe' ? 'pipe' : 'ignore', log, log],
    });
  } finally {
    if (typeof log === 'number') closeSync(log); // the child has its own by now
  }
  return new Child(child, guard, options.onExit);
}

class Child implements GuardedChild {
  readonly exited: Promise<ChildExit>;
  #isWanted = false;
  #isGone = false;

  constructor(
    private readonly process: ChildProcess,
    readonly guard: GuardKind,
    onExit: ((exit: ChildExit) => void) | undefined,
  ) {
    process.stdin?.on('error', () => undefined); // the watcher was killed together with the child
    this.exited = new Promise((resolve) => {
      const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
        if (this.#isGone) return;
        this.#isGone = true;
        process.stdin?.end('ended\n');
        const exit: ChildExit = { code, signal, isWanted: this.#isWanted };
        resolve(exit);
        onExit?.(exit);
      };
      process.once('exit', settle);
      process.once('error', () => settle(-1, null));
    });
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  async stop(timeoutMs: number): Promise<ChildExit> {
    this.#isWanted = true;
    if (!this.#isGone) this.process.kill('SIGTERM');
    const overdue = setTimeout(() => this.process.kill('SIGKILL'), timeoutMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(overdue);
    }
  }

  unref(): void {
    this.process.unref();
    (this.process.stdin as Socket | null)?.unref(); // the pipe of the guard
  }
}

function guardedCommand(guard: GuardKind, { command, args }: GuardedChildOptions): [string, string[]] {
  return guard === 'pdeathsig'
    ? [setpriv, ['--pdeathsig', 'KILL', '--', command, ...args]]
    : ['/bin/sh', ['-c', pipeGuardScript, 'guard', command, ...args]];
}

/** Of util-linux 2.33 or newer, at the same place everywhere. Named by its path: the child's PATH may be empty. */
const setpriv = '/usr/bin/setpriv';
let best: GuardKind | undefined;

function bestGuard(): GuardKind {
  best ??= spawnSync(setpriv, ['--pdeathsig', 'KILL', '--', '/bin/true']).status === 0 ? 'pdeathsig' : 'pipe';
  return best;
}
