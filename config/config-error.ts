/** One problem in pigeonpost.yaml. Contains no secret: values from the environment are named, never shown. */
export interface Problem {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The key with its parents, e.g. `syncs.conferences.every.live`; empty for the file as a whole. */
  readonly key: string;
  /** States what was found and what is allowed, or what to do. One sentence without a full stop. */
  readonly message: string;
  /** A reference that this process cannot resolve; another process may. */
  readonly isUnresolved?: boolean;
}

/**
 * `missing`, `unreadable` or `empty`: the file; `syntax`: it is not YAML; `invalid`: it contains something that is not
 * allowed.
 */
export type ConfigErrorKind = 'missing' | 'unreadable' | 'empty' | 'syntax' | 'invalid';

/** Problems listed in a message; a large file can have tens of thousands. */
const maxListed = 100;

/**
 * pigeonpost.yaml cannot be used. The message has one line per problem, `file:line: key: problem and fix`, in the order
 * of the file. Commands exit with code 2.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly kind: ConfigErrorKind,
    readonly file: string,
    readonly problems: readonly Problem[],
    { message = formatProblems(file, problems), cause }: { readonly message?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
  }
}

function formatProblems(file: string, problems: readonly Problem[]): string {
  const lines = problems.slice(0, maxListed).map((problem) => formatProblem(file, problem));
  const left = problems.length - lines.length;
  return left === 0 ? lines.join('\n') : [...lines, `${file}: ${left} more problems are not listed`].join('\n');
}

/** Formats a problem as one line; editors and terminals turn `file:line` into a link. */
export function formatProblem(file: string, { line, key, message }: Problem): string {
  return key === '' ? `${file}:${line}: ${message}` : `${file}:${line}: ${key}: ${message}`;
}
