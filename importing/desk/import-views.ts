/**
 * Imports as the API shows them: the schemas, and the functions that fill them. They contain personal data only from
 * the caller's own file.
 */
import { z } from '@hono/zod-openapi';
import type { StoredReportRow } from '../import-report.js';
import type { ImportProgress } from '../read-import.js';
import { rowOutcomes } from '../../base/row-outcomes.js';
import { codeProperty } from '../files/field-words.js';
import type { StoredColumns } from './start-import.js';

/** The target of an import. */
export const importTargetSchema = z
  .object({
    workspace: z.string(),
    pigeonholeId: z.int(),
    name: z.string().nullable().describe('Null: the service does not report it (also in the fields below).'),
    startDate: z.string().nullable().describe('YYYY-MM-DD.'),
    endDate: z.string().nullable().describe('YYYY-MM-DD.'),
    status: z.string().nullable(),
    timezone: z.string().nullable(),
    asOf: z
      .string()
      .nullable()
      .describe('If the service cannot be reached now: when it last reported this. Null: it reported this just now.'),
  })
  .openapi('ImportTarget');
export type ImportTarget = z.infer<typeof importTargetSchema>;

/** The guess of a text's encoding. Its readings are cells of the caller's own file. */
const encodingGuessSchema = z.object({
  encoding: z.string(),
  isSure: z.boolean().describe('False: an import starts only if its request names the encoding.'),
  proofs: z
    .array(
      z.object({
        line: z.int().describe('Line of the file, from 1.'),
        readings: z
          .array(z.object({ encoding: z.string(), text: z.string() }))
          .readonly()
          .describe('The cell as the likely encodings read it, the guess first.'),
      }),
    )
    .readonly()
    .describe('Up to 3 cells that differ between the likely encodings.'),
});

/** The format in which a file was read. */
const importedFileSchema = z.object({
  name: z.string(),
  format: z.string(),
  encoding: z.string().nullable(),
  encodingGuess: encodingGuessSchema.nullable().describe('Null: the encoding is certain, or the request names it.'),
  delimiter: z.string().nullable(),
  sheet: z.string().nullable(),
  remarks: z.array(z.string()).readonly().describe('Sentences about how the file was read.'),
  contentHash: z.string().describe("Keyed hash of the file's bytes. Identifies the file that was checked."),
});
export type ImportedFile = z.infer<typeof importedFileSchema>;

/** The mapping of one column. */
const importColumnSchema = z.object({
  column: z.string(),
  property: z.string().nullable().describe('The profile field; null: the column is not sent.'),
  guessed: z.boolean(),
  known: z
    .boolean()
    .nullable()
    .describe('Whether attendees of the pigeonhole have the field; null: nothing to compare with.'),
  sample: z.string().nullable().describe('The value of this column in the first row that can be sent; null: none.'),
});
export type ImportColumn = z.infer<typeof importColumnSchema>;

/** A column that holds the attendee codes, or may hold them. */
const codeCandidateSchema = z.object({
  column: z.string(),
  first: z.string().nullable().describe('The first value of the column; null: it is empty.'),
  filled: z.int().describe('Rows with a value, among the first 10,000 of them.'),
  different: z.int().describe('Number of different values among these.'),
  withDigit: z.int().describe('Number of these rows whose value contains a digit.'),
  isDoubtful: z
    .boolean()
    .describe('Each value belongs to many people, or the values are a few words, so they are no codes.'),
});

/** The column of the attendee codes, and how it is known. */
const codeColumnSchema = z.object({
  basis: z
    .enum(['mapped', 'named', 'guessed', 'several', 'none'])
    .describe(
      '`mapped`: the request names the column; `named`: its header names the field; `guessed`: its header often means the code and as often something else; `several`: this is true of several columns; `none`: codes are generated.',
    ),
  candidates: z.array(codeCandidateSchema).readonly(),
  doubt: z
    .string()
    .nullable()
    .describe('Why nothing can be imported until `map` names the column of the codes; null: the column is certain.'),
});

/** A problem of a cell or a row, without the cell's text. */
const importProblemSchema = z.object({
  row: z.int().describe('Row in the file; 1 is the header.'),
  column: z.string().nullable().describe('Null: the whole row.'),
  code: z.string(),
  message: z.string(),
});
export type ImportProblem = z.infer<typeof importProblemSchema>;

/** The number of rows with the same problem. */
const problemCountSchema = z.object({
  code: z.string(),
  column: z.string().nullable().describe('Null: the whole row.'),
  rows: z.int(),
  firstRows: z.array(z.int()).readonly().describe('The first 3 rows, in the order of the file.'),
});
export type ProblemCount = z.infer<typeof problemCountSchema>;

