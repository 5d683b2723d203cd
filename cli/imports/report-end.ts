import type {
  ImportCheck,
  ImportCounts,
  ImportProblem,
  ImportReportRow,
  ImportView,
  ProblemGroup,
} from '../../importing/desk/import-views.js';
import { type RowOutcome, rowOutcomes } from '../../base/row-outcomes.js';
import { ProblemGroups } from '../../importing/desk/problem-tally.js';
import { type Output, printLine } from '../output.js';
import { ExitCode } from '../exit-code.js';
import { type Followed, standingInWords } from './follow-import.js';
import type { ImportClient } from './import-client.js';
import { writeWholeFile } from '../files.js';
import { shownInLine } from '../text-line.js';
import { isLeftByCanary, rowsToCheck, counted } from '../../base/words.js';
import { countLines, groupLines } from './format-check.js';

interface EndOptions {
  /** File for the report of each row; undefined for none. */
  readonly report?: string | undefined;
  readonly json: boolean;
}

/**
 * Prints the result of an import. If the import has not ended, prints the commands that continue or follow it.
 * @returns the exit code of the command
 */
export async function tellEnd(
  out: Output,
  client: Pick<ImportClient, 'problems' | 'reportCsv'>,
  { kind, view }: Followed,
  { report, json }: EndOptions,
): Promise<ExitCode> {
  if (kind === 'stopped') {
    if (out.terminal && !json) out.line(''); // starts below the "^C" in the line of the bar
    out.note(`import ${view.id} continues; follow it again with: pigeonpost import follow ${view.id}`);
    return ExitCode.Failed;
  }
  // The result is printed even if the report cannot be written.
  const failure =
    report === undefined
      ? null
      : await writeReport(report, client, view.id).then(
          () => null,
          (error: unknown) => ({ error }),
        );
  if (json) out.line(JSON.stringify(endDocument(view, await allProblems(client.problems(view.id)))));
  else if (kind === 'ended') {
    const problems = await groupedProblems(client.problems(view.id));
    for (const line of formatReport(view, problems, failure === null ? (report ?? null) : null)) printLine(out, line);
  }
  if (failure !== null) throw failure.error;
  if (kind === 'paused') {
    out.note(`import ${view.id} is ${standingInWords(view, { now: new Date() })}`);
    out.note(`continue with: pigeonpost import resume ${view.id}, then: pigeonpost import follow ${view.id}`);
    return ExitCode.Failed;
  }
  return exitCodeOf(view);
}

const noRows = Object.fromEntries(rowOutcomes.map((outcome) => [outcome, 0])) as Record<RowOutcome, number>;

/** Returns true if an import of the checked file would send no row and wait for none of another import. Pure. */
export function sendsNothing({ counts }: Pick<ImportCheck, 'counts'>): boolean {
  return counts.send + counts.elsewhere === 0;
}

/**
 * Prints the result of a file of which no row would be sent, so that no import was started.
 * @returns the exit code of the command
 */
export function tellNothingToSend(
  out: Output,
  check: ImportCheck,
  { report, json, plan }: EndOptions & { readonly plan: readonly string[] },
): ExitCode {
  const { existing, conflict, rejected, invalid } = check.counts;
  const counts: ImportCounts = { ...noRows, existing, conflict, rejected, invalid };
  const reason = 'no row of this file would be sent, so no import was started';
  const { workspace, pigeonholeId } = check.target;
  if (json) {
    const document = { pigeonhole: `${workspace}/${pigeonholeId}`, state: 'done', reason, rows: check.rows, counts };
    out.line(JSON.stringify({ import: null, ...document, problems: check.problems }));
  } else {
    for (const line of plan) out.line(line);
    out.line(reason);
  }
  if (report !== undefined) out.note(`${report} was not written: --problems writes the problems of the file`);
  return rowsToCheck(counts) > 0 ? ExitCode.DoneWithRejects : ExitCode.Done;
}

async function writeReport(file: string, client: Pick<ImportClient, 'reportCsv'>, id: string): Promise<void> {
  await writeWholeFile(file, await client.reportCsv(id));
}

