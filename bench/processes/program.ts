import { closeSync, openSync, readSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { type GuardedChild, startGuardedChild } from '../../worker/guarded-child.js';
import { builtProgram } from '../../base/package-root.js';
import { setTimeout as pause } from 'node:timers/promises';

interface ProgramOptions {
  /** Path in the build without `dist` and suffix, such as `cli/main`. With a `command`, any file. */
  readonly program: string;
  /** Folder with another build of the package; its own by default. */
  readonly dist?: string | undefined;
  /** Program that runs the file; Node.js by default. */
  readonly command?: string;
  readonly args: readonly string[];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** File for its output. */
  readonly logFile: string;
  /** Arguments for Node.js before the program. */
  readonly nodeArgs?: readonly string[];
}

/** A program of this package in its own process, started as a user would. It always ends with this process. */
export class Program {
  readonly pid: number;
  readonly #child: GuardedChild;
  readonly #options: ProgramOptions;
  readonly #lines: string[] = [];
  readonly #decoder = new StringDecoder('utf8'); // a read may end within a character
  #offset = 0;
  #rest = '';
  #ended: string | undefined;

  constructor(options: ProgramOptions) {
    const { program, command, dist, args, env, cwd, logFile, nodeArgs = [] } = options;
    const file = (): string => (dist === undefined ? builtProgram(program) : join(dist, `${program}.js`));
    this.#options = options;
    this.#child = startGuardedChild({
      command: command ?? process.execPath,
      args: command === undefined ? [...nodeArgs, file(), ...args] : [program, ...args],
      env,
      cwd,
      logFile,
      onExit: ({ code, signal }) => {
        this.#ended = signal ?? `exit code ${code}`;
      },
    });
    if (this.#child.pid === undefined) throw new Error(`${program} could not be started`);
    this.pid = this.#child.pid;
  }

  /** Returns the complete lines printed so far. */
  lines(): readonly string[] {
    const lines = (this.#rest + this.#readOn()).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines);
    return this.#lines;
  }

  /**
   * Waits until `look` returns a value for the printed lines.
   * @throws if the program ends earlier or after `timeoutMs`; the message contains the path of its log
   */
  async until<T>(what: string, look: (lines: readonly string[]) => T | undefined, timeoutMs: number): Promise<T> {
    return await waitUntil(
      `${this.#options.program} ${what} (log: ${this.#options.logFile})`,
      () => {
        const ended = this.#ended; // read before the lines, so that the last lines are not missed
        const found = look(this.lines());
        if (found === undefined && ended !== undefined) {
          throw new Error(this.#whyEnded(ended));
        }
        return found;
      },
      timeoutMs,
    );
  }

  /** Waits for the first line that matches. */
  async lineLike(pattern: RegExp, timeoutMs = 60_000): Promise<RegExpExecArray> {
    const match = (lines: readonly string[]): RegExpExecArray | undefined =>
      lines.map((line) => pattern.exec(line)).find((found) => found !== null);
    return await this.until(`says ${pattern}`, match, timeoutMs);
  }

  /** Waits until it has exited. @throws if the exit code is not 0 */
  async ended(timeoutMs: number): Promise<void> {
    const how = await waitUntil(`${this.#options.program} ends`, () => this.#ended, timeoutMs);
    if (how !== 'exit code 0') throw new Error(this.#whyEnded(how));
  }

  /**
   * Waits for the result of a program that measures itself, which it prints as JSON after the word `measured`, and until
   * it has exited.
   */
  async measured<T>(timeoutMs: number): Promise<T> {
    const [, json] = await this.lineLike(/^measured (.+)$/, timeoutMs);
    await this.ended(60_000);
    return JSON.parse(json!) as T;
  }

  /** Stops it, cleanly if that takes at most ten seconds. */
  async stop(): Promise<void> {
    await this.#child.stop(10_000);
  }

  #whyEnded(how: string): string {
    return `${this.#options.program} ended with ${how}; its last line of output: ${this.lines().at(-1) ?? 'nothing'}`;
  }

  #readOn(): string {
    const file = openSync(this.#options.logFile, 'r');
    try {
      const chunk = Buffer.alloc(64 * 1024);
      let text = '';
      for (let length = -1; length !== 0; this.#offset += length) {
        length = readSync(file, chunk, 0, chunk.length, this.#offset);
        text += this.#decoder.write(chunk.subarray(0, length));
      }
      return text;
    } finally {
      closeSync(file);
    }
  }
}

/** Linux clock ticks per second, the same on every architecture that Node supports (sysconf(_SC_CLK_TCK)). */
const ticksPerSecond = 100;
/** Maximum number of reads if children start or exit in the meantime. */
const maxAttempts = 10;

/** Returns the CPU seconds of a process since its start, including threads. @throws if /proc lacks the process */
export function cpuSecondsOf(pid: number): number {
  return cpuTimes(pid).own;
}

/** Returns the peak resident memory of a process. @throws if /proc lacks the process */
export function peakRssMbOf(pid: number): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(line?.[1]) / 1024;
}

/** Returns the CPU seconds of a process and all its children. The connections of PostgreSQL are processes. */
export function cpuSecondsOfFamily(pid: number): number {
  // If a child exits during the read, the next attempt counts it with its parent.
  for (let attempts = 1; ; attempts += 1) {
    try {
      return lookAtFamily(pid);
    } catch (error) {
      if (attempts === maxAttempts) throw error;
    }
  }
}

function lookAtFamily(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  );
  const { own, ofEndedChildren } = cpuTimes(pid);
  return children.reduce((sum, child) => sum + cpuTimes(child).own, own + ofEndedChildren);
}

function cpuTimes(pid: number): { own: number; ofEndedChildren: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the name in brackets, which may contain anything. All others are separated by spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: (user + system) / ticksPerSecond, ofEndedChildren: (childUser + childSystem) / ticksPerSecond };
}

/** Interval of checks, long enough not to affect the measurement. All instants come from logs and rows. */
const lookEveryMs = 50;

/**
 * Waits until `look` returns a value, and returns it.
 * @throws if it returns undefined for `timeoutMs`; the message contains `what`
 */
export async function waitUntil<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  timeoutMs: number,
): Promise<T> {
  for (const end = Date.now() + timeoutMs; ;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`timed out after ${timeoutMs / 1000} s: waiting until ${what}`);
    await pause(lookEveryMs);
  }
}
