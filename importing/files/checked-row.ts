/** A registrant as it is sent: texts under field names, in the order of the columns. */
export interface Profile {
  readonly attendeeCode: string;
  readonly [field: string]: string;
}

/** What is wrong with a cell: the row is not sent. */
export type ProblemCode =
  | 'missing-code'
  | 'duplicate-code'
  | 'duplicate-row' // of a file whose codes are generated
  | 'empty-name'
  | 'control-character'
  | 'too-long'
  | 'no-email-address'
  | 'too-few-cells'
  | 'too-many-cells'
  | 'error-cell'
  | 'date-in-code'
  | 'digits-lost'
  | 'nested-value'
  | 'not-an-object'
  | 'late-field';

/** What a person should know of a cell that is sent. */
export type NoteCode = 'trimmed' | 'apostrophe-removed' | 'similar-code' | 'code-generated';

/** Found in a row. The message is one sentence, and never holds the cell's text. */
export interface Problem {
  /** See RawRow. */
  readonly row: number;
  /** The column's name in the file; null: the whole row. */
  readonly column: string | null;
  readonly code: ProblemCode | NoteCode;
  readonly message: string;
}

/** A row that may be sent. */
export interface SendableRow {
  readonly row: number;
  readonly profile: Profile;
  readonly notes: readonly Problem[];
}

/** A row that is not sent. */
export interface InvalidRow {
  readonly row: number;
  /**
   * The cells as read, under field names, for the report: fit to be stored (what no database takes stands as U+FFFD), and cut after
   * 1,000 characters, which leaves a value that is too long too long.
   */
  readonly values: Readonly<Record<string, string>>;
  /** At least one. */
  readonly problems: readonly Problem[];
}

export type CheckedRow = SendableRow | InvalidRow;

export function isSendable(row: CheckedRow): row is SendableRow {
  return 'profile' in row;
}
