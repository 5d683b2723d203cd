import type { ImportProblem, ProblemCount, ProblemGroup } from './import-views.js';

/** Maximum number of problems that are kept. A person with more problems corrects the first ones first. */
const maxKept = 100_000;

const maxFirstRows = 3;

/** Collects the problems of a file up to a maximum and counts all by kind and column. */
export class ProblemTally {
  readonly kept: ImportProblem[] = [];
  readonly #counts = new Map<string, { code: string; column: string | null; rows: number; firstRows: number[] }>();
  #leftOut = 0;

  add({ row, column, code, message }: ImportProblem): void {
    if (this.kept.length < maxKept) this.kept.push({ row, column, code, message });
    else this.#leftOut += 1;
    const key = JSON.stringify([code, column]);
    const count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, { code, column, rows: 1, firstRows: [row] });
    else {
      count.rows += 1;
      if (count.firstRows.length < maxFirstRows) count.firstRows.push(row);
    }
  }

  /** Number of added problems that are not kept. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Counts, most frequent first. */
  get counts(): ProblemCount[] {
    return [...this.#counts.values()].toSorted((a, b) => b.rows - a.rows);
  }
}

/** If at least this number of rows has the same problem, the column is probably wrong and not each single cell. */
const minRowsForHint = 10;
/** Problems that disappear if the column is not sent. Other codes concern the row, its code or its name. */
const codesOfColumns: ReadonlySet<string> = new Set([
  'rejected',
  'control-character',
  'too-long',
  'no-email-address',
  'error-cell',
  'digits-lost',
  'nested-value',
]);

type Grouped = Pick<ProblemGroup, 'column' | 'code' | 'message'> & { readonly optionalColumn: boolean };

/** Groups problems by column and sentence. Memory grows only with the number of different sentences. */
export class ProblemGroups {
  readonly #groups = new Map<string, { readonly group: Grouped; readonly firstRows: number[]; rows: number }>();

  /** @param optionalColumn whether rows can be sent without the column */
  add({ row, column, code, message }: ImportProblem, optionalColumn: boolean): void {
    const key = JSON.stringify([column, code, message]);
    const known = this.#groups.get(key) ?? { group: { column, code, message, optionalColumn }, firstRows: [], rows: 0 };
    this.#groups.set(key, known);
    known.rows += 1;
    if (known.firstRows.length < maxFirstRows) known.firstRows.push(row);
  }

  /** The groups in order of first appearance. */
  get all(): ProblemGroup[] {
    return [...this.#groups.values()].map(({ group: { optionalColumn, ...group }, firstRows, rows }) => ({
      ...group,
      rows,
      firstRows,
      worksWithoutColumn: optionalColumn && rows >= minRowsForHint && codesOfColumns.has(group.code),
    }));
  }
}
