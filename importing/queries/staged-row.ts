/** A row that may be sent: texts under the names of fields. */
export interface SendableRow {
  /** Of the file; 1 is its header. */
  readonly row: number;
  readonly profile: { readonly attendeeCode: string; readonly [field: string]: string };
}

/** A row with which something is wrong: kept for the report, never sent. */
export interface InvalidRow {
  readonly row: number;
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly object[];
}

/** What the ledger keeps of a file's row. */
export type StagedRow = SendableRow | InvalidRow;
