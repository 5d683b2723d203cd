import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { type GuardedChild, startGuardedChild } from '../../worker/guarded-child.js';
import { builtProgram } from '../../base/package-root.js';
import { waitUntil } from './wait-until.js';

export interface ProgramOptions {
  /** Path in the build without `dist` and suffix, such as `cli/main`; with a `command`, any file. */
  readonly program: string;
  /** Program that runs the file; Node.js by default. */
  readonly command?: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Gets what it prints. */
  readonly logFile: string;
  /** For Node.js itself, before the program. */
  readonly nodeArgs?: readonly string[];
}

/** A program of this package as a process of its own, started as a user starts it. It ends with us, however we end. */
export class Program {
  readonly pid: number;
  readonly #child: GuardedChild;
  readonly #options: ProgramOptions;
  readonly #lines: string[] = [];
  readonly #decoder = new StringDecoder('utf8'); // a character may be cut where a read ends
  #offset = 0;
  #rest = '';
  #ended: string | undefined;

  constructor(options: ProgramOptions) {
    const { program, command, args, env, cwd, logFile, nodeArgs = [] } = options;
    this.#options = options;
    this.#child = startGuardedChild({
      command: command ?? process.execPath,
      args: command === undefined ? [...nodeArgs, builtProgram(program), ...args] : [program, ...args],
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

  /** Whole lines that it has printed so far. */
  lines(): readonly string[] {
    const lines = (this.#rest + this.#readOn()).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines);
    return this.#lines;
  }

  /**
   * Waits until `look` finds in its lines what it looks for.
   * @throws when the program ends before, or `timeoutMs` pass; the sentence names its log
   */
  async until<T>(what: string, look: (lines: readonly string[]) => T | undefined, timeoutMs: number): Promise<T> {
    return await waitUntil(
      `${this.#options.program} ${what} (log: ${this.#options.logFile})`,
      () => {
        const ended = this.#ended; // before the lines: what it printed last must not be missed
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

  /** Ends it, in order if that takes no longer than ten seconds. */
  async stop(): Promise<void> {
    await this.#child.stop(10_000);
  }

  #whyEnded(how: string): string {
    return `${this.#options.program} ended by ${how}, and said last: ${this.lines().at(-1) ?? 'nothing'}`;
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
