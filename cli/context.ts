/** The environment of a command: its output and the global options. */
export interface Context {
  /** Path of pigeonpost.yaml, as the user wrote it. */
  readonly config: string;
  /** Address of a running pigeonpost, instead of that of `config`. */
  readonly url?: string | undefined;
  /** API token for `url`. */
  readonly token?: string | undefined;
  /** Print the stack trace of an unexpected error. */
  readonly debug: boolean;
  readonly out: Output;
}

export interface Output {
  /** Results: standard output. */
  line(text: string): void;
  /** Progress and problems: standard error. */
  note(text: string): void;
  /** Writes to standard output unchanged, for a block that is redrawn in place. Only if `terminal` is true. */
  draw(text: string): void;
  /** Standard output is a terminal, so that a block can be redrawn in place. */
  readonly terminal: boolean;
  /** The terminal shows colours and NO_COLOR is not set. */
  readonly colours: boolean;
  /** Current width of the terminal, which can be resized; 80 if there is none. */
  readonly columns: number;
  /** Current height of the terminal; 24 if there is none. */
  readonly rows: number;
}
