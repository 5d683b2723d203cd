import pino from 'pino';

export type ProcessLog = pino.Logger;

/**
 * JSON lines on standard error, one an event of interest: standard output belongs to what a command prints. Nothing
 * here may carry secrets or personal data; what is logged are ids, counts and sentences of our own. As a second net,
 * members that could hold either are taken out wherever they stand.
 */
export function openLog(level: string, destination?: string): ProcessLog {
  const names = ['apiKey', 'token', 'secret', 'password', 'payload', 'data', 'items', 'email', 'attendeeCode'];
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: names.filter((name) => name !== 'items').flatMap((name) => [name, `*.${name}`]), censor: '[taken out]' },
    },
    pino.destination({ dest: destination ?? 2, sync: true }),
  );
}
