import type { ImportProblem, ImportReportRow, ImportView, ProblemGroup } from '../../importing/desk/import-views.js';
import { ProblemGroups } from '../../importing/desk/problem-tally.js';
import type { Output } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { printLine } from '../print-line.js';
import type { Followed } from './follow-import.js';
import { standingInWords } from './format-progress.js';
import { formatReport, needsPerson } from './format-report.js';
import type { ImportClient } from './import-client.js';
import { writeWholeFile } from './import-files.js';

export interface EndOptions {
  /** A file for the report of each row; undefined: none. */
  readonly report?: string | undefined;
  readonly json: boolean;
}

/** Tells how an import has ended, or how to come back to it. @returns what the command ends with */
export async function tellEnd(
  out: Output,
  client: Pick<ImportClient, 'problems' | 'reportCsv'>,
  { kind, view }: Followed,
  { report, json }: EndOptions,
): Promise<ExitCode> {
  if (kind === 'stopped') {
    if (out.terminal && !json) out.line(''); // below what Ctrl-C has left in the line of the bar
    out.note(`import ${view.id} goes on; come back to it with: pigeonpost import follow ${view.id}`);
    return ExitCode.Failed;
  }
  // A file that cannot be written takes nothing away from what is told.
  const failure = report === undefined ? null : await written(report, client, view.id);
  if (json) out.line(JSON.stringify(endDocument(view, await allProblems(client.problems(view.id)))));
  else if (kind === 'ended') {
    const problems = await groupedProblems(client.problems(view.id));
    for (const line of formatReport(view, problems, failure === null ? (report ?? null) : null)) printLine(out, line);
  }
  if (failure !== null) throw failure.error;
  if (kind === 'paused') {
    out.note(`import ${view.id} is ${standingInWords(view, { now: new Date() })}`);
    out.note(`go on with: pigeonpost import resume ${view.id}, then: pigeonpost import follow ${view.id}`);
    return ExitCode.Failed;
  }
  return exitCodeOf(view);
}

async function written(
  report: string,
  client: Pick<ImportClient, 'reportCsv'>,
  id: string,
): Promise<{ readonly error: unknown } | null> {
  try {
    await writeWholeFile(report, await client.reportCsv(id));
    return null;
  } catch (error) {
    return { error };
  }
}

/** 0 when every row is at the service, 5 when some are not, 1 when it was cancelled. Pure. */
export function exitCodeOf({ state, counts }: Pick<ImportView, 'state' | 'counts'>): ExitCode {
  if (state === 'cancelled') return ExitCode.Failed;
  return needsPerson(counts) > 0 ? ExitCode.DoneWithRejects : ExitCode.Done;
}

/** What `--json` prints last. Its `counts` and `problems` are fixed: other programs rely on them. Pure. */
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

/** Without the ids of requests, which differ where the sentences are the same; the report's file has them. */
async function groupedProblems(rows: AsyncIterable<ImportReportRow>): Promise<ProblemGroup[]> {
  const groups = new ProblemGroups();
  for await (const row of rows) groups.add(problemOf(row), row.optionalColumn);
  return groups.all;
}

function problemOf({ row, column, code, message, outcome }: ImportReportRow): ImportProblem {
  return { row, column, code: code ?? outcome, message: message ?? outcome };
}
