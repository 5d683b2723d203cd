import type { Output } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { agrees, formatComparison } from './compare-counts.js';
import type { Comparison } from './compare-everything.js';

/** Prints the table and what it says. @returns Done when every row agrees and nothing else is amiss, else Failed */
export function reportComparison({ rows, problems }: Comparison, out: Pick<Output, 'line' | 'note'>): ExitCode {
  for (const line of formatComparison(rows)) out.line(line);
  const wrong = rows.filter((row) => !agrees(row));
  for (const { list, sink, source, delivered, withheld } of wrong) {
    out.note(
      `${list} at ${sink}: the source has ${source}, but ${delivered} delivered + ${withheld} withheld = ${delivered + withheld}`,
    );
  }
  for (const problem of problems) out.note(problem);
  if (wrong.length + problems.length > 0) return ExitCode.Failed;
  out.line(`source = delivered + withheld in all ${rows.length} rows`);
  return ExitCode.Done;
}
