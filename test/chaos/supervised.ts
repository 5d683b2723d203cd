import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startGuardedChild, type GuardedChild } from '../../worker/guarded-child.js';
import { builtProgram } from '../../base/package-root.js';
import { killNow } from '../kit/processes.js';
import { until } from '../until.js';

export interface SupervisedOptions {
  /** Path in the build, such as `cli/main`. */
  readonly program: string;
  readonly args: readonly string[];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** File for the output of all of its runs. */
  readonly logFile: string;
  /** Output that indicates readiness. */
  readonly ready: RegExp;
}

/** Delay before an exited program is restarted, as a service manager does. */
const restartAfterMs = 500;

/**
 * Keeps a program of the build running: restarts it with the same arguments after a kill or an exit. It always ends
 * with this process.
 */
export class Supervised {
  /** The last line of output at each unexpected exit. */
  readonly falls: string[] = [];
  #child: GuardedChild | undefined;
  #logStart = 0;
  #restartAfterMs = restartAfterMs;
  #wasKilled = false;
  #isStopping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: SupervisedOptions) {
    this.#start();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Returns the output since the latest start; empty while it is being killed. */
  output(): string {
    if (this.#child === undefined || this.#wasKilled) return '';
    return readFileSync(this.options.logFile).subarray(this.#logStart).toString();
  }

  /** Waits until a newly started program reports that it is ready. */
  async untilReady(): Promise<RegExpExecArray> {
    const { ready, program, logFile } = this.options;
    await until(`${program} says ${ready} (log: ${logFile})`, () => ready.test(this.output()));
    return ready.exec(this.output())!;
  }

  /** Sends SIGKILL, and restarts it after `startAgainAfterMs`. Does nothing if it is already down. */
  kill(startAgainAfterMs: number): void {
    this.#restartAfterMs = startAgainAfterMs;
    this.#wasKilled = true;
    killNow(this.#child?.pid);
  }

  /**
   * Sends SIGSTOP, and SIGCONT after `forMs` unless the process was killed in the meantime.
   * @returns whether a ready process was stopped for the whole time and continued
   */
  async standStill(forMs: number): Promise<boolean> {
    const child = this.#child;
    if (child?.pid === undefined) return false;
    const wasReady = this.options.ready.test(this.output());
    signal(child.pid, 'SIGSTOP');
    await pause(forMs);
    if (this.#child !== child) return false;
    signal(child.pid, 'SIGCONT');
    return wasReady;
  }

  /** Sends SIGTERM, and SIGKILL after two minutes. @returns the exit code; null if a signal ended it */
  async stop(): Promise<number | null> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const exit = await this.#child?.stop(120_000);
    return exit?.code ?? null;
  }

  #start(): void {
    const { program, args, env, cwd, logFile } = this.options;
    this.#logStart = sizeOf(logFile);
    this.#wasKilled = false;
    this.#child = startGuardedChild({
      command: process.execPath,
      args: [builtProgram(program), ...args],
      env,
      cwd,
      logFile,
      onExit: () => this.#restart(),
    });
  }

  #restart(): void {
    if (this.#isStopping) return;
    if (!this.#wasKilled) this.falls.push(this.output().trimEnd().split('\n').at(-1) ?? '');
    const afterMs = this.#wasKilled ? this.#restartAfterMs : restartAfterMs;
    this.#child = undefined;
    this.#timer = setTimeout(() => this.#start(), afterMs);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it was killed in the meantime
  }
}

function sizeOf(file: string): number {
  try {
    return readFileSync(file).length;
  } catch {
    return 0; // not written yet
  }
}
