/** What became of a row of a file. */
export type RowOutcome =
  | 'created'
  | 'confirmed' // created, which a complaint about a duplicate confirmed when the answer had been lost
  | 'existing' // there already, with the same data
  | 'conflict' // there already, with other data: to be changed in the dashboard
  | 'rejected' // refused by the service
  | 'unknown' // sent, and no answer has settled it yet
  | 'waiting' // not sent yet
  | 'invalid' // never sent: the file is to be corrected
  | 'cancelled'; // not sent, since the import was cancelled

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
