import { isatty } from 'node:tty';
import pino from 'pino';

export type ProcessLog = pino.Logger;

const standardError = 2;

interface LogPlace {
  /** A file's path, or a descriptor; standard error by default. */
  readonly destination?: string | number;
  /**
   * Writes lines of text instead of JSON. By default, true if the log goes to standard error and that is a terminal.
   */
  readonly terminal?: boolean;
}

/**
 * Opens the log on standard error, because standard output belongs to the results of commands. Lines are JSON, or text
 * in a terminal. Log lines must not contain secrets or personal data, only ids, counts and our own sentences. As a
 * second safeguard, the values of fields that could hold either are replaced.
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

/** The number of pino's level "info". */
const infoLevel = 30;
const words: Readonly<Record<number, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' };

/**
 * Formats a line of the JSON log for a person: local time, the level if it is above "info", the message, its facts.
 * `10:02:17 warn workspace waits: credential (workspace acme, code 4501)`. Pure, except for the time zone.
 * @param line as the log writes it, in which those values are already replaced
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

/** Characters that a terminal would interpret. Text from elsewhere, such as a server's error, may contain them. */
const controlCharacters = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

function clock(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
