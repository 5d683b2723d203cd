/** What every command is given: where it writes, and what it was called with. */
export interface Context {
  /** Path of pigeonpost.yaml, as the user wrote it. */
  readonly config: string;
  /** Show the stack of an error that nobody expected. */
  readonly debug: boolean;
  readonly out: Output;
}

export interface Output {
  /** Results: standard output. */
  line(text: string): void;
  /** Progress and problems: standard error. */
  note(text: string): void;
  /** Standard output is a terminal, so that a block can be redrawn in place. */
  readonly terminal: boolean;
  readonly columns: number;
}
