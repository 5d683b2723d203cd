import { setTimeout as pause } from 'node:timers/promises';
import { type ChildExit, type GuardedChildOptions, startGuardedChild } from '../../worker/guarded-child.js';
import { builtProgram } from '../../base/package-root.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

const lookEveryMs = 100;

export interface DemoChildOptions {
  /** Name in messages, e.g. `the sandbox`. */
  readonly name: string;
  /** Path in the build output, e.g. `sandbox/main`. */
  readonly program: string;
  readonly args: readonly string[];
  /**
   * Variables that are added to this process's environment for the child. If absent, the child gets an empty
   * environment, because it needs no secrets.
   */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly logFile: string;
}

/** A process of the demo. It always ends when this process ends. If it ends unexpectedly, one sentence says why. */
export interface DemoChild {
  /** Never resolves; rejects with a {CommandError} if the child ends unexpectedly. */
  readonly failed: Promise<never>;
  /** Waits for the next line of its output that matches. Returns the first group, or the match. @throws as `failed` */
  matchIn(pattern: RegExp): Promise<string>;
  /** The last readable line, or the last step of its start, seen while `matchIn` was waiting. */
  readonly lastLine: string | null;
  /** Ends the child in order, or by force if it does not end within the time. */
  stop(timeoutMs: number): Promise<void>;
}

export function startDemoChild(options: DemoChildOptions): DemoChild {
  const { name, logFile } = options;
  const tail = new LogTail(logFile);
  let lastLine: string | null = null;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined); // an unhandled rejection must not end the process
  const child = startGuardedChild({
    ...commandOf(options),
    logFile,
    onExit: (exit) => {
      if (!exit.isWanted) fail(new CommandError(ExitCode.Failed, whyEnded(name, exit, new LogTail(logFile), logFile)));
    },
  });
  return {
    failed,
    get lastLine() {
      return lastLine;
    },
    async matchIn(pattern) {
      for (;;) {
        for (const line of tail.newLines()) {
          const match = pattern.exec(line);
          if (match !== null) return match[1] ?? match[0];
          lastLine = textForPeople(line) ?? lastLine;
        }
        await Promise.race([pause(lookEveryMs), failed]);
      }
    },
    stop: async (timeoutMs) => void (await child.stop(timeoutMs)),
  };
}

/**
 * Adds variables with the program `env`, because this folder does not read the environment. The variables are visible
 * in the process list until `env` starts the program. That is acceptable, because the demo's secrets give access only
 * to the demo.
 */
function commandOf({
  program,
  args,
  variables,
}: DemoChildOptions): Pick<GuardedChildOptions, 'command' | 'args' | 'env'> {
  const own = [builtProgram(program), ...args];
  if (variables === undefined) return { command: process.execPath, args: own, env: {} };
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return { command: '/usr/bin/env', args: [...assignments, process.execPath, ...own] };
}

/**
 * Returns a line written for people, or the message of a log line with the step `start`. Null for other log lines
 * (JSON), lines of Temporal, which start with a time, and lines of a stack trace.
 */
function textForPeople(line: string): string | null {
  if (/^[^\s{\d]/.test(line)) return line;
  if (!line.startsWith('{') || !line.includes('"step":')) return null;
  const { step, msg } = JSON.parse(line) as { readonly step?: unknown; readonly msg?: unknown };
  return step === 'start' && typeof msg === 'string' ? msg : null;
}

/** Returns a sentence with the reason why a child ended. Programs print the reason last, as `<program>: <sentence>`. */
function whyEnded(name: string, { code, signal }: ChildExit, log: LogTail, logFile: string): string {
  const said = log.newLines().findLast((line) => /^[a-z-]+: \S/.test(line));
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const why = said?.replace(/^[a-z-]+: /, '');
  return why === undefined ? `${name} ended ${how}: see ${logFile}` : `${name} ended ${how}: ${why} (log: ${logFile})`;
}

/** Reads new lines of a child's log. */
export class LogTail {
  readonly #decoder = new StringDecoder('utf8'); // a read may end within a character
  #offset = 0;
  #rest = '';

  constructor(private readonly file: string) {}

  /** Returns the lines completed since the last call; none while the file does not exist. */
  newLines(): string[] {
    const lines = (this.#rest + this.#read()).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  #read(): string {
    let descriptor: number;
    try {
      descriptor = openSync(this.file, 'r');
    } catch {
      return '';
    }
    try {
      const chunk = Buffer.alloc(64 * 1024);
      let text = '';
      for (let length = -1; length !== 0; this.#offset += length) {
        length = readSync(descriptor, chunk, 0, chunk.length, this.#offset);
        text += this.#decoder.write(chunk.subarray(0, length));
      }
      return text;
    } finally {
      closeSync(descriptor);
    }
  }
}
