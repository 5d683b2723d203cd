/** Exit codes of commands. Other programs rely on these numbers. */
export const ExitCode = {
  Done: 0,
  Failed: 1,
  /** Wrong use, or a configuration that cannot be used. */
  WrongUse: 2,
  /** The service, the store or Temporal cannot be reached. */
  Unreachable: 3,
  NotFound: 4,
  /** Finished, but with rejected rows or dead letters. */
  DoneWithRejects: 5,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends a command with a sentence on standard error and this exit code. */
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
