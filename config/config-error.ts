/** One problem in pigeonpost.yaml. It contains no secret: it names the variable or file of a value, never the value. */
export interface Problem {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The key with its parents, e.g. `syncs.conferences.every.live`; empty for the file as a whole. */
  readonly key: string;
  /** States what was found and what is allowed, or what to do. One sentence without a full stop. */
  readonly message: string;
  /** Whether the problem is a reference that this process cannot resolve but another process may. */
  readonly isUnresolved?: boolean;
}

/**
 * `missing`, `unreadable` and `empty` concern the file itself; `syntax`: the file is not YAML; `invalid`: it contains a
 * key or a value that is not allowed.
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
