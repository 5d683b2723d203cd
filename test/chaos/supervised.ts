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
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Gets what it prints, over all its lives. */
  readonly logFile: string;
  /** Output that shows that it is ready. */
  readonly ready: RegExp;
}

/** Delay before a program that exited is started again, as by a service manager. */
const restartAfterMs = 500;

/**
 * A program of the build that is kept running: after a kill or an exit it is started again with the same arguments.
 * It ends with this process, however that ends.
 */
export class Supervised {
  /** Its last line at each unexpected exit. */
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

  /** Its output since its latest start; empty while it is being killed. */
  output(): string {
    if (this.#child === undefined || this.#wasKilled) return '';
    return readFileSync(this.options.logFile).subarray(this.#logStart).toString();
  }

  /** Waits until a program that was just started says that it is ready. */
  async untilReady(): Promise<RegExpExecArray> {
    const { ready, program, logFile } = this.options;
    await until(`${program} says ${ready} (log: ${logFile})`, () => ready.test(this.output()));
    return ready.exec(this.output())!;
  }

  /** SIGKILL; it is started again after so long. Nothing while it is down already. */
  kill(startAgainAfterMs: number): void {
    this.#restartAfterMs = startAgainAfterMs;
    this.#wasKilled = true;
    killNow(this.#child?.pid);
  }

  /**
   * SIGSTOP, and SIGCONT after so long, unless it was killed meanwhile.
   * @returns whether a process that was ready was stopped for the whole time, and continued
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

  /** SIGTERM, and SIGKILL after fifteen seconds. @returns its exit code; null where a signal ended it */
  async stop(): Promise<number | null> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const exit = await this.#child?.stop(15_000);
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
    // it was killed meanwhile
  }
}

function sizeOf(file: string): number {
  try {
    return readFileSync(file).length;
  } catch {
    return 0; // not written yet
  }
}