/** Rows with the same problem and sentence. */
const problemGroupSchema = problemCountSchema.extend({
  message: z.string(),
  worksWithoutColumn: z.boolean().describe('The whole column is probably wrong, and the rows can be sent without it.'),
});
export type ProblemGroup = z.infer<typeof problemGroupSchema>;

/** Rows by what an import would do with them. The counts add up to the number of rows in the file. */
const plannedCountsSchema = z.object({
  send: z.int().describe('To be sent.'),
  existing: z.int().describe('An earlier import has created them with the same data.'),
  conflict: z
    .int()
    .describe('An earlier import has created their code with different data, which only the dashboard can change.'),
  rejected: z.int().describe('The service has refused the same data before.'),
  elsewhere: z.int().describe('Another import that has not ended holds their code.'),
  invalid: z.int().describe('Not sent, because they have problems.'),
});
export type PlannedCounts = z.infer<typeof plannedCountsSchema>;

/** The requests and time that sending takes. */
const sendingEstimateSchema = z.object({
  requests: z.int(),
  rowsPerRequest: z.int().describe('Maximum number of rows in a request.'),
  left: z.int().nullable().describe('Requests left in the window; null: not known.'),
  limit: z.int().nullable().describe('Requests per quota window; null: not known.'),
  resetAt: z.string().nullable().describe('When the next quota window starts; null: not known.'),
  waits: z.int().nullable().describe('Number of waits for a new quota window; null: not known.'),
  doneAt: z
    .string()
    .nullable()
    .describe("Estimated end, at one request per second; null: not known, because a window's length is not."),
});
export type SendingEstimate = z.infer<typeof sendingEstimateSchema>;

/** The result of a check; nothing was written or sent. */
export const importCheckSchema = z
  .object({
    target: importTargetSchema,
    file: importedFileSchema,
    columns: z.array(importColumnSchema).readonly(),
    codeColumn: codeColumnSchema,
    names: z
      .object({
        missing: z.boolean().describe('No column fills the field for the name, so nobody would have one.'),
        parts: z.array(z.string()).readonly().describe('Columns that `map` can join to a name; empty: none.'),
      })
      .describe('Whether the import gives people a name.'),
    rows: z.int(),
    counts: plannedCountsSchema,
    canary: z.int().nullable().describe('Number of `counts.send` that would be sent now; null: all.'),
    generatedCodes: z.int().describe('Rows without a code that would receive one.'),
    problems: z.array(importProblemSchema).readonly(),
    problemsLeftOut: z.int().describe('Number of further problems that `problems` does not contain.'),
    problemGroups: z
      .array(problemGroupSchema)
      .readonly()
      .describe('The first 100 groups of `problems` with the same sentence, in the order of the file.'),
    problemCounts: z.array(problemCountSchema).readonly().describe('Counts of all problems, most frequent first.'),
    noteCounts: z
      .array(problemCountSchema)
      .readonly()
      .describe('Counts of changes to values that are sent, such as removed white space.'),
    estimate: sendingEstimateSchema,
  })
  .openapi('ImportCheck');
export type ImportCheck = z.infer<typeof importCheckSchema>;

const importCountsSchema = z.record(z.enum(rowOutcomes), z.int()).readonly();
export type ImportCounts = z.infer<typeof importCountsSchema>;

const importStateSchema = z.enum(['staging', 'running', 'waiting', 'paused', 'done', 'cancelled']);

export const importViewSchema = z
  .object({
    id: z.string(),
    workspace: z.string(),
    pigeonholeId: z.int(),
    file: z.string(),
    state: importStateSchema,
    reason: z
      .string()
      .nullable()
      .describe(
        'The reason for `waiting` and `paused`, and for `cancelled` if the file of a drop folder cannot be used; null otherwise.',
      ),
    until: z.string().nullable().describe('When a `waiting` import continues.'),
    pausedBy: z.enum(['person', 'cause']).nullable().describe('Whether an operator or pigeonpost paused the import.'),
    requestedBy: z.string().nullable(),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
    rows: z.int(),
    counts: importCountsSchema,
    canary: z.int().nullable().describe('Number of requested rows; null: all.'),
    requests: z.int().describe('Requests made so far.'),
  })
  .openapi('Import');
export type ImportView = z.infer<typeof importViewSchema>;

