/** What became of a row. */
export type RowOutcome =
  /** The service created it, and said so. */
  | 'created'
  /** It was sent without an answer, and is there: the service refused it as a duplicate when it was sent again. */
  | 'confirmed'
  /** It was there before. */
  | 'existing'
  /** Its code was there before, with other data: to be changed in the dashboard. */
  | 'conflict'
  /** The service refused it. */
  | 'rejected'
  /** It may or may not be there; the service gave no answer that tells. */
  | 'unknown'
  /** It is still to be sent, or an import that is running holds its code. */
  | 'waiting'
  /** Something was wrong with it in the file: it was never sent. */
  | 'invalid'
  /** The import ended before it was sent. */
  | 'cancelled';

export interface ReportRow {
  /** As a spreadsheet counts; 1 is the header. */
  readonly row: number;
  /** What was sent, or would have been, by field. */
  readonly profile: Readonly<Record<string, string>>;
  readonly outcome: RowOutcome;
  /** The field that is complained of, as the service or the file names it. */
  readonly field: string | null;
  /** The service's words, or the problems of the file. May quote the row: it is for the person whose file it is. */
  readonly message: string | null;
  readonly requestId: string | null;
}
