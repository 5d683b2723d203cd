import type { Happened } from './happened.js';
import { faultNames } from './judge.js';
import type { ChaosResult } from './run-chaos.js';
import type { Verdict } from './settle.js';

/** Labels of the report, in order. */
const words = {
  lost: 'lost',
  kept: 'not deleted',
  duplicated: 'duplicated',
  falselyDeleted: 'falsely deleted',
  outOfOrder: 'out of order',
  leaked: 'leaked',
} as const;

/** Formats a row for each list of a sink with findings, and the positions of the first few. */
export function formatTable(verdict: Verdict): string {
  const rows: string[][] = [['sink', 'list', 'changes', ...faultNames.map((name) => words[name])]];
  const places: string[] = [];
  for (const [sink, { lines, findings }] of verdict) {
    const count = (list?: string): string[] =>
      faultNames.map((name) =>
        String(findings.filter((each) => each.fault === name && (list === undefined || each.list === list)).length),
      );
    rows.push([sink, 'all', String(lines), ...count()]);
    for (const list of new Set(findings.map((each) => each.list))) rows.push(['', list, '', ...count(list)]);
    for (const { fault, list, where } of findings.slice(0, 8))
      places.push(`  ${sink}: ${words[fault]}: ${list} ${where}`);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return [...table, ...places].join('\n');
}

/** Formats the summary line: `seed 7: lost 0, not deleted 0, duplicated 0, falsely deleted 0, …`. */
export function formatResult(result: ChaosResult): string {
  const { seed, store, minutes, kills, faults, items, changes, happened, falls, wrong, folder } = result;
  const told = faultNames.map((name) => `${words[name]} ${result.counts[name]}`).join(', ');
  const facts = `${store}, ${minutes} min, ${kills} kills, ${faults} faults, ${formatHappened(happened)}, ${items} items, ${changes} changes, settled after ${Math.round(result.settledAfterMs / 1000)} s${falls > 0 ? `, ${falls} unexpected exits of processes` : ''}`;
  const also = wrong.length === 0 ? '' : `; ${wrong.join('; ')}`;
  return `seed ${seed}: ${told}${also} (${facts})${folder === undefined ? '' : `\nkept: ${folder}`}`;
}

function formatHappened(happened: Happened): string {
  const { pauses, clockJumps, shortAnswers, shortAgain, ignoredFilters } = happened;
  return `${pauses} pauses, ${clockJumps} clock jumps, ${shortAnswers} short answers (${shortAgain} lists short again), ${ignoredFilters} ignored filters`;
}

/** Lists the counts above zero, such as `lost 1, leaked 2`. */
function wrongCounts({ counts }: ChaosResult): string {
  const wrong = faultNames.filter((name) => counts[name] > 0);
  return wrong.map((name) => `${words[name]} ${counts[name]}`).join(', ');
}

/** Formats rows of the table in test/README.md. */
export function formatRows(results: readonly ChaosResult[]): string {
  const head = ['seed', 'store', 'kills', 'faults', 'items', 'changes', 'wrong', 'settled after'];
  const rows = results.map((each) => [
    each.seed,
    each.store,
    each.kills,
    each.faults,
    each.items,
    each.changes,
    wrongCounts(each) || 0,
    `${Math.round(each.settledAfterMs / 1000)} s`,
  ]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
