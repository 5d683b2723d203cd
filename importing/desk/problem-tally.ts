import type { ImportProblem, ProblemCount, ProblemGroup } from './import-views.js';

/** Maximum number of problems that are kept. A person with more problems corrects the first ones first. */
const maxKept = 100_000;

const maxFirstRows = 3;

/** Rows with the same key, in order of first appearance. */
class RowGroups<Key extends object> {
  readonly #groups = new Map<string, { readonly key: Key; readonly firstRows: number[]; rows: number }>();

  add(key: Key, row: number): void {
    const text = JSON.stringify(key);
    const group = this.#groups.get(text) ?? { key, firstRows: [], rows: 0 };
    this.#groups.set(text, group);
    group.rows += 1;
    if (group.firstRows.length < maxFirstRows) group.firstRows.push(row);
  }

  addCount(key: Key, { rows, firstRows }: Pick<ProblemCount, 'rows' | 'firstRows'>): void {
    this.#groups.set(JSON.stringify(key), { key, rows, firstRows: [...firstRows] });
  }

  get all(): (Key & Pick<ProblemCount, 'rows' | 'firstRows'>)[] {
    return [...this.#groups.values()].map(({ key, firstRows, rows }) => ({ ...key, rows, firstRows }));
  }
}

/** Collects the problems of a file up to a maximum and counts all by kind and column. */
export class ProblemTally {
  readonly kept: ImportProblem[] = [];
  readonly #groups = new RowGroups<Pick<ImportProblem, 'code' | 'column'>>();
  /** Number of added problems that are not kept. */
  leftOut = 0;

  add({ row, column, code, message }: ImportProblem): void {
    if (this.kept.length < maxKept) this.kept.push({ row, column, code, message });
    else this.leftOut += 1;
    this.#groups.add({ code, column }, row);
  }

  /** Adds a problem of the whole file, before those of its rows. */
  addFirst({ row, column, code, message }: ImportProblem): void {
    this.kept.unshift({ row, column, code, message });
    this.#groups.add({ code, column }, row);
  }

  /** Adds a count whose rows were not added one by one. */
  addCount({ code, column, ...count }: ProblemCount): void {
    this.#groups.addCount({ code, column }, count);
  }

  /** Counts, most frequent first. */
  get counts(): ProblemCount[] {
    return this.#groups.all.toSorted((a, b) => b.rows - a.rows);
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
  readonly #groups = new RowGroups<Grouped>();

  /** @param optionalColumn whether rows can be sent without the column */
  add({ row, column, code, message }: ImportProblem, optionalColumn: boolean): void {
    this.#groups.add({ column, code, message, optionalColumn }, row);
  }

  /** The groups in order of first appearance. */
  get all(): ProblemGroup[] {
    return this.#groups.all.map(({ optionalColumn, ...group }) => ({
      ...group,
      worksWithoutColumn: optionalColumn && group.rows >= minRowsForHint && codesOfColumns.has(group.code),
    }));
  }
}
