import { open } from 'node:fs/promises';
import { CommandError, ExitCode } from './exit-code.js';

/** So much of a log's end is looked at, and so many lines are kept. */
const mostBytes = 1024 * 1024;
const mostLines = 50;
const warning = 40; // pino's number

export interface LogLine {
  readonly time: string;
  readonly level: 'warn' | 'error';
  readonly event: string;
  /** Ids, counts, outcomes: what stands beside the event. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
}

/** The latest warnings and errors of a log that `start` has written, oldest first. Lines that are none of its own are left out. */
export async function latestTroublesOfLog(path: string): Promise<LogLine[]> {
  return (await endOf(path))
    .split('\n')
    .flatMap((line) => troubleIn(line) ?? [])
    .slice(-mostLines);
}

async function endOf(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const length = Math.min(size, mostBytes);
    const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: size - length });
    return buffer.toString('utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CommandError(
      ExitCode.WrongUse,
      `the log cannot be read (${code}): name the file that "start" writes to`,
      {
        cause: error,
      },
    );
  }
}

function troubleIn(line: string): LogLine | undefined {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined; // a line of another program, or one that the beginning of what is looked at has cut
  }
  const { level, time, msg, ...rest } = entry;
  if (typeof level !== 'number' || level < warning || typeof msg !== 'string') return undefined;
  const facts = Object.entries(rest).filter(
    (each): each is [string, string | number | boolean | null] => typeof each[1] !== 'object' || each[1] === null,
  );
  return {
    time: typeof time === 'string' ? time : '',
    level: level > warning ? 'error' : 'warn',
    event: msg,
    facts: Object.fromEntries(facts),
  };
}
