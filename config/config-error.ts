/** One thing to mend in pigeonpost.yaml. Holds no secret: values from the environment are named, never shown. */
export interface Problem {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The key with its parents, e.g. `syncs.conferences.every.live`; empty when the file as a whole is meant. */
  readonly key: string;
  /** What was found and what is allowed, or what to do. One sentence without a full stop. */
  readonly message: string;
  /** A reference that this process cannot fill; another one may. */
  readonly isUnresolved?: boolean;
}

/** `missing` and `unreadable`: the file; `empty`: nothing stands in it; `syntax`: it is not YAML; `invalid`: what stands in it is not allowed. */
export type ConfigErrorKind = 'missing' | 'unreadable' | 'empty' | 'syntax' | 'invalid';

/** A message lists no more problems than a person would read; a large file can have tens of thousands. */
const maxListed = 100;

/**
 * pigeonpost.yaml cannot be used. The message has a line for each problem, `file:line: key: what and what to do`, in the
 * order of the file, so that all can be mended at once. Commands end with exit code 2.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly kind: ConfigErrorKind,
    readonly file: string,
    readonly problems: readonly Problem[],
    message: string = formatProblems(file, problems),
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

function formatProblems(file: string, problems: readonly Problem[]): string {
  const lines = problems.slice(0, maxListed).map((problem) => formatProblem(file, problem));
  const left = problems.length - lines.length;
  return left === 0 ? lines.join('\n') : [...lines, `${file}: ${left} more problems are not listed`].join('\n');
}

/** A problem as a line for a person; editors and terminals make `file:line` a link. */
export function formatProblem(file: string, { line, key, message }: Problem): string {
  return key === '' ? `${file}:${line}: ${message}` : `${file}:${line}: ${key}: ${message}`;
}
