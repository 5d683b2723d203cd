/** What every command is given: where it writes, and what it was called with. */
export interface Context {
  /** Path of pigeonpost.yaml, as the user wrote it. */
  readonly config: string;
  /** Where another pigeonpost than the one of `config` is asked. */
  readonly url?: string | undefined;
  /** Of that one. */
  readonly token?: string | undefined;
  /** Show the stack of an error that nobody expected. */
  readonly debug: boolean;
  readonly out: Output;
}

export interface Output {
  /** Results: standard output. */
  line(text: string): void;
  /** Progress and problems: standard error. */
  note(text: string): void;
  /** Standard output as it is, for a block that is redrawn in place. Only where `terminal` is true. */
  draw(text: string): void;
  /** Standard output is a terminal, so that a block can be redrawn in place. */
  readonly terminal: boolean;
  /** The terminal shows colours and nobody has asked for none (NO_COLOR). */
  readonly colours: boolean;
  /** Of the terminal as it is now: a window can be resized. 80 where there is none. */
  readonly columns: number;
  /** As `columns`; 24 where there is none. */
  readonly rows: number;
}
