import { setTimeout as pause } from 'node:timers/promises';
import { type ChildExit, type GuardedChildOptions, startGuardedChild } from '../../worker/guarded-child.js';
import { builtProgram } from '../../base/package-root.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

const lookEveryMs = 100;

interface DemoChildOptions {
  /** As a person calls it, e.g. `the sandbox`. */
  readonly name: string;
  /** Path in the build output, e.g. `sandbox/main`. */
  readonly program: string;
  readonly args: readonly string[];
  /** With these it has our environment and them; without, none at all, since it needs none of our secrets. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly logFile: string;
}

/** A process of the demo: ends with us however we end, and reports in one sentence why it ended unexpectedly. */
export interface DemoChild {
  /** Never resolves; rejects with a {CommandError} when the child ends unasked. */
  readonly failed: Promise<never>;
  /** Waits for the first line of its output that matches, from the last one read. @throws as `failed` */
  lineLike(pattern: RegExp): Promise<RegExpExecArray>;
  /** The last line that it wrote for a person, or the last step of its start, while `lineLike` was waiting. */
  readonly lastLine: string | null;
  /** Ends it, in order if that takes no longer. */
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
  failed.catch(() => undefined); // a rejection that is not awaited must not end the process
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
    async lineLike(pattern) {
      for (;;) {
        for (const line of tail.newLines()) {
          const match = pattern.exec(line);
          if (match !== null) return match;
          lastLine = textForPeople(line) ?? lastLine;
        }
        await Promise.race([pause(lookEveryMs), failed]);
      }
    },
    stop: async (timeoutMs) => void (await child.stop(timeoutMs)),
  };
}

/**
 * `env` adds variables to what it inherits, and this room does not read the environment. They are seen in a list of
 * processes for the instant before it becomes the program; those of the demo open nothing but the demo.
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
 * A line that is written for a person, or a step of a start, which the log has with `step`. Null: another line of the log,
 * which is JSON, one of Temporal's, which begins with a time, or one of a stack.
 */
function textForPeople(line: string): string | null {
  if (/^[^\s{\d]/.test(line)) return line;
  if (!line.startsWith('{') || !line.includes('"step":')) return null;
  const { step, msg } = JSON.parse(line) as { readonly step?: unknown; readonly msg?: unknown };
  return step === 'start' && typeof msg === 'string' ? msg : null;
}

/** Programs here say why they end as `<program>: <sentence>`, last of all. */
function whyEnded(name: string, { code, signal }: ChildExit, log: LogTail, logFile: string): string {
  const said = log.newLines().findLast((line) => /^[a-z-]+: \S/.test(line));
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const why = said?.replace(/^[a-z-]+: /, '');
  return why === undefined ? `${name} ended ${how}: see ${logFile}` : `${name} ended ${how}: ${why} (log: ${logFile})`;
}

/** Reads what a child appends to its log, line by line. */
export class LogTail {
  readonly #file: string;
  readonly #decoder = new StringDecoder('utf8'); // a character may be cut where a read ends
  #offset = 0;
  #rest = '';

  constructor(file: string) {
    this.#file = file;
  }

  /** The lines that were completed since the last call; none while there is no such file. */
  newLines(): string[] {
    const lines = (this.#rest + this.#read()).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  #read(): string {
    let descriptor: number;
    try {
      descriptor = openSync(this.#file, 'r');
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
