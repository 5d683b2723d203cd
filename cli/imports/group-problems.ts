import type { ImportProblem } from '../../api/import-views.js';
import { counted, grouped } from '../grouped.js';
import { shownInLine } from '../shown-text.js';

/** Rows of which the same is said. */
export interface ProblemGroup {
  readonly column: string | null;
  readonly code: string;
  readonly message: string;
  /** Whether the rows could be sent without this column. */
  readonly optionalColumn: boolean;
  readonly rows: number;
  /** In the order of the file. */
  readonly firstRows: readonly number[];
}

const maxFirstRows = 3;
/** From this number of rows on it is the column that is wrong, and hardly each of its cells. */
const minRowsForHint = 10;
/** What goes away when the column is not sent. Other codes are about the row, its code or its name. */
const codesOfColumns: ReadonlySet<string> = new Set([
  'rejected',
  'control-character',
  'too-long',
  'no-email-address',
  'error-cell',
  'digits-lost',
  'nested-value',
]);

type Grouped = Omit<ProblemGroup, 'rows' | 'firstRows'>;

/** Collects problems by column and sentence. Memory grows only with the number of different sentences. */
export class ProblemGroups {
  readonly #groups = new Map<string, { readonly group: Grouped; readonly firstRows: number[]; rows: number }>();

  add({ row, column, code, message }: ImportProblem, optionalColumn: boolean): void {
    const key = JSON.stringify([column, code, message]);
    const known = this.#groups.get(key) ?? { group: { column, code, message, optionalColumn }, firstRows: [], rows: 0 };
    this.#groups.set(key, known);
    known.rows += 1;
    if (known.firstRows.length < maxFirstRows) known.firstRows.push(row);
  }

  /** In the order in which they were first seen. */
  get all(): ProblemGroup[] {
    return [...this.#groups.values()].map(({ group, firstRows, rows }) => ({ ...group, firstRows, rows }));
  }
}

/** Returns one sentence for all rows of a group, without the text of a cell. Pure. */
export function groupInWords(group: ProblemGroup): string {
  const { column, message, rows, firstRows } = group;
  const first = firstRows.map(grouped).join(', ');
  const which =
    rows === 1 ? `row ${first}` : `${counted(rows, 'row')} (${first}${rows > firstRows.length ? ', …' : ''})`;
  return shownInLine(`${which}${column === null ? '' : `, ${column}`}: ${message}${hintOf(group)}`);
}

function hintOf({ column, code, rows, message, optionalColumn }: ProblemGroup): string {
  if (!optionalColumn || rows < minRowsForHint || !codesOfColumns.has(code)) return '';
  const end = /[.!?]$/.test(message) ? '' : '.';
  return `${end} To import without this column, add --map "${column}="`;
}
