import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { BackupError } from './backup-error.js';

/** A program of this machine that is being run. */
export interface RunningTool {
  readonly child: ChildProcess;
  /**
   * Resolves when the tool has ended without an error.
   * @throws {BackupError} kind `tool` if it is not installed; `failed` with its first error line
   */
  readonly done: Promise<void>;
}

export interface Tool {
  readonly command: string;
  readonly args: readonly string[];
  readonly stdio: StdioOptions;
  /** Advice if the program is not installed. */
  readonly otherwise: string;
}

export function runTool({ command, args, stdio, otherwise }: Tool): RunningTool {
  const child = spawn(command, args, { stdio });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 4096) said += text;
  });
  const done = new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      const why = isMissing ? 'is not installed' : `cannot be started (${error.code})`;
      reject(new BackupError(isMissing ? 'tool' : 'failed', `${command} ${why}: ${otherwise}`));
    });
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const how = signal ?? `code ${code}`;
      reject(new BackupError('failed', `${command} ended with ${how}${firstProblem(said)}`));
    });
  });
  done.catch(() => undefined); // the caller handles it
  return { child, done };
}

/** Only the first line of an error, because the next ones may quote a row. */
function firstProblem(said: string): string {
  const line = said.split('\n').find((each) => /error|fatal|cannot|ERROR|FATAL/.test(each));
  return line === undefined ? '' : `: ${line.trim().slice(0, 300)}`;
}
