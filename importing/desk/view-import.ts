import type { ImportReportRow, ImportView } from './import-views.js';
import type { StoredReportRow } from '../import-report.js';
import type { ImportProgress } from '../read-import.js';
import { codeProperty } from '../files/field-words.js';
import type { StoredColumns } from './start-import.js';

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

function reasonOf({ state, pauses, waitReason, failure }: ImportProgress): string | null {
  if (state === 'cancelling') return 'being cancelled: requests in progress are settled first';
  if (state === 'paused') {
    return pauses
      .map(({ scope, pausedBy, detail, actor }) =>
        pausedBy === 'person'
          ? `by ${actor ?? 'a person'}${scope === 'workspace' ? ' (the workspace)' : ''}${detail === '' ? '' : `: ${detail}`}`
          : detail,
      )
      .join('; ');
  }
  if (state !== 'waiting' || waitReason === null) return null;
  return waitReason === 'failing' && failure !== null ? failure : waits[waitReason];
}

const words: Readonly<Partial<Record<StoredReportRow['outcome'], string>>> = {
  conflict: 'the code exists with other data; change it in the dashboard of the service',
  unknown: 'no answer tells whether it exists; look it up in the dashboard of the service',
  rejected: 'the service refused it without a reason',
};

/** Returns a row of the report, with one line per problem. Pure. */
export function viewReportRow(
  { row, outcome, field, message, requestId, problems }: StoredReportRow,
  { columns }: StoredColumns,
): ImportReportRow[] {
  if (outcome === 'invalid' && problems.length > 0) {
    return problems.flatMap((problem) =>
      isProblem(problem)
        ? [{ ...problem, row, outcome, optionalColumn: isOptional(problem.column, columns), requestId: null }]
        : [],
    );
  }
  const property = field ?? (outcome === 'conflict' || outcome === 'invalid' ? codeProperty : null);
  const column = columns.find((each) => each.property === property)?.column ?? property;
  const code = outcome === 'invalid' ? 'duplicate-code' : outcome;
  const optionalColumn = isOptional(column, columns);
  return [{ row, outcome, code, column, optionalColumn, message: message ?? words[outcome] ?? null, requestId }];
}

function isOptional(column: string | null, columns: StoredColumns['columns']): boolean {
  const found = columns.find((each) => each.column === column);
  return found !== undefined && found.property !== codeProperty;
}

/** Whether a stored value, possibly from an earlier version, is a problem. */
function isProblem(value: unknown): value is { column: string | null; code: string; message: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    'message' in value &&
    typeof value.message === 'string' &&
    'column' in value &&
    (value.column === null || typeof value.column === 'string')
  );
}

/** Returns the columns stored with an import. */
export function storedColumns(mapping: unknown): StoredColumns {
  const columns = typeof mapping === 'object' && mapping !== null && 'columns' in mapping ? mapping.columns : [];
  return { columns: Array.isArray(columns) ? (columns as StoredColumns['columns']) : [] };
}

/**
 * Outcomes that need a person: the service does not have the row as in the file, and nothing more happens
 * automatically.
 */
export const outcomesForAPerson = ['conflict', 'rejected', 'invalid', 'unknown'] as const;
