import { z } from '@hono/zod-openapi';

/** What the API tells of imports of registrants. Of people only what belongs to whoever imports the file. */

/** Where a file is imported to. */
export const importTargetSchema = z
  .object({
    workspace: z.string(),
    pigeonholeId: z.int(),
    name: z.string().nullable().describe('Null, as the others below: the service does not say.'),
    startDate: z.string().nullable().describe('YYYY-MM-DD.'),
    endDate: z.string().nullable().describe('YYYY-MM-DD.'),
    status: z.string().nullable(),
    timezone: z.string().nullable(),
    asOf: z
      .string()
      .nullable()
      .describe('When the service said so, where it could not be asked just now; null: it was.'),
  })
  .openapi('ImportTarget');
export type ImportTarget = z.infer<typeof importTargetSchema>;

/** How a file was read. */
const importedFileSchema = z.object({
  name: z.string(),
  format: z.string(),
  encoding: z.string().nullable(),
  delimiter: z.string().nullable(),
  sheet: z.string().nullable(),
  contentHash: z
    .string()
    .describe("Of the bytes, under the ledger's key: says that a file is the one that was looked at."),
});
export type ImportedFile = z.infer<typeof importedFileSchema>;

/** What becomes of a column. */
const importColumnSchema = z.object({
  column: z.string(),
  property: z.string().nullable().describe('The profile field; null: it is not sent.'),
  guessed: z.boolean(),
  known: z
    .boolean()
    .nullable()
    .describe('Whether the field was seen on attendees or in earlier imports; null: there is nothing to compare with.'),
  sample: z.string().nullable().describe('The first row that can be sent, under this column; null: there is none.'),
});
export type ImportColumn = z.infer<typeof importColumnSchema>;

/** Something about a cell or a row, without its text. */
const importProblemSchema = z.object({
  row: z.int().describe('1 is the header.'),
  column: z.string().nullable().describe('Null: the whole row.'),
  code: z.string(),
  message: z.string(),
});
export type ImportProblem = z.infer<typeof importProblemSchema>;

/** The rows of which the same is said. */
const problemGroupSchema = z.object({
  column: z.string().nullable().describe('Null: the whole row.'),
  code: z.string(),
  message: z.string(),
  rows: z.int(),
  firstRows: z.array(z.int()).readonly().describe('The first 3 of them, in the order of the file.'),
  worksWithoutColumn: z.boolean().describe('The whole column is probably wrong, and the rows can be sent without it.'),
});
export type ProblemGroup = z.infer<typeof problemGroupSchema>;

/** How many rows of a file have one and the same problem. */
const problemCountSchema = z.object({ code: z.string(), column: z.string().nullable(), rows: z.int() });
export type ProblemCount = z.infer<typeof problemCountSchema>;

/** What an import would do, by rows. Their sum is the file. */
const plannedCountsSchema = z.object({
  send: z.int().describe('To be sent.'),
  existing: z.int().describe('An earlier import has created them, with the same data.'),
  conflict: z
    .int()
    .describe('An earlier import has created their code with other data, which cannot be changed from here.'),
  rejected: z.int().describe('The service has refused the very same data before.'),
  elsewhere: z.int().describe('Another import, which has not ended, has their code.'),
  invalid: z.int().describe('Not sent, because of what is wrong with them.'),
});
export type PlannedCounts = z.infer<typeof plannedCountsSchema>;

/** What sending takes of the quota, as it stands. */
const sendingEstimateSchema = z.object({
  requests: z.int(),
  rowsPerRequest: z.int().describe('At most.'),
  left: z.int().nullable().describe('Requests that are left now; null: not known.'),
  limit: z.int().nullable().describe('Requests of a quota window; null: not known.'),
  resetAt: z.string().nullable().describe('When a window begins in which there are requests again; null: not known.'),
  waits: z.int().nullable().describe('How often the quota will be waited for; null: not known.'),
  doneAt: z
    .string()
    .nullable()
    .describe("When it is done, at the pace of a request a second; null: not known, since a window's length is not."),
});
export type SendingEstimate = z.infer<typeof sendingEstimateSchema>;

/** What an import would do with a file; nothing was written and nothing sent. */
export const importCheckSchema = z
  .object({
    target: importTargetSchema,
    file: importedFileSchema,
    columns: z.array(importColumnSchema).readonly(),
    rows: z.int(),
    counts: plannedCountsSchema,
    canary: z.int().nullable().describe('Only so many of `counts.send` would be sent now; null: all.'),
    generatedCodes: z.int().describe('Rows without a code that would be given one.'),
    problems: z.array(importProblemSchema).readonly(),
    problemsLeftOut: z.int().describe('So many more than `problems` holds.'),
    problemGroups: z
      .array(problemGroupSchema)
      .readonly()
      .describe('The first 100 groups of `problems` with the same sentence, in the order of the file.'),
    problemCounts: z.array(problemCountSchema).readonly().describe('Of all problems, most frequent first.'),
    noteCounts: z
      .array(problemCountSchema)
      .readonly()
      .describe('Of what is sent and worth knowing, such as white space that was cut off.'),
    estimate: sendingEstimateSchema,
  })
  .openapi('ImportCheck');
export type ImportCheck = z.infer<typeof importCheckSchema>;

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

const importCountsSchema = z.record(z.enum(importOutcomes), z.int()).readonly();
export type ImportCounts = z.infer<typeof importCountsSchema>;

const importStateSchema = z.enum(['staging', 'running', 'waiting', 'paused', 'done', 'cancelled']);
export type ImportState = z.infer<typeof importStateSchema>;

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
      .describe('Of `waiting` and `paused`: why, as a sentence for a person; null otherwise.'),
    until: z.string().nullable().describe('Of `waiting`: when it goes on.'),
    pausedBy: z.enum(['person', 'cause']).nullable().describe('Of `paused`: a person has, or a cause.'),
    requestedBy: z.string().nullable(),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
    rows: z.int(),
    counts: importCountsSchema,
    canary: z.int().nullable().describe('So many rows were asked for; null: all.'),
    requests: z.int().describe('Made so far.'),
  })
  .openapi('Import');
export type ImportView = z.infer<typeof importViewSchema>;

/** A row of the report. */
export const importReportRowSchema = z
  .object({
    row: z.int(),
    outcome: z.enum(importOutcomes),
    code: z.string().nullable().describe('Of `invalid`: what is wrong; of others a word for the outcome.'),
    column: z.string().nullable().describe('The column in the file, or else the profile field.'),
    optionalColumn: z.boolean().describe('Whether the rows could be sent without this column.'),
    message: z.string().nullable(),
    requestId: z.string().nullable(),
  })
  .openapi('ImportReportRow');
export type ImportReportRow = z.infer<typeof importReportRowSchema>;

/** Columns and their fields, kept under a name for the next event. */
export const savedMappingSchema = z
  .object({
    workspace: z
      .string()
      .nullable()
      .describe('Where it can be used; null: everywhere, since it was saved before mappings had a workspace.'),
    name: z.string(),
    columns: z.record(z.string(), z.string().nullable()).readonly().describe('Null: the column is not sent.'),
    savedAt: z.string(),
  })
  .openapi('SavedMapping');
export type SavedMapping = z.infer<typeof savedMappingSchema>;
