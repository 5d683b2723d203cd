import { isatty } from 'node:tty';
import pino from 'pino';

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

/** Levels as pino numbers them. */
const infoLevel = 30;
const words: Readonly<Record<number, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' };

/**
 * A line of the JSON log as a person reads it: local time, the level where it is above "info", the message, its facts.
 * `10:02:17 warn  workspace waits: credential (workspace acme, code 4501)`. Pure, but for the time zone.
 * @param line as the log writes it, so that what the log takes out is out already
 */
export function formatLogLine(line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as { level: number; time: string; msg?: string };
  const head =
    level > infoLevel ? `${clock(new Date(time))} ${(words[level] ?? String(level)).padEnd(5)}` : clock(new Date(time));
  const pairs = Object.entries(facts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${textOf(value)}`);
  const text = `${head} ${msg ?? ''}${pairs.length === 0 ? '' : ` (${pairs.join(', ')})`}`;
  return text.replaceAll(controlCharacters, '?');
}

/** What a terminal would act upon: a text of somebody else's, such as a server's error, may hold any of it. */
const controlCharacters = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

function clock(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