/** Returns 0 if no row needs correction, 5 if some do, 1 if the import was cancelled. Pure. */
export function exitCodeOf({ state, counts }: Pick<ImportView, 'state' | 'counts'>): ExitCode {
  if (state === 'cancelled') return ExitCode.Failed;
  return rowsToCheck(counts) > 0 ? ExitCode.DoneWithRejects : ExitCode.Done;
}

/** Returns the last document of `--json`. Other programs rely on its `counts` and `problems`. Pure. */
export function endDocument(view: ImportView, problems: readonly ImportProblem[]): object {
  const { id, workspace, pigeonholeId, state, reason, rows, counts } = view;
  return { import: id, pigeonhole: `${workspace}/${pigeonholeId}`, state, reason, rows, counts, problems };
}

async function allProblems(rows: AsyncIterable<ImportReportRow>): Promise<ImportProblem[]> {
  const problems: ImportProblem[] = [];
  for await (const row of rows) {
    const by = row.requestId === null ? '' : ` (request ${row.requestId})`;
    const problem = problemOf(row);
    problems.push({ ...problem, message: `${problem.message}${by}` });
  }
  return problems;
}

/** Removes request IDs, so that equal problems can be grouped; the report file has them. */
async function groupedProblems(rows: AsyncIterable<ImportReportRow>): Promise<ProblemGroup[]> {
  const groups = new ProblemGroups();
  for await (const row of rows) groups.add(problemOf(row), row.optionalColumn);
  return groups.all;
}

function problemOf({ row, column, code, message, outcome }: ImportReportRow): ImportProblem {
  return { row, column, code: code ?? outcome, message: message ?? outcome };
}

/** Outcomes in the order of the report, with their meaning. */
const outcomes: readonly (readonly [RowOutcome, string])[] = [
  ['created', 'created'],
  ['confirmed', 'created (the answer was lost; confirmed by a duplicate error)'],
  ['existing', 'already registered'],
  ['conflict', 'conflict: the code exists with different data; edit the registrant in the dashboard of the service'],
  ['rejected', 'rejected by the service'],
  ['invalid', 'not sent: correct these rows in the file'],
  ['unknown', 'unknown: pigeonpost could not find out whether they exist'],
  ['cancelled', 'not sent: cancelled'],
  ['waiting', 'not sent yet'],
];

/**
 * Returns the outcomes of an import, and the problems of the rows that need correction. Pure.
 * @param problems the problems of all rows, grouped
 */
export function formatReport(view: ImportView, problems: readonly ProblemGroup[], reportFile: string | null): string[] {
  const { counts } = view;
  const shown = outcomes.filter(([outcome]) => outcome === 'created' || counts[outcome] > 0);
  return [
    `import ${view.id} into ${view.workspace}/${view.pigeonholeId}: ${stateInWords(view)}`,
    ...countLines(shown.map(([outcome, words]) => [counts[outcome], wordsFor(outcome, words, view)])).map(
      (line) => `  ${line}`,
    ),
    ...groupLines(view.file, problems, 0),
    ...(reportFile === null ? whereToLook(view) : [`the result of each row is in ${reportFile}`]),
  ];
}

/** Describes the rows that a canary import leaves for later. */
function wordsFor(outcome: RowOutcome, words: string, view: ImportView): string {
  return isLeftByCanary(outcome, view) ? 'left for the same command without --canary' : words;
}

function stateInWords({ state, reason, rows, canary }: ImportView): string {
  const all = counted(rows, 'row');
  switch (state) {
    case 'done':
      return canary === null ? `done, ${all}` : `done (canary of ${counted(canary, 'row')}), ${all}`;
    case 'cancelled':
      return reason === null
        ? `cancelled, ${all}; registrants that were created stay`
        : `the file cannot be used: ${shownInLine(reason)}`;
    default:
      return `${state}, ${all}`;
  }
}

function whereToLook({ id, counts }: ImportView): string[] {
  return rowsToCheck(counts) === 0
    ? []
    : [`each row, ready to be corrected: pigeonpost import report ${id} > report.csv`];
}
