/** What the API tells of imports of registrants. Of people only what belongs to whoever imports the file. */

/** Where a file is imported to. */
export interface ImportTarget {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Null, as the others below: the service does not say. */
  readonly name: string | null;
  /** YYYY-MM-DD. */
  readonly startDate: string | null;
  /** YYYY-MM-DD. */
  readonly endDate: string | null;
  readonly status: string | null;
  readonly timezone: string | null;
  /** When the service said so, where it could not be asked just now; null: it was. */
  readonly asOf: string | null;
}

/** How a file was read. */
export interface ImportedFile {
  readonly name: string;
  readonly format: string;
  readonly encoding: string | null;
  readonly delimiter: string | null;
  readonly sheet: string | null;
  /** Of the bytes, under the ledger's key: says that a file is the one that was looked at. */
  readonly contentHash: string;
}

/** What becomes of a column. */
export interface ImportColumn {
  readonly column: string;
  /** The profile field; null: it is not sent. */
  readonly property: string | null;
  readonly guessed: boolean;
  /** Whether the field was seen on attendees or in earlier imports; null: there is nothing to compare with. */
  readonly known: boolean | null;
  /** The first row that can be sent, under this column; null: there is none. */
  readonly sample: string | null;
}

/** Something about a cell or a row, without its text. */
export interface ImportProblem {
  /** 1 is the header. */
  readonly row: number;
  /** Null: the whole row. */
  readonly column: string | null;
  readonly code: string;
  readonly message: string;
}

/** How many rows of a file have one and the same problem. */
export interface ProblemCount {
  readonly code: string;
  readonly column: string | null;
  readonly rows: number;
}

/** What an import would do, by rows. Their sum is the file. */
export interface PlannedCounts {
  /** To be sent. */
  readonly send: number;
  /** An earlier import has created them, with the same data. */
  readonly existing: number;
  /** An earlier import has created their code with other data, which cannot be changed from here. */
  readonly conflict: number;
  /** The service has refused the very same data before. */
  readonly rejected: number;
  /** Another import, which has not ended, has their code. */
  readonly elsewhere: number;
  /** Not sent, because of what is wrong with them. */
  readonly invalid: number;
}

/** What sending takes of the quota, as it stands. */
export interface SendingEstimate {
  readonly requests: number;
  /** Rows in a request, at most. */
  readonly rowsPerRequest: number;
  /** Requests that are left now; null: not known. */
  readonly left: number | null;
  /** Requests of a quota window; null: not known. */
  readonly limit: number | null;
  /** When a window begins in which there are requests again; null: not known. */
  readonly resetAt: string | null;
  /** How often the quota will be waited for; null: not known. */
  readonly waits: number | null;
  /** When it is done, at the pace of a request a second; null: not known, since a window's length is not. */
  readonly doneAt: string | null;
}

/** What an import would do with a file; nothing was written and nothing sent. */
export interface ImportCheck {
  readonly target: ImportTarget;
  readonly file: ImportedFile;
  readonly columns: readonly ImportColumn[];
  readonly rows: number;
  readonly counts: PlannedCounts;
  /** Only so many of `counts.send` would be sent now; null: all. */
  readonly canary: number | null;
  /** Rows without a code that would be given one. */
  readonly generatedCodes: number;
  readonly problems: readonly ImportProblem[];
  /** So many more than `problems` holds. */
  readonly problemsLeftOut: number;
  /** Of all problems, most frequent first. */
  readonly problemCounts: readonly ProblemCount[];
  /** Of what is sent and worth knowing, such as white space that was cut off. */
  readonly noteCounts: readonly ProblemCount[];
  readonly estimate: SendingEstimate;
}

/**
 * What became of a row.
 * - `created`; `confirmed`: created, as a duplicate complaint has shown after a lost answer
 * - `existing`: it was there already; `conflict`: its code was there, with other data
 * - `rejected` by the service; `invalid`: never sent, because of what is wrong with it
 * - `unknown`: whether it is there could not be found out
 * - `waiting` for its turn; `cancelled` before it
 */
export const importOutcomes = [
  'created',
  'confirmed',
  'existing',
  'conflict',
  'rejected',
  'invalid',
  'unknown',
  'waiting',
  'cancelled',
] as const;
export type ImportOutcome = (typeof importOutcomes)[number];

export type ImportCounts = Readonly<Record<ImportOutcome, number>>;

export type ImportState = 'staging' | 'running' | 'waiting' | 'paused' | 'done' | 'cancelled';

export interface ImportView {
  readonly id: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly file: string;
  readonly state: ImportState;
  /** Of `waiting` and `paused`: why, as a sentence for a person; null otherwise. */
  readonly reason: string | null;
  /** Of `waiting`: when it goes on. */
  readonly until: string | null;
  /** Of `paused`: a person has, or a cause. */
  readonly pausedBy: 'person' | 'cause' | null;
  readonly requestedBy: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly rows: number;
  readonly counts: ImportCounts;
  /** Of `--canary`: so many rows were asked for; null: all. */
  readonly canary: number | null;
  /** Made so far. */
  readonly requests: number;
}

/** A row of the report. */
export interface ImportReportRow {
  readonly row: number;
  readonly outcome: ImportOutcome;
  /** Of `invalid`: what is wrong; of others a word for the outcome. */
  readonly code: string | null;
  /** The column in the file, or else the profile field. */
  readonly column: string | null;
  readonly message: string | null;
  readonly requestId: string | null;
}

/** Columns and their fields, kept under a name for the next event. */
export interface SavedMapping {
  readonly name: string;
  /** Null: the column is not sent. */
  readonly columns: Readonly<Record<string, string | null>>;
  readonly savedAt: string;
}
