import type { ImportProblem, ProblemCount } from './import-views.js';

/** So many are kept word for word; a file with more is mended by its first thousands. */
const mostKept = 100_000;

/** Problems of a file, kept up to a number, and counted by kind and column. */
export class ProblemTally {
  readonly kept: ImportProblem[] = [];
  readonly #counts = new Map<string, { code: string; column: string | null; rows: number }>();
  #leftOut = 0;

  add({ row, column, code, message }: ImportProblem): void {
    if (this.kept.length < mostKept) this.kept.push({ row, column, code, message });
    else this.#leftOut += 1;
    const key = JSON.stringify([code, column]);
    const count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, { code, column, rows: 1 });
    else count.rows += 1;
  }

  /** So many were added that are not kept. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** The most frequent first. */
  get counts(): ProblemCount[] {
    return [...this.#counts.values()].toSorted((a, b) => b.rows - a.rows);
  }
}
