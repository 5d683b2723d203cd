import { ConfigError, formatProblem } from '../config/config-error.js';
import type { Config } from '../config/config.js';

/** A mistake in the file of a running process, with which its next start would fail. */
export interface UnusableFile {
  /** The line of the first problem; null: the file as a whole cannot be read. */
  readonly line: number | null;
  readonly problems: number;
  /** The first problem as `file:line: key: message`. It names the variable or file of a secret, never its value. */
  readonly text: string;
  /** The instant at which this process noticed it. */
  readonly since: Date;
}

/**
 * Loads the file of a running process, and watches it. The process keeps the configuration that it loaded, so without
 * this watch, a mistake in the file would be noticed only when the next start fails.
 */
export class ConfigurationFile {
  #unusable: UnusableFile | null = null;

  /** @param read loads the file as it is now */
  constructor(
    private readonly read: () => Promise<Config>,
    private readonly now: () => number,
  ) {}

  /** The mistake that the last load found; null: none. */
  get unusable(): UnusableFile | null {
    return this.#unusable;
  }

  /**
   * Loads the file, and notes whether it has a mistake.
   * @throws as `read`
   */
  async load(): Promise<Config> {
    try {
      const config = await this.read();
      this.#unusable = null;
      return config;
    } catch (error) {
      if (error instanceof ConfigError) this.#note(error);
      throw error;
    }
  }

  /** Loads the file only to notice a mistake in it. */
  async look(): Promise<void> {
    try {
      await this.load();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
    }
  }

  #note(error: ConfigError): void {
    // A start may have variables and files that this process cannot see.
    const problems = error.problems.filter(({ isUnresolved }) => isUnresolved !== true);
    const [first] = problems;
    this.#unusable =
      first === undefined
        ? null
        : {
            line: error.kind === 'missing' || error.kind === 'unreadable' ? null : first.line,
            problems: problems.length,
            text: formatProblem(error.file, first),
            since: this.#unusable?.since ?? new Date(this.now()),
          };
  }
}
