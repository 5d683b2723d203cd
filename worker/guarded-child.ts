import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * How a child is stopped when this process ends:
 * - `pdeathsig`: Linux; the kernel kills it when the thread that started it ends
 * - `pipe`: anywhere with /bin/sh; a watcher kills it when the pipe to this process breaks
 */
export type GuardKind = 'pdeathsig' | 'pipe';

export interface GuardedChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The child's complete environment; by default, this process's environment, which contains secrets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** File to which standard output and standard error are appended; by default, both are discarded. */
  readonly logFile?: string;
  /** Called once when the child has ended. `isWanted` is true if `stop` was called before. */
  readonly onExit?: (exit: ChildExit) => void;
  /** By default, the best guard that this machine supports; tests choose one. */
  readonly guard?: GuardKind;
}

export interface ChildExit {
  /** Exit code; null if a signal ended the child, -1 if it could not be started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isWanted: boolean;
}

export interface GuardedChild {
  /** Process id of the command; undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly guard: GuardKind;
  /** Resolves when it has ended. */
  readonly exited: Promise<ChildExit>;
  /**
   * Sends SIGTERM, kills it after `timeoutMs`, and resolves when it has ended. A second call waits for the same end.
   */
  stop(timeoutMs: number): Promise<ChildExit>;
  /** Lets this process end while the child runs. The guard then kills the child. */
  unref(): void;
}

/**
 * The watcher reads a pipe that only this process holds. End of file means that this process has ended. The watcher
 * then kills its own parent, which is the command (`exec` keeps the process id). A line on the pipe means that the
 * command ended first. The watcher then must not kill anything, because the process id may be in use again.
 */
const pipeGuardScript = `
umask 077
exec 3<&0
(if read -r _; then :; else kill -KILL $$; fi) <&3 3<&- >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-
`;

/**
 * The kernel reports the end of a parent only to a child that has already requested it. So the child checks, after that
 * request, whether its parent had ended before. It then has another parent. The shell must add no variables of its own.
 */
const pdeathsigGuardScript = `
[ "$PPID" = "$1" ] || exit 1
shift
umask 077
unset PWD OLDPWD
exec "$@"
`;

/**
 * Starts a program that ends when this process does, even by SIGKILL. It runs in its own session, so that Ctrl-C
 * reaches only this process, which then stops the program as part of its own shutdown. The guard is necessary because
 * Temporal's development server survives its parent, and a second server on the same file would start as well.
 *
 * The child inherits no descriptors except its input and output, so it never holds a folder's lock. Only this user can
 * read the files that it creates. Call this on the main thread: the kernel's guard watches the thread that started the child.
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
    if (typeof log === 'number') closeSync(log); // the child has its own copy
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
    process.stdin?.on('error', () => undefined); // the watcher may be killed with the child
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
  const shell = (script: string, ...given: string[]): string[] => ['/bin/sh', '-c', script, 'guard', ...given];
  const [program, ...rest] =
    guard === 'pdeathsig'
      ? [setpriv, '--pdeathsig', 'KILL', '--', ...shell(pdeathsigGuardScript, String(process.pid), command, ...args)]
      : shell(pipeGuardScript, command, ...args);
  return [program!, rest];
}

/**
 * From util-linux 2.33 or newer, at the same path everywhere. An absolute path, because the child's PATH may be empty.
 */
const setpriv = '/usr/bin/setpriv';
let best: GuardKind | undefined;

function bestGuard(): GuardKind {
  best ??= spawnSync(setpriv, ['--pdeathsig', 'KILL', '--', '/bin/true']).status === 0 ? 'pdeathsig' : 'pipe';
  return best;
}
