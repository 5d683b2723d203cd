import { isatty } from 'node:tty';
import pino from 'pino';
import { formatLogLine } from './format-log-line.js';

export type ProcessLog = pino.Logger;

const standardError = 2;

export interface LogPlace {
  /** A file's path, or a descriptor; standard error by default. */
  readonly destination?: string | number;
  /** A person reads along: lines of text instead of JSON. By default, when standard error is a terminal. */
  readonly terminal?: boolean;
}

/**
 * A line an event of interest on standard error: standard output belongs to what a command prints. JSON, which other
 * programs read; text in a terminal, where JSON would drown what the command says. Nothing here may carry secrets or
 * personal data; what is logged are ids, counts and sentences of our own. As a second net, members that could hold
 * either are taken out wherever they stand.
 */
export function openLog(
  level: string,
  { destination = standardError, terminal = destination === standardError && isatty(standardError) }: LogPlace = {},
): ProcessLog {
  const names = ['apiKey', 'token', 'secret', 'password', 'payload', 'data', 'email', 'attendeeCode'];
  const out = pino.destination({ dest: destination, sync: true });
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: names.flatMap((name) => [name, `*.${name}`]), censor: '[taken out]' },
    },
    terminal ? { write: (line: string) => void out.write(`${formatLogLine(line)}\n`) } : out,
  );
}
