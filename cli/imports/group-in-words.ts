import type { ProblemGroup } from '../../importing/desk/import-views.js';
import { counted, grouped } from '../grouped.js';
import { shownInLine } from '../shown-text.js';

/** Returns one sentence for all rows of a group, without the text of a cell. Pure. */
export function groupInWords(group: ProblemGroup): string {
  const { column, message, rows, firstRows } = group;
  const first = firstRows.map(grouped).join(', ');
  const which =
    rows === 1 ? `row ${first}` : `${counted(rows, 'row')} (${first}${rows > firstRows.length ? ', …' : ''})`;
  return shownInLine(`${which}${column === null ? '' : `, ${column}`}: ${message}${hintOf(group)}`);
}

function hintOf({ column, message, worksWithoutColumn }: ProblemGroup): string {
  if (!worksWithoutColumn) return '';
  const end = /[.!?]$/.test(message) ? '' : '.';
  return `${end} To import without this column, add --map "${column}="`;
}