/** A row of the report. */
const importReportRowSchema = z
  .object({
    row: z.int(),
    outcome: z.enum(rowOutcomes),
    code: z.string().nullable().describe('The problem of an `invalid` row; otherwise the outcome.'),
    column: z.string().nullable().describe('The column in the file, otherwise the profile field.'),
    optionalColumn: z.boolean().describe('Whether rows can be sent without this column.'),
    message: z.string().nullable(),
    requestId: z.string().nullable(),
  })
  .openapi('ImportReportRow');
export type ImportReportRow = z.infer<typeof importReportRowSchema>;

/** A named mapping of columns to fields, for the next event. */
export const savedMappingSchema = z
  .object({
    workspace: z
      .string()
      .nullable()
      .describe('The workspace that can use it; null: all, because it was saved before mappings had a workspace.'),
    name: z.string(),
    columns: z.record(z.string(), z.string().nullable()).readonly().describe('Null: the column is not sent.'),
    savedAt: z.string(),
  })
  .openapi('SavedMapping');
export type SavedMapping = z.infer<typeof savedMappingSchema>;

/** Returns an import for the API. Pure. */
export function viewImport(progress: ImportProgress): ImportView {
  const { number, workspace, pigeonholeId, file, state, pauses, requestedBy, waitUntil, startedAt, endedAt } = progress;
  const person = pauses.find(({ pausedBy }) => pausedBy === 'person');
  return {
    id: String(number),
    workspace,
    pigeonholeId,
    file,
    state: state === 'cancelling' ? 'running' : state,
    reason: reasonOf(progress),
    until: state === 'waiting' ? (waitUntil?.toISOString() ?? null) : null,
    pausedBy: pauses.length === 0 ? null : person === undefined ? 'cause' : 'person',
    requestedBy,
    startedAt: (startedAt ?? progress.createdAt).toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    rows: progress.rows,
    counts: progress.counts,
    canary: progress.canary,
    requests: progress.requests,
  };
}

const waits: Readonly<Record<NonNullable<ImportProgress['waitReason']>, string>> = {
  quota: 'quota used up',
  throttled: 'the service limits the request rate',
  credential: 'the service refuses the API key',
  failing: 'the service does not answer',
  otherImport: 'another import holds the remaining codes',
};

function reasonOf({ state, pauses, waitReason, failure, unusable }: ImportProgress): string | null {
  if (unusable !== null) return unusable;
  if (state === 'cancelling') return 'being cancelled: requests in progress are settled first';
  if (state === 'paused') {
    return pauses
      .map(({ scope, pausedBy, detail, actor }) =>
        pausedBy === 'person'
          ? `by ${actor ?? 'an operator'}${scope === 'workspace' ? ' (the workspace)' : ''}${detail === '' ? '' : `: ${detail}`}`
          : detail,
      )
      .join('; ');
  }
  if (state !== 'waiting' || waitReason === null) return null;
  return waitReason === 'failing' && failure !== null ? failure : waits[waitReason];
}

const words: Readonly<Partial<Record<StoredReportRow['outcome'], string>>> = {
  conflict: 'the code exists with different data; change it in the dashboard of the service',
  unknown: 'no answer tells whether it exists; look it up in the dashboard of the service',
  rejected: 'the service refused it without a reason',
};

/** A problem as stored with a staged row. */
const storedProblemSchema = importProblemSchema.omit({ row: true });

/** Returns a row of the report, with one line per problem. Pure. */
export function viewReportRow(
  { row, outcome, field, message, requestId, problems }: StoredReportRow,
  { columns }: StoredColumns,
): ImportReportRow[] {
  if (outcome === 'invalid' && problems.length > 0) {
    return problems.map((stored) => {
      const problem = storedProblemSchema.parse(stored);
      return { ...problem, row, outcome, optionalColumn: isOptional(problem.column, columns), requestId: null };
    });
  }
  const property = field ?? (outcome === 'conflict' || outcome === 'invalid' ? codeProperty : null);
  // without a field, the row as a whole; a column that is not sent has no field either
  const column = property === null ? null : (columns.find((each) => each.property === property)?.column ?? property);
  const code = outcome === 'invalid' ? 'duplicate-code' : outcome;
  const optionalColumn = isOptional(column, columns);
  return [{ row, outcome, code, column, optionalColumn, message: message ?? words[outcome] ?? null, requestId }];
}

function isOptional(column: string | null, columns: StoredColumns['columns']): boolean {
  const found = columns.find((each) => each.column === column);
  return found !== undefined && found.property !== codeProperty;
}

/** Returns the columns stored with an import. */
export function storedColumns(mapping: unknown): StoredColumns {
  const columns = typeof mapping === 'object' && mapping !== null && 'columns' in mapping ? mapping.columns : [];
  return { columns: Array.isArray(columns) ? (columns as StoredColumns['columns']) : [] };
}
