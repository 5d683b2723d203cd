import type { ImportCounts, ImportOutcome, ImportView, ProblemGroup } from '../../importing/desk/import-views.js';
import { counted, grouped } from '../grouped.js';
import { groupLines } from './format-check.js';

/** In the order in which a person wants to know, and what each means. */
const outcomes: readonly (readonly [ImportOutcome, string])[] = [
  ['created', 'created'],
  ['confirmed', 'created (confirmed by a duplicate complaint, since an answer was lost)'],
  ['existing', 'already there'],
  ['conflict', 'conflict: the code is there with other data, to be changed in the dashboard of the service'],
  ['rejected', 'rejected by the service'],
  ['invalid', 'not sent: to be corrected in the file'],
  ['unknown', 'unknown: whether they are there could not be found out'],
  ['cancelled', 'not sent: cancelled'],
  ['waiting', 'still to be sent'],
];

/**
 * Returns how an import has ended, by outcome, and what is wrong with the rows that need a person. Pure.
 * @param problems of all rows
 */
export function formatReport(view: ImportView, problems: readonly ProblemGroup[], reportFile: string | null): string[] {
  const { counts } = view;
  const width = Math.max(...outcomes.map(([outcome]) => grouped(counts[outcome]).length));
  return [
    `import ${view.id} into ${view.workspace}/${view.pigeonholeId}: ${stateInWords(view)}`,
    ...outcomes
      .filter(([outcome]) => outcome === 'created' || counts[outcome] > 0)
      .map(([outcome, words]) => `  ${grouped(counts[outcome]).padStart(width)} ${wordsFor(outcome, words, view)}`),
    ...groupLines(problems, 0),
    ...(reportFile === null ? whereToLook(view) : [`each row is in ${reportFile}`]),
  ];
}

/** What a canary leaves is not lost. */
function wordsFor(outcome: ImportOutcome, words: string, { canary, state }: ImportView): string {
  const isLeft = outcome === 'cancelled' && canary !== null && state === 'done';
  return isLeft ? 'left for the same command without --canary' : words;
}

/** Rows that are not at the service as the file has them, and do not get there by themselves. */
export function needsPerson({ conflict, rejected, invalid, unknown }: ImportCounts): number {
  return conflict + rejected + invalid + unknown;
}

function stateInWords({ state, rows, canary }: ImportView): string {
  const all = counted(rows, 'row');
  switch (state) {
    case 'done':
      return canary === null ? `done, ${all}` : `done with the first ${grouped(canary)} of ${all}`;
    case 'cancelled':
      return `cancelled, ${all}; what was created stays`;
    default:
      return `${state}, ${all}`;
  }
}

function whereToLook({ id, counts }: ImportView): string[] {
  return needsPerson(counts) === 0
    ? []
    : [`each row, ready to be corrected: pigeonpost import report ${id} > report.csv`];
}
