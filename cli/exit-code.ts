/** Exit codes of commands. Other programs rely on these numbers. */
export const ExitCode = {
  Done: 0,
  Failed: 1,
  /** Wrong usage, or an invalid configuration. */
  WrongUse: 2,
  /** The service, the store or Temporal cannot be reached. */
  Unreachable: 3,
  NotFound: 4,
  /** The command finished, but there are rejected rows or dead letters. */
  DoneWithRejects: 5,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends a command with a message on standard error and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function wrongUse(message: string, options?: ErrorOptions): CommandError {
  return new CommandError(ExitCode.WrongUse, message, options);
}
